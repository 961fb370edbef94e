#include "collect/sql_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <set>

#include "collect/step.h"
#include "history/value.h"

namespace assay::internal::collect {
namespace {

struct ScriptStep {
  enum class What : uint8_t { begin, operation, commit, abort };
  TxnId txn = 0;
  What what = What::begin;
  Request request = {};
};

struct OrderedScript {
  std::vector<Request> before;  // writes of what was there before
  std::vector<ScriptStep> steps;
};

Value owned(const ValueView& v) {
  if (v.is_null()) return {};
  return v.type == ValueView::Type::integer ? Value::of(v.integer) : Value::of(std::string(v.text));
}

bool can_be_written(const Operation& op) {
  return op.kind == OpKind::read || op.kind == OpKind::write || op.kind == OpKind::insert ||
         op.kind == OpKind::remove || op.kind == OpKind::cas;
}

// Whether a text means itself in every dialect, between quotes and after a comment's dashes.
bool can_be_quoted(const Value& v) {
  return std::none_of(v.text.begin(), v.text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '\\';
  });
}

// A name made safe in a comment, which it cannot end.
std::string in_comment(std::string name) {
  for (char& c : name)
    if (isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') c = '_';
  return name;
}

Request request_of(const History& h, OpId i) {
  const Operation op = h.op(i);
  Request request{.kind = op.kind, .key = owned(h.key(op.key))};
  if (op.kind == OpKind::read) return request;
  request.value = owned(h.version_value(op.version));
  if (op.kind == OpKind::cas) request.expected = owned(h.version_value(h.operands(i)[0]));
  return request;
}

class Schedule {
 public:
  explicit Schedule(const History& h) : h_(h), timed_(all_timed()) {}

  Result<OrderedScript> run() {
    OrderedScript out;
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
        if (const std::string why = obstacle(i); !why.empty())
          return Error{ErrorKind::bad_input, h_.name(t) + " has " + why, "", 0, 0};
      add(t);
    }
    for (const size_t m : in_order()) out.steps.push_back(std::move(moments_[m].step));
    out.before = before();
    return out;
  }

 private:
  struct Moment {
    double at;
    ScriptStep step;
  };

  // Why there is no SQL for an operation; empty if there is.
  std::string obstacle(OpId i) const {
    const Operation op = h_.op(i);
    if (!can_be_written(op))
      return "an operation that SQL scripts do not support; expected reads, writes, inserts, "
             "deletions and compare-and-sets of single keys";
    const Request r = request_of(h_, i);
    const Value returned = owned(h_.version_value(op.version));
    if (can_be_quoted(r.key) && can_be_quoted(r.value) && can_be_quoted(r.expected) &&
        can_be_quoted(returned))
      return "";
    return "a key or value with a backslash or a control character; expected texts that SQL can "
           "quote";
  }

  bool all_timed() const {
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      if (!Interval::is_moment(h_.begin_time(t).request)) return false;
    return true;
  }

  // In the order of time, except that each read comes when its version was the last committed one,
  // if there is such an order: the clients' times leave open when exactly a statement was executed.
  std::vector<size_t> in_order() const {
    std::vector<std::vector<size_t>> next(moments_.size());
    std::vector<size_t> waits(moments_.size());
    const auto before = [&](size_t a, size_t b) {
      next[a].push_back(b);
      ++waits[b];
    };
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      for (size_t m = first_[t]; m < end_of(t); ++m) before(m, m + 1);
      if (h_.position(t) > 0) {
        const TxnId earlier = h_.session_txns(h_.session(t))[h_.position(t) - 1];
        before(end_of(earlier), first_[t]);
      }
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
        if (h_.op(i).kind == OpKind::read) place_read(t, i, before);
    }
    std::set<std::pair<double, size_t>> ready;
    for (size_t m = 0; m < moments_.size(); ++m)
      if (waits[m] == 0) ready.emplace(moments_[m].at, m);
    std::vector<size_t> order;
    while (!ready.empty()) {
      const size_t m = ready.begin()->second;
      ready.erase(ready.begin());
      order.push_back(m);
      for (const size_t n : next[m])
        if (--waits[n] == 0) ready.emplace(moments_[n].at, n);
    }
    return order.size() == moments_.size() ? order : by_time();
  }

