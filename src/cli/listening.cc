// Watches the input of several recorders. A session uses one connection, which keeps its lines in
// order. Unreadable input closes only its own connection. A connection that ends before its
// sessions have announced their end is a gap: some of their lines may be lost, and the writes in
// them. A connection that never sent a readable line does not belong to a recorder, and closing it
// loses nothing.

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "cli/console.h"
#include "cli/watching.h"

namespace assay::internal::cli {
namespace {

// Lines that arrive within this time are handled together; if no new lines come for this time, they
// are decided.
constexpr int kMillisecondsTogether = 10;
constexpr double kSecondsUntilDecided = 0.2;

}  // namespace

struct Watching::Recorders {
  std::map<uint64_t, RecorderLines> connected;
  SessionNames ended;  // sessions whose connection is over
};

Status Watching::listen(LineServer& server) {
  Recorders recorders;
  while (!Budget::interrupted() && !is_enough()) {
    poll(nullptr, 0, kMillisecondsTogether);
    std::vector<LineServer::Arrival> arrivals = server.wait(kMillisecondsTogether);
    for (LineServer::Arrival& arrival : arrivals)
      if (Status s = hear(server, recorders, std::move(arrival)); !s.ok()) return s;
    const std::chrono::duration<double> undecided = Steady::now() - decided_;
    if (undecided.count() > kSecondsUntilDecided)
      if (Status s = decide(); !s.ok()) return s;
    if (Status s = tell(false); !s.ok()) return s;
  }
  return decide();
}

Status Watching::hear(LineServer& server, Recorders& recorders, LineServer::Arrival arrival) {
  const uint64_t number = arrival.connection;
  RecorderLines& from = recorders.connected.try_emplace(number, number).first->second;
  from.give(std::move(arrival.lines));
  Status taken = take_lines(recorders, from);
  if (taken.ok() && !arrival.over) return taken;
  if (taken.ok()) taken = take_rest(from);
  server.close(number);
  const std::string why = taken.ok() ? arrival.why : taken.error().to_string();
  const bool whole = why.empty() && from.open_sessions().empty();
  if (!whole) note_loss(from, number, why);
  for (const HeldValue& session : from.open_sessions()) recorders.ended.insert(session);
  recorders.connected.erase(number);
  return Ok{};
}

Status Watching::take_lines(Recorders& recorders, RecorderLines& from) {
  if (Status s = from.give_up_before(watch_->overdue()); !s.ok()) return s;
  for (;;) {
    auto piece = from.next(options_.window);
    if (!piece.ok()) return piece.error();
    if (*piece == nullptr) return Ok{};
    for (SessionId s = 0; s < (*piece)->session_count(); ++s) {
      const ValueView name = (*piece)->session_name(s);
      const auto has = [&](const auto& other) {
        return &other.second != &from && other.second.open_sessions().contains(name);
      };
      if (recorders.ended.contains(name) || std::ranges::any_of(recorders.connected, has))
        return bad_input(fmt::format(
            "session {} belongs to another connection; expected each session on one connection",
            name.to_string()));
    }
    if (Status s = watch_->add(*piece); !s.ok()) return s;
    if (on_piece_) on_piece_(*piece);
  }
}

Status Watching::take_rest(RecorderLines& from) {
  auto piece = from.rest();
  return piece.ok() ? watch_->add(*piece) : Status(piece.error());
}

void Watching::note_loss(const RecorderLines& from, uint64_t connection, const std::string& why) {
  note(fmt::format("connection {} {}{}{}", connection,
                   from.is_recorder() ? "ended before its sessions" : "is not from a recorder",
                   why.empty() ? "" : ": ", why));
  const SessionNames& open = from.open_sessions();
  const std::vector<HeldValue> sessions(open.begin(), open.end());
  if (from.is_recorder()) watch_->note_loss(sessions);
}

}  // namespace assay::internal::cli
