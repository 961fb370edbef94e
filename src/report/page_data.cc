// The page holds the transactions that an explanation names, their neighbours (in their sessions,
// their sources, their readers) and the first ones in the order of the strongest satisfied level.
// For all others it holds only counts.
#include "report/page_data.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "base/json.h"
#include "explain/names.h"
#include "explain/reads_and_writes.h"
#include "history/accesses.h"
#include "report/run_events.h"
#include "report/summary.h"

namespace assay::internal {
namespace {

constexpr size_t kMostNamed = 200, kMostNear = 150, kMostOrdered = 200, kMostAnswered = 40;
constexpr size_t kMostOperations = 16, kMostTelling = 40, kMostEvents = 200, kMostReasons = 6,
                 kBuckets = 120;

// Times as the page has them: nanoseconds since the first begin. If any begin is missing, positions
// in the file replace them.
class PageClock {
 public:
  explicit PageClock(const History& h) : h_(h) {
    for (TxnId t = 0; t < h.txn_count(); ++t) {
      const int64_t begin = h.begin_time(t).request, end = h.end_time(t).response;
      timed_ = timed_ && Interval::is_moment(begin);
      first_ = t == 0 ? begin : std::min(first_, begin);
      last_ = std::max({t == 0 ? begin : last_, begin, Interval::is_moment(end) ? end : begin});
    }
    timed_ = timed_ && h.txn_count() > 0;
  }

  bool timed() const { return timed_; }
  double span() const { return timed_ ? since(last_) : h_.txn_count(); }
  // Uses doubles because differences over the whole range of clocks must not overflow.
  double since(int64_t t) const { return static_cast<double>(t) - static_cast<double>(first_); }
  double begin(TxnId t) const { return timed_ ? since(h_.begin_time(t).request) : t; }
  std::optional<double> end(TxnId t) const {
    if (!timed_) return t + 1.0;
    const int64_t end = h_.end_time(t).response;
    return Interval::is_moment(end) ? std::optional(since(end)) : std::nullopt;
  }
  size_t bucket(TxnId t) const {
    const double share = end(t).value_or(begin(t)) / std::max(1.0, span());
    return std::min(kBuckets - 1, static_cast<size_t>(std::max(0.0, share) * kBuckets));
  }

 private:
  const History& h_;
  bool timed_ = true;
  int64_t first_ = 0, last_ = 0;
};

const char* outcome_word(TxnStatus status) {
  const char* const words[] = {"committed", "aborted", "unknown"};
  return words[static_cast<size_t>(status)];
}

// Returns why a transaction aborted, as the recorder noted it: the error up to its first colon, a
// part that many errors share.
std::string abort_reason(const History& h, TxnId t) {
  const std::string_view meta = h.meta(t);
  if (meta.empty()) return "no reason recorded";
  const auto noted = Json::parse(meta);
  if (!noted.is_object() || !noted.contains("error") || !noted["error"].is_string())
    return "no reason recorded";
  const std::string error = noted.text("error");
  return display(error.substr(0, error.find(": ")), 60);
}

// Returns counts over the time of the run.
Json run_json(const History& h, const PageClock& clock) {
  std::vector<std::array<uint32_t, 3>> outcomes(kBuckets);
  std::map<std::string, std::vector<uint32_t>> by_reason;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    const size_t bucket = clock.bucket(t);
    ++outcomes[bucket][static_cast<size_t>(h.status(t))];
    if (h.status(t) != TxnStatus::aborted) continue;
    std::string reason = abort_reason(h, t);
    if (by_reason.size() >= kMostReasons && !by_reason.contains(reason)) reason = "other";
    by_reason.try_emplace(std::move(reason), kBuckets).first->second[bucket]++;
  }
  Json run;
  run["outcomes"] = outcomes;
  run["reasons"] = Json::array();
  for (const auto& [reason, counts] : by_reason)
    run["reasons"].push_back({{"reason", reason}, {"counts", counts}});
  run["events"] = Json::array();
  for (const Event& event : h.events()) {
    if (!clock.timed() || run["events"].size() == kMostEvents || !is_drawn(event)) continue;
    run["events"].push_back({{"at", clock.since(event.at)}, {"text", display(event.json, 300)}});
  }
  return run;
}

class PageData {
 public:
  explicit PageData(const Audit& c)
      : c_(c), h_(c.history), clock_(h_), source_(sources_of_versions(h_)) {}