  std::vector<size_t> by_time() const {
    std::vector<size_t> order(moments_.size());
    for (size_t m = 0; m < order.size(); ++m) order[m] = m;
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t a, size_t b) { return moments_[a].at < moments_[b].at; });
    return order;
  }

  // Places a read after the commit that it read from and before those of later versions.
  template <class Before>
  void place_read(TxnId t, OpId read, const Before& before) const {
    const size_t moment = first_[t] + 1 + (read - h_.first_op(t));
    double written = -std::numeric_limits<double>::infinity();
    const std::vector<TxnId> writers = writers_of(h_.op(read).key, t);
    for (const TxnId w : writers)
      if (installs(w, h_.op(read).version)) {
        written = moments_[end_of(w)].at;
        before(end_of(w), moment);
      }
    for (const TxnId w : writers)
      if (moments_[end_of(w)].at > written) before(moment, end_of(w));
  }

  size_t end_of(TxnId t) const { return first_[t] + 1 + (h_.end_op(t) - h_.first_op(t)); }
  bool installs(TxnId t, VersionId version) const {
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
      if (changes_data(h_.op(i).kind) && h_.op(i).version == version) return true;
    return false;
  }
  // Transactions that may have changed the key, except the reader.
  std::vector<TxnId> writers_of(KeyId key, TxnId reader) const {
    std::vector<TxnId> all;
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
        if (!changes_data(h_.op(i).kind) || h_.op(i).key != key) continue;
        if (t != reader && h_.status(t) != TxnStatus::aborted) all.push_back(t);
        break;
      }
    return all;
  }

  // Adds the begin, the operations and the end of a transaction.
  void add(TxnId t) {
    const uint32_t ops = h_.end_op(t) - h_.first_op(t);
    const auto [begin, end] = span(t, ops);
    first_.push_back(moments_.size());
    moments_.push_back({begin, {.txn = t, .what = ScriptStep::What::begin}});
    for (uint32_t n = 0; n < ops; ++n) {
      const OpId i = h_.first_op(t) + n;
      const Interval own = h_.op_time(i);
      const double even = begin + (end - begin) * (n + 1) / (ops + 1);
      const bool known = timed_ && Interval::is_moment(own.request);
      moments_.push_back(
          {known ? static_cast<double>(own.request) : even,
           {.txn = t, .what = ScriptStep::What::operation, .request = request_of(h_, i)}});
    }
    const bool aborted = h_.status(t) == TxnStatus::aborted;
    moments_.push_back(
        {end, {.txn = t, .what = aborted ? ScriptStep::What::abort : ScriptStep::What::commit}});
  }

  // When the transaction began, and when its end was requested. Without times a turn is a unit.
  std::pair<double, double> span(TxnId t, uint32_t ops) const {
    if (!timed_) return {0, ops + 1.0};
    const auto begin = static_cast<double>(h_.begin_time(t).request);
    const int64_t asked = h_.end_time(t).request;
    const bool known = Interval::is_moment(asked) && static_cast<double>(asked) > begin;
    return {begin, known ? static_cast<double>(asked) : begin + ops + 1.0};
  }

  // Values that were read and written by none of these transactions were there before.
  std::vector<Request> before() const {
    std::set<VersionId> written;
    std::map<KeyId, VersionId> first;
    for (OpId i = 0; i < h_.op_count(); ++i)
      if (h_.op(i).kind != OpKind::read) written.insert(h_.op(i).version);
    for (OpId i = 0; i < h_.op_count(); ++i) {
      const Operation op = h_.op(i);
      const VersionId seen = op.kind == OpKind::read  ? op.version
                             : op.kind == OpKind::cas ? h_.operands(i)[0]
                                                      : kNone;
      if (seen != kNone && !written.contains(seen) && !h_.version_value(seen).is_null())
        first.emplace(op.key, seen);
    }
    std::vector<Request> writes;
    for (const auto& [key, version] : first)
      writes.push_back({.kind = OpKind::write,
                        .key = owned(h_.key(key)),
                        .value = owned(h_.version_value(version))});
    return writes;
  }

  const History& h_;
  const bool timed_;
  std::vector<Moment> moments_;
  std::vector<size_t>
      first_;  // indexed by transaction: the place of its begin; its operations and its end follow
};

