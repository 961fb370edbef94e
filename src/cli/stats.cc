#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>
#include <set>

#include "assay/format.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "explain/names.h"
#include "history/mini_transactions.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

constexpr std::string_view kKindNames[] = {"read",      "write", "remove", "append",
                                           "read-list", "range", "cas",    "insert"};

struct Statistics {
  Counts outcomes;
  uint64_t by_kind[std::size(kKindNames)] = {};
  uint64_t failed_effects = 0;  // cas and insert without effect
  uint64_t longest = 0;         // operations of the longest transaction
  uint64_t initial_reads = 0;
  uint64_t read_only = 0, write_only = 0;
  uint64_t mini = 0;                  // mini-transactions
  std::set<std::string_view> shapes;  // shapes of mini-transactions
  uint64_t timed = 0;                 // transactions with begin and end
  int64_t first = INT64_MAX, last = INT64_MIN;
  uint64_t session_least = UINT64_MAX, session_most = 0;
  std::vector<std::pair<uint64_t, KeyId>> hottest;
};

bool is_read(OpKind k) { return k == OpKind::read || k == OpKind::read_list || k == OpKind::range; }

void count_times(const History& h, TxnId t, Statistics& s) {
  const Interval begin = h.begin_time(t), end = h.end_time(t);
  if (begin.request == Interval::kUnknown || end.response == Interval::kUnknown) return;
  ++s.timed;
  s.first = std::min(s.first, begin.request);
  s.last = std::max(s.last, end.response);
}

Statistics measure(const History& h) {
  Statistics s;
  s.outcomes = count_outcomes(h);
  std::vector<uint64_t> uses(h.key_count());
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    s.longest = std::max<uint64_t>(s.longest, h.end_op(t) - h.first_op(t));
    bool reads = false, writes = false;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      const Operation op = h.op(i);
      ++s.by_kind[static_cast<size_t>(op.kind)];
      s.failed_effects += !op.effect;
      if (op.key != kNone) ++uses[op.key];
      (is_read(op.kind) ? reads : writes) = true;
      if (op.kind == OpKind::read && h.is_initial(op.version)) ++s.initial_reads;
    }
    s.read_only += reads && !writes;
    s.write_only += writes && !reads;
    if (const std::string_view shape = mini_shape(h, t); !shape.empty()) {
      ++s.mini;
      s.shapes.insert(shape);
    }
    count_times(h, t, s);
  }
  for (SessionId i = 0; i < h.session_count(); ++i) {
    s.session_least = std::min<uint64_t>(s.session_least, h.session_txns(i).size());
    s.session_most = std::max<uint64_t>(s.session_most, h.session_txns(i).size());
  }
  for (KeyId k = 0; k < h.key_count(); ++k) s.hottest.emplace_back(uses[k], k);
  const size_t top = std::min<size_t>(5, s.hottest.size());
  std::partial_sort(s.hottest.begin(), s.hottest.begin() + static_cast<ptrdiff_t>(top),
                    s.hottest.end(), [](const auto& a, const auto& b) {
                      return a.first != b.first ? a.first > b.first : a.second < b.second;
                    });
  s.hottest.resize(top);
  return s;
}

std::string as_text(const std::string& file, const History& h, const Statistics& s) {
  std::string out;
  const auto row = [&](std::string_view label, const std::string& value) {
    out += fmt::format("{:<22} {}\n", label, value);
  };
  out += display(file, 200) + "\n";
  row("transactions", fmt::format("{} ({} committed, {} aborted, {} unknown)",
                                  grouped(h.txn_count()), grouped(s.outcomes.committed),
                                  grouped(s.outcomes.aborted), grouped(s.outcomes.unknown)));
  row("  read-only", grouped(s.read_only));
  row("  write-only", grouped(s.write_only));
  row("  mini-transactions",
      s.mini == 0 ? "0" : fmt::format("{} of {} shapes", grouped(s.mini), s.shapes.size()));
  row("  longest", counted(s.longest, "operation", "operations"));
  if (h.session_count())
    row("sessions", fmt::format("{} of {} to {} transactions", grouped(h.session_count()),
                                grouped(s.session_least), grouped(s.session_most)));
  row("operations", grouped(h.op_count()));
  for (size_t k = 0; k < std::size(kKindNames); ++k)
    if (s.by_kind[k]) row(fmt::format("  {}", kKindNames[k]), grouped(s.by_kind[k]));
  if (s.failed_effects) row("  without effect", grouped(s.failed_effects));
  row("  reads of the initial", grouped(s.initial_reads));
  row("keys", grouped(h.key_count()));
  for (const auto& [uses, key] : s.hottest)
    row(fmt::format("  {}", display_key(h, key)), counted(uses, "operation", "operations"));
  row("known orders", grouped(h.known_orders().size()));
  row("events", grouped(h.events().size()));
  row("timed transactions", grouped(s.timed));
  if (s.timed) row("  from first to last", duration_between(s.first, s.last));
  row("content hash", h.content_hash());
  return out;
}

std::string as_json(const std::string& file, const History& h, const Statistics& s) {
  Json j;
  j["schema"] = 1;
  j["file"] = file;
  j["transactions"] = h.txn_count();
  j["committed"] = s.outcomes.committed;
  j["aborted"] = s.outcomes.aborted;
  j["unknown"] = s.outcomes.unknown;
  j["read_only"] = s.read_only;
  j["write_only"] = s.write_only;
  j["mini_transactions"] = s.mini;
  j["longest"] = s.longest;
  j["sessions"] = h.session_count();
  j["operations"] = h.op_count();
  Json kinds = Json::object();
  for (size_t k = 0; k < std::size(kKindNames); ++k)
    if (s.by_kind[k]) kinds[std::string(kKindNames[k])] = s.by_kind[k];
  j["by_kind"] = std::move(kinds);
  j["initial_reads"] = s.initial_reads;
  j["keys"] = h.key_count();
  j["known_orders"] = h.known_orders().size();
  j["events"] = h.events().size();
  j["timed"] = s.timed;
  if (s.timed) j["span_ns"] = static_cast<uint64_t>(s.last) - static_cast<uint64_t>(s.first);
  j["hash"] = h.content_hash();
  return j.dump() + "\n";
}

}  // namespace

Action add_stats(CLI::App& app) {
  struct State {
    std::vector<std::string> files;
    ReadFlags reading;
    bool json = false;
  };
  auto s = std::make_shared<State>();
  app.add_option("FILE", s->files, "histories; - is standard input")->required()->type_name("");
  app.add_flag("--json", s->json, "one line of JSON per history");
  s->reading.add(app);
  return [s] {
    Exit worst = Exit::satisfied;
    for (const std::string& file : s->files) {
      const auto read = read_history(file, s->reading.options());
      if (!read.ok()) {
        worst = worse(worst, fail(read.error()));
        continue;
      }
      for (const ReadNote& n : read->notes) note(n.message);
      const Statistics m = measure(read->history);
      const Status printed =
          print(s->json ? as_json(file, read->history, m) : as_text(file, read->history, m));
      if (!printed.ok()) return worse(worst, fail(printed.error()));
    }
    return worst;
  };
}

}  // namespace assay::internal::cli
