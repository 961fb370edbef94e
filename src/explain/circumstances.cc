#include "explain/circumstances.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_set>
#include <utility>
#include <vector>

#include "base/json.h"
#include "explain/clauses.h"
#include "explain/names.h"
#include "history/accesses.h"
#include "history/logged.h"

namespace assay::internal {
namespace {

constexpr size_t kMostFaults = 3;
constexpr std::string_view kDurability =
    "Does the database write a commit to disk before it acknowledges it? If not, a kill loses "
    "commits whatever the isolation.";

bool is_known(int64_t time) { return time != Interval::kUnknown; }

struct Fault {
  std::string what, node;
  int64_t at = 0;     // when the fault began
  int64_t until = 0;  // when the fault was healed; kUnknown if it never was
  bool kills() const { return what == "kill" || what == "restart"; }
};

std::string text_of(const Json& j) { return j.is_string() ? j.text() : j.dump(); }

// The faults in the order in which they began, with the times at which they were healed.
std::vector<Fault> faults_of(const History& h) {
  std::vector<Fault> faults;
  for (const Event& event : h.events()) {
    if (!is_known(event.at)) continue;
    const auto j = Json::parse(event.json);
    if (!j.is_object() || !j.contains("what")) continue;
    const std::string name = text_of(j["event"]), what = text_of(j["what"]);
    const std::string node = j.contains("node") ? text_of(j["node"]) : "";
    if (name == "fault") faults.push_back({what, node, event.at, Interval::kUnknown});
    if (name != "heal") continue;
    const auto healed = std::find_if(faults.rbegin(), faults.rend(), [&](const Fault& f) {
      return f.what == what && f.node == node && !is_known(f.until);
    });
    if (healed != faults.rend()) healed->until = event.at;
  }
  return faults;
}

std::string seconds(int64_t at) { return fmt::format("{:.3f} s", static_cast<double>(at) / 1e9); }

// "Node 1 was killed at 4.360 s"
std::string done_to(const Fault& f) {
  const std::string node = f.node.empty() ? "The database" : "Node " + display(f.node);
  if (f.kills()) return fmt::format("{} was killed at {}", node, seconds(f.at));
  const std::string end = is_known(f.until)
                              ? fmt::format("from {} to {}", seconds(f.at), seconds(f.until))
                              : fmt::format("from {} on", seconds(f.at));
  if (f.what == "pause") return fmt::format("{} was paused {}", node, end);
  if (f.what == "partition") return fmt::format("{} was cut off {}", node, end);
  if (f.what == "delay") return fmt::format("{} was slowed down {}", node, end);
  return fmt::format("{}: {} {}", node, display(f.what), end);
}

// The commit that was acknowledged before the kill, and the transaction that missed it afterwards.
std::optional<Arrow> lost_by(const Fault& f, const History& h, const Explanation& e) {
  if (!f.kills()) return std::nullopt;
  for (const Arrow& a : e.arrows) {
    if (a.refuted || a.kind != EdgeKind::anti_dependency || h.status(a.to) != TxnStatus::committed)
      continue;
    const int64_t acknowledged = h.end_time(a.to).response;
    const int64_t began = h.begin_time(a.from).request;
    if (is_known(acknowledged) && is_known(began) && acknowledged <= f.at && began >= f.at)
      return a;
  }
  return std::nullopt;
}

// The time from the first begin to the last end of the transactions; unknown if there are no times.
Interval span_of(const History& h, const Explanation& e) {
  Interval span;
  for (const TxnId t : e.transactions) {
    const int64_t begin = h.begin_time(t).request;
    const int64_t end = h.end_time(t).response;
    if (is_known(begin) && (!is_known(span.request) || begin < span.request)) span.request = begin;
    if (is_known(end) && (!is_known(span.response) || end > span.response)) span.response = end;
  }
  return span;
}

// Whether the transaction may have run during this time, as far as is known.
bool meets(const History& h, TxnId t, const Interval& span) {
  const int64_t begin = h.begin_time(t).request, end = h.end_time(t).response;
  const bool over_before = is_known(end) && is_known(span.request) && end < span.request;
  return is_known(begin) && is_known(span.response) && begin <= span.response && !over_before;
}

// A clause that says that a committed transaction of the explanation read what `t` wrote; empty if
// none did.
std::string read_of(const History& h, TxnId t, const Explanation& e) {
  const auto wrote = [&](VersionId version) {
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
      if (installs_version(h.op(i)) && h.op(i).version == version) return true;
    return false;
  };
  for (const OpId op : e.operations) {
    const TxnId reader = h.txn_of(op);
    const Observation seen = observation_of(h, op);
    if (reader == t || h.status(reader) != TxnStatus::committed ||
        seen.accepts != Accepts::equals || !wrote(seen.version))
      continue;
    return Clauses({h}, {}).because(Edge::read_dependency(t, reader, seen.key, op));
  }
  return {};
}

// The number of transactions of unknown outcome that changed one of the explanation's keys
// meanwhile and are not named in it.
size_t other_unknown(const History& h, const Explanation& e) {
  const Interval span = span_of(h, e);
  std::unordered_set<KeyId> keys;
  for (const OpId op : e.operations) keys.insert(h.op(op).key);
  size_t count = 0;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (h.status(t) != TxnStatus::unknown || !meets(h, t, span) ||
        std::binary_search(e.transactions.begin(), e.transactions.end(), t))
      continue;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
      if (installs_version(h.op(i)) && keys.contains(h.op(i).key)) {
        ++count;
        break;
      }
  }
  return count;
}

void add_unknown_outcomes(const History& h, Explanation& e) {
  bool any = false;
  for (const TxnId t : e.transactions) {
    if (h.status(t) != TxnStatus::unknown) continue;
    any = true;
    if (const std::string read = read_of(h, t, e); !read.empty())
      e.sentences.push_back(
          fmt::format("The outcome of {} is unknown; it counts as committed, because {}.",
                      display_txn(h, t), read));
  }
  const size_t others = other_unknown(h, e);
  if (others == 0) return;
  e.sentences.push_back(fmt::format(
      "{} {}transaction{} of unknown outcome changed the same keys meanwhile; whether {} effect, "
      "the violation stands.",
      others, any ? "other " : "", others == 1 ? "" : "s", others == 1 ? "it took" : "they took"));
}

void add_unfinished_run(const History& h, Explanation& e) {
  const auto meta = Json::parse(h.meta());
  if (!meta.is_object() || !meta.contains("other_run") || !meta["other_run"].is_object()) return;
  const auto& other = meta["other_run"];
  const auto field = [&](const char* name) {
    return other.contains(name) ? display(text_of(other[name])) : std::string();
  };
  e.hint = fmt::format(
      "Was run {}{} still going on? It had prepared the same database and had not finished; its "
      "writes look like faults of the database. {}",
      field("run"), other.contains("began") ? ", begun " + field("began") + "," : "", e.hint);
  if (e.hint.ends_with(' ')) e.hint.pop_back();
}

void add_faults(const History& h, Explanation& e) {
  const Interval span = span_of(h, e);
  if (h.events().empty() || !is_known(span.request) || !is_known(span.response)) return;
  size_t others = 0;
  for (const Fault& f : faults_of(h)) {
    const bool over_before = is_known(f.until) && f.until < span.request && !f.kills();
    if (f.at > span.response || over_before || (f.kills() && f.at < span.request)) continue;
    if (const auto lost = lost_by(f, h, e)) {
      const std::string writer = display_txn(h, lost->to), reader = display_txn(h, lost->from);
      e.sentences.push_back(
          fmt::format("{}, between the two: the commit of {} had been acknowledged, and {} did not "
                      "find it.",
                      done_to(f), writer, reader));
      e.hint = kDurability;
    } else if (others++ < kMostFaults) {
      e.sentences.push_back(done_to(f) + ", while these transactions ran.");
    }
  }
  if (others > kMostFaults)
    e.sentences.push_back(fmt::format("{} more faults came between the first and the last of them.",
                                      others - kMostFaults));
}

constexpr size_t kMostNames = 6;

constexpr size_t kMostRan = 600;  // statements with their places in the code

std::string field(const Json& j, const char* name, size_t most = 120) {
  return j.contains(name) && j[name].is_string() ? display(j[name].text(), most) : "";
}

// "is transaction 739", "logged at 0/15": what the log says of a transaction.
std::vector<std::string> logged_as(const Event& event) {
  const auto j = Json::parse(event.json);
  std::vector<std::string> facts;
  if (!j.is_object()) return facts;
  const std::string xid = field(j, "xid"), position = field(j, "position");
  if (!xid.empty()) facts.push_back("is transaction " + xid);
  if (!position.empty()) facts.push_back((xid.empty() ? "is logged at " : "logged at ") + position);
  return facts;
}

// Adds further facts from the database.
void add_own_words(const History& h, TxnId t, std::vector<std::string>& facts) {
  if (const int64_t start = h.start_ts(t); start != Interval::kUnknown)
    facts.push_back(fmt::format("started at {}", start));
  if (const int64_t commit = h.commit_ts(t); commit != Interval::kUnknown)
    facts.push_back(fmt::format("committed at {}", commit));
  if (!h.snapshot(t).empty())
    facts.push_back("saw snapshot " + display(std::string(h.snapshot(t))));
}

void add_own_names(const History& h, Explanation& e) {
  // The programs, each with the transactions that ran it.
  std::vector<std::pair<std::string, std::vector<std::string>>> programs;
  size_t named = 0;
  for (const TxnId t : e.transactions) {
    if (h.meta(t).empty() || named == kMostNames) continue;
    const auto meta = Json::parse(h.meta(t));
    const std::string ran = meta.is_object() ? field(meta, "ran", kMostRan) : "";
    if (ran.empty()) continue;
    ++named;
    const auto same = [&](const auto& one) { return one.first == ran; };
    auto of = std::find_if(programs.begin(), programs.end(), same);
    if (of == programs.end()) of = programs.insert(of, {ran, {}});
    of->second.push_back(display_txn(h, t));
  }
  std::string all;
  for (const auto& [ran, names] : programs)
    all += fmt::format("{}{} ran {}", all.empty() ? "" : "; ", fmt::join(names, ", "), ran);
  if (!all.empty()) e.sentences.push_back(all + ".");
}

void add_server_names(const History& h, Explanation& e) {
  std::map<std::string, TxnId, std::less<>> wanted;
  for (const TxnId t : e.transactions)
    if (wanted.size() < kMostNames) wanted.emplace(h.name(t), t);
  std::map<TxnId, std::vector<std::string>> facts_of;
  for (const Event& event : h.events())
    if (const auto found = wanted.find(logged_name(event)); found != wanted.end())
      facts_of[found->second] = logged_as(event);
  for (const auto& [name, t] : wanted) add_own_words(h, t, facts_of[t]);
  std::string all;
  for (const auto& [t, facts] : facts_of)
    if (!facts.empty())
      all += fmt::format("{}{} {}", all.empty() ? "" : "; ", display_txn(h, t),
                         fmt::join(facts, ", "));
  if (!all.empty()) e.sentences.push_back("On the server " + all + ".");
}

}  // namespace

void add_circumstances(const History& h, Explanation& e) {
  add_faults(h, e);
  add_unknown_outcomes(h, e);
  add_own_names(h, e);
  add_server_names(h, e);
  add_unfinished_run(h, e);
}

}  // namespace assay::internal