std::string literal(const Value& v) {
  if (v.is_null()) return "NULL";
  const std::string text = v.is_integer() ? std::to_string(v.integer) : v.text;
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("''") : std::string(1, c);
  return out + "'";
}

// `comes_and_goes`: the key's row may not be there when it is written.
std::string statements_of(const Request& r, bool comes_and_goes) {
  const std::string key = literal(r.key), value = literal(r.value);
  switch (r.kind) {
    case OpKind::read:
      return fmt::format("SELECT v FROM kv WHERE k = {};", key);
    case OpKind::insert:
      return fmt::format("INSERT INTO kv (k, v) VALUES ({}, {});", key, value);
    case OpKind::remove:
      return fmt::format("DELETE FROM kv WHERE k = {};", key);
    case OpKind::cas:
      if (!r.expected.is_null())
        return fmt::format("UPDATE kv SET v = {} WHERE k = {} AND v = {};", value, key,
                           literal(r.expected));
      return fmt::format("INSERT INTO kv (k, v) VALUES ({}, {});", key, value);
    default:
      if (comes_and_goes)
        return fmt::format("DELETE FROM kv WHERE k = {0}; INSERT INTO kv (k, v) VALUES ({0}, {1});",
                           key, value);
      return fmt::format("UPDATE kv SET v = {} WHERE k = {};", value, key);
  }
}

// Keys whose rows are inserted or removed during the script.
std::set<std::string> coming_and_going(const OrderedScript& play) {
  std::set<std::string> keys;
  for (const ScriptStep& step : play.steps) {
    const Request& r = step.request;
    const bool from_nothing = r.kind == OpKind::cas && r.expected.is_null();
    if (r.kind == OpKind::insert || r.kind == OpKind::remove || from_nothing)
      keys.insert(literal(r.key));
  }
  return keys;
}

// If a key was absent before and is written, its row has to be there for a plain UPDATE.
std::set<std::string> rows_to_make(const OrderedScript& play) {
  std::set<std::string> rows = coming_and_going(play), made;
  for (const Request& write : play.before) rows.insert(literal(write.key));
  for (const ScriptStep& step : play.steps)
    if (step.request.kind == OpKind::write && step.what == ScriptStep::What::operation &&
        !rows.contains(literal(step.request.key)))
      made.insert(literal(step.request.key));
  return made;
}

}  // namespace

Result<std::string> sql_script(const History& history, const std::string& isolation) {
  const Result<OrderedScript> ordered = Schedule(history).run();
  if (!ordered.ok()) return ordered.error();
  const OrderedScript& play = *ordered;
  std::string out =
      "-- First, in any connection:\nDROP TABLE IF EXISTS kv;\nCREATE TABLE kv (k VARCHAR(200) "
      "PRIMARY KEY, v VARCHAR(200));\n";
  for (const Request& write : play.before)
    out += fmt::format("INSERT INTO kv (k, v) VALUES ({}, {});\n", literal(write.key),
                       literal(write.value));
  for (const std::string& key : rows_to_make(play))
    out += fmt::format("INSERT INTO kv (k, v) VALUES ({}, NULL);\n", key);
  out += fmt::format("\n-- Then, with one connection per session{}, these lines in this order.\n",
                     isolation.empty() ? "" : ", at isolation " + isolation);
  const std::set<std::string> come_and_go = coming_and_going(play);
  std::vector<OpId> next(history.txn_count());
  for (TxnId t = 0; t < history.txn_count(); ++t) next[t] = history.first_op(t);
  for (const ScriptStep& step : play.steps) {
    const TxnId t = step.txn;
    const std::string session = in_comment(history.session_name(history.session(t)).to_string());
    std::string does =
        step.what == ScriptStep::What::begin    ? "BEGIN;"
        : step.what == ScriptStep::What::commit ? "COMMIT;"
        : step.what == ScriptStep::What::abort
            ? "ROLLBACK;"
            : statements_of(step.request, come_and_go.contains(literal(step.request.key)));
    if (step.what == ScriptStep::What::operation) {
      const OpId i = next[step.txn]++;
      if (history.op(i).kind == OpKind::read)
        does += " -- returned " + history.version_value(history.op(i).version).to_string();
    }
    out += fmt::format("/* {}: {} */ {}\n", session, in_comment(history.name(t)), does);
  }
  return out;
}

}  // namespace assay::internal::collect
