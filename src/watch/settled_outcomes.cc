// Applies an event "settled" to transactions that came in earlier pieces and are still kept: they
// did not commit.
//
//   piece 1: s1: { w(x,5) }?     its outcome was lost
//   piece 2: s2: { r(x,5) }      so s1 seems to have taken effect
//   piece 3: "settled", aborted: s1      it did not: s2 saw what was aborted
//
// A transaction without effect in the order so far is made aborted in place. Otherwise the order is
// taken back up to it, and decided again.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "base/json.h"
#include "history/copy.h"
#include "history/settled.h"
#include "watch/watcher.h"

namespace assay::internal::watch {
namespace {

Result<Member> as_aborted(const Member& m) {
  const History& h = *m.piece;
  HistoryBuilder builder;
  TxnCopier copier(builder);
  copy_settings(h, builder);
  copier.begin(h, m.txn);
  for (OpId i = h.first_op(m.txn); i < h.end_op(m.txn); ++i) copier.operation(h, i);
  if (Status s = builder.end_txn(); !s.ok()) return s.error();
  Json names = Json::array();
  names.push_back(h.name(m.txn));
  builder.event(Interval::kUnknown, Json{{"event", "settled"}, {"aborted", names}}.dump());
  Result<History> alone = std::move(builder).finish();
  if (!alone.ok()) return alone.error();
  Member aborted = m;
  aborted.piece = std::make_shared<const History>(std::move(*alone));
  aborted.txn = 0;
  aborted.status = TxnStatus::aborted;
  const Interval end = h.end_time(m.txn);
  aborted.end = end.known() && end.response != Interval::kOpen ? end.response : m.begin;
  aborted.last_look = aborted.end;
  return aborted;
}

Error contradicts(const Member& m, const std::string& what) {
  return bad_input(fmt::format("{} {}, and an event \"settled\" says that it did not commit",
                               m.piece->name(m.txn), what),
                   m.line);
}

}  // namespace

// The numbers of the transactions of unknown outcome with these names.
Result<std::vector<uint64_t>> Watcher::named_by(const std::vector<std::string>& names) const {
  std::unordered_map<std::string, const Member*> named;
  for (const std::string& name : names) named.try_emplace(name, nullptr);
  Status wrong = Ok{};
  const auto look = [&](const Member& m) {
    if (m.status == TxnStatus::aborted) return;
    const auto it = named.find(m.piece->name(m.txn));
    if (it == named.end()) return;
    if (m.status == TxnStatus::committed)
      wrong = contradicts(m, "is committed");
    else if (it->second != nullptr && it->second->number != m.number)
      wrong = contradicts(m, fmt::format("is the name of line {} too", it->second->line));
    it->second = &m;
  };
  std::ranges::for_each(waiting_, look);
  for (const Settled& s : settled_) {
    std::ranges::for_each(s.members, look);
    for (const auto* late : {&s.late, &s.touched, &s.took_effect})
      for (const LateTxn& p : *late) look(p.member);
  }
  late_effects_.each([&](const LateTxn& p) { look(p.member); });
  if (!wrong.ok()) return wrong.error();
  std::vector<uint64_t> numbers;
  for (const auto& [name, m] : named)
    if (m != nullptr) numbers.push_back(m->number);
  std::ranges::sort(numbers);
  return numbers;
}

Status Watcher::apply_settled(const History& piece) {
  std::vector<std::string> names;
  for (const Event& event : piece.events())
    if (auto more = settled_names(event.json)) std::ranges::move(*more, std::back_inserter(names));
  if (names.empty()) return Ok{};
  const auto numbers = named_by(names);
  if (!numbers.ok()) return numbers.error();
  for (const uint64_t number : *numbers)
    if (Status s = make_aborted(number); !s.ok()) return s;
  return Ok{};
}

// Whether the transaction is in the order, or was late and has been read.
bool Watcher::had_effect(uint64_t number) const {
  const auto is = [&](const Member& m) { return m.number == number; };
  return std::ranges::any_of(settled_, [&](const Settled& s) {
    const auto ordered = s.members.begin() + static_cast<std::ptrdiff_t>(s.ordered);
    return std::any_of(s.members.begin(), ordered, is) ||
           std::ranges::any_of(s.took_effect, is, &LateTxn::member);
  });
}

Status Watcher::make_aborted(uint64_t number) {
  while (had_effect(number)) take_back(1);
  std::ranges::move(candidates_, std::back_inserter(waiting_));
  candidates_.clear();
  if (late_effects_.contains(number)) waiting_.push_back(late_effects_.take(number).member);
  std::ranges::sort(waiting_, {}, &Member::number);
  Status status = Ok{};
  const auto change = [&](Member& m) {
    if (m.number != number) return false;
    Result<Member> aborted = as_aborted(m);
    if (aborted.ok())
      m = std::move(*aborted);
    else
      status = aborted.error();
    return true;
  };
  std::ranges::for_each(waiting_, change);
  const auto is = [&](const LateTxn& p) { return p.member.number == number; };
  for (Settled& s : settled_) {
    std::erase_if(s.late, is);
    std::erase_if(s.touched, is);
    for (Member& m : s.members)
      if (change(m)) --progress_.decided;
  }
  late_writers_.remove(number);
  return status;
}

}  // namespace assay::internal::watch