  Json take() {
    Json out;
    out["file"] = display(file_name(c_), 200);
    out["timed"] = clock_.timed();
    out["span"] = clock_.span();
    out["count"] = h_.txn_count();
    out["explanations"] = Json::array();
    for (const Explanation& e : c_.explanations) out["explanations"].push_back(explanation(e));
    find_neighbours();
    Json order = satisfied_order();
    if (!order.is_null()) out["order"] = std::move(order);
    out["run"] = run_json(h_, clock_);
    out["links"] = links();
    out["txns"] = Json::array();
    for (const TxnId t : shown_) out["txns"].push_back(transaction(t));
    return out;
  }

 private:
  Json explanation(const Explanation& e) {
    telling_.insert(e.operations.begin(), e.operations.end());
    Json j;
    j["anomaly"] = anomaly_info(e.anomaly).name;
    j["txns"] = Json::array();
    for (const TxnId t : e.transactions)
      if (name(t)) j["txns"].push_back(t);
    j["arrows"] = Json::array();
    for (const Arrow& a : e.arrows)
      if (named_.contains(a.from) && named_.contains(a.to)) j["arrows"].push_back(arrow(a));
    if (e.case_count > 0) j["cases"] = e.case_count;
    if (const Exhausted* exhausted = exhausted_of(e)) j["answers"] = answers(*exhausted);
    return j;
  }

  Json arrow(const Arrow& a) const {
    Json j = {{"from", a.from},
              {"to", a.to},
              {"kind", edge_kind_name(a.kind)},
              {"cycle", a.in_cycle},
              {"because", display(a.because, 2000)}};
    if (a.key != kNone) j["key"] = display_key(h_, a.key);
    if (a.refuted) j["refuted"] = true;
    if (!a.supports.empty()) j["supports"] = a.supports;
    return j;
  }

  // Adds a transaction that an explanation names. Returns whether there was room for it.
  bool name(TxnId t) {
    if (!named_.contains(t) && named_.size() == kMostNamed) return false;
    named_.insert(t);
    shown_.insert(t);
    return true;
  }

  // Not null if every order of a key's operations was tried. The explanation may be about a weaker
  // level that was not asked for.
  const Exhausted* exhausted_of(const Explanation& e) const {
    for (const LevelId level : e.levels) {
      const Verdict* v = c_.result.find(level);
      if (v == nullptr || v->certificate >= c_.result.certificates.size()) continue;
      const Certificate& certificate = c_.result.certificates[v->certificate];
      if (certificate.kind == Certificate::Kind::exhausted) return &certificate.exhausted;
    }
    return nullptr;
  }

  // Returns the operations on the key that were answered last before the one that fits no order:
  // all answers before it fit one.
  Json answers(const Exhausted& exhausted) {
    const int64_t end = h_.end_time(exhausted.until).response;
    std::vector<TxnId> before;
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      if (h_.status(t) == TxnStatus::committed && h_.first_op(t) < h_.end_op(t) &&
          h_.op(h_.first_op(t)).key == exhausted.key && h_.end_time(t).response < end)
        before.push_back(t);
    std::sort(before.begin(), before.end(),
              [&](TxnId a, TxnId b) { return h_.end_time(a).response > h_.end_time(b).response; });
    before.resize(std::min(before.size(), kMostAnswered));
    Json j = {{"until", exhausted.until}, {"key", display_key(h_, exhausted.key)}};
    j["accepted"] = Json::array();
    for (const TxnId t : before)
      if (name(t)) j["accepted"].push_back(t);
    return j;
  }

  void find_neighbours() {
    std::vector<TxnId> near;
    std::vector<bool> watched(h_.version_count());
    for (const TxnId t : named_) {
      const std::span<const TxnId> own = h_.session_txns(h_.session(t));
      const uint32_t place = h_.position(t);
      if (place > 0) near.push_back(own[place - 1]);
      if (place + 1 < own.size()) near.push_back(own[place + 1]);
      for (const Access& r : reads_of(h_, t))
        if (const TxnId from = source_[r.version]; from < kSeveral) near.push_back(from);
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
        if (installs_version(h_.op(i)) && i == last_write(h_, t, h_.op(i).key))
          watched[h_.op(i).version] = true;
    }
    for (TxnId t = 0; t < h_.txn_count() && near.size() < 4 * kMostNear; ++t)
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
        const Observation seen = observation_of(h_, i);
        if (seen.version != kNone && watched[seen.version]) near.push_back(t);
      }
    for (const TxnId t : near)
      if (shown_.size() < named_.size() + kMostNear) shown_.insert(t);
  }

  Json links() const {
    Json all = Json::array();
    for (const TxnId t : shown_) {
      const uint32_t place = h_.position(t);
      if (place > 0 && shown_.contains(h_.session_txns(h_.session(t))[place - 1]))
        all.push_back(
            {{"from", h_.session_txns(h_.session(t))[place - 1]}, {"to", t}, {"kind", "session"}});
      std::set<std::pair<TxnId, KeyId>> linked;
      for (const Access& r : reads_of(h_, t)) {
        const TxnId from = source_[r.version];
        if (from == t || !shown_.contains(from)) continue;
        if (!linked.emplace(from, r.key).second) continue;
        all.push_back({{"from", from},
                       {"to", t},
                       {"kind", edge_kind_name(EdgeKind::read_dependency)},
                       {"key", display_key(h_, r.key)}});
      }
    }
    return all;
  }

  // Returns the beginning of the order that the certificate of the strongest satisfied level gives.
  Json satisfied_order() {
    for (const LevelId level : strongest_satisfied(c_.result)) {
      const Verdict* v = c_.result.find(level);
      if (v == nullptr || v->certificate >= c_.result.certificates.size()) continue;
      const Certificate& certificate = c_.result.certificates[v->certificate];
      if (certificate.kind != Certificate::Kind::order) continue;
      const Order& order = certificate.order;
      Json j = {{"level", level_info(level).name},
                {"split", order.split},
                {"total", order.events.size()}};
      j["events"] = Json::array();
      std::set<TxnId> ordered;
      for (const uint32_t event : order.events) {
        const TxnId t = order.split ? event / 2 : event;
        if (!ordered.contains(t) && ordered.size() == kMostOrdered) break;
        ordered.insert(t);
        j["events"].push_back(event);
      }
      shown_.insert(ordered.begin(), ordered.end());
      return j;
    }
    return nullptr;
  }

  Json transaction(TxnId t) const {
    Json j = {{"id", t},
              {"name", display_txn(h_, t)},
              {"session", display_session(h_, h_.session(t))},
              {"outcome", outcome_word(h_.status(t))},
              {"begin", clock_.begin(t)}};
    if (const auto end = clock_.end(t)) j["end"] = *end;
    if (h_.line(t)) j["line"] = h_.line(t);
    if (const auto level = h_.declared_level(t)) j["level"] = level_info(*level).name;
    if (named_.contains(t)) j["named"] = true;
    if (!h_.meta(t).empty()) j["meta"] = display(h_.meta(t), 300);
    j["ops"] = Json::array();
    size_t more = 0;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      if (j["ops"].size() < (telling_.contains(i) ? kMostTelling : kMostOperations))
        j["ops"].push_back(operation(i));
      else
        ++more;
    }
    if (more) j["more"] = more;
    return j;
  }

  Json operation(OpId i) const {
    const Operation op = h_.op(i);
    Json j = {{"text", display_op(h_, i)}};
    if (telling_.contains(i)) j["tells"] = true;
    if (const auto [sent, answered] = h_.op_time(i);
        clock_.timed() && Interval::is_moment(sent) && Interval::is_moment(answered))
      j["at"] = {clock_.since(sent), clock_.since(answered)};
    if (is_range(op)) return j;
    j["key"] = display_key(h_, op.key);
    if (!installs_version(op)) return j;
    const Install left = install_of(h_, i);
    j["does"] = left.removes ? "remove" : left.appends ? "append" : "write";
    if (!left.removes) j["value"] = display_value(h_, left.version);
    return j;
  }

  const Audit& c_;
  const History& h_;
  PageClock clock_;
  std::vector<TxnId> source_;  // per version
  std::set<TxnId> named_, shown_;
  std::set<OpId> telling_;
};

}  // namespace

Json page_data(const Audit& c) { return PageData(c).take(); }

std::string as_script_text(const Json& data) {
  // Only ASCII without "<": neither an end tag nor a comment can begin.
  const std::string json = data.dump(-1, true);
  std::string out;
  out.reserve(json.size());
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

}  // namespace assay::internal
