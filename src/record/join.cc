// Joins what clients read with what the log says was written.
//
// A row names the transaction that wrote it, and the log has the numbers of all writers: the
// clients' own, which queried theirs when they ended, and others' (versions.h).
//
//   trace: 1-1 read accounts:7 of 739; 2-1 is number 740, read accounts:7 of 739      log: 739
//   accounts:7, 740 accounts:7
//   history: xid-739 w(accounts:7)   1-1 r(accounts:7) from xid-739   2-1 r(accounts:7) from
//                                                                     xid-739, w(accounts:7)
//            order accounts:7: xid-739, 2-1
//
// A read of a version without a known writer is omitted, for a missing read makes no violation. So
// is a read of a version whose writer is not known to be a client, if the reader may itself have a
// number that was not queried: the version may be its own. A row that was not found is recorded as
// absent only if the log has everything that was committed by then.
//
// A transaction's writes are with the statements that made them (origins.h), or at its end if these
// are not known; its reads of own writes are omitted. A change reads the version that it replaced
// if its result depends on it, SET balance = balance - 5, and not if it only names a key (rule 35);
// the order of the log gives that version. Transactions of the log that are no client's are
// separate sessions.
//
// Now and then the trace says: everything committed at 5:00 is in the log above, and everything
// that clients had sent by then is answered. Then all transactions that had ended at 5:00 are
// joined, as all that they can have read are known; and others' transactions that are over
// according to a snapshot. These have the times between which they were committed: of others'
// transactions only the changes are known, and these are made at one moment.
//
// What is joined is written and forgotten, and what a row held as soon as everything that had begun
// when everybody saw its successor has ended.
//
// Cost: linear in the trace, times the logarithm of the keys. Memory: the transactions that are not
// joined yet, and the versions (versions.h). Source: rules 30 to 36 of soundness, as
// docs/is-my-application-safe.md has them.
#include "record/join.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "collect/schedule/row_history.h"
#include "history/condition.h"
#include "record/description.h"
#include "record/origins.h"
#include "record/seen.h"
#include "record/versions.h"

namespace assay::internal::record {
namespace {

using collect::schedule::RowOperation;
using collect::schedule::RowSink;
using collect::schedule::RowTxn;

constexpr size_t kMostRowsOfQuery = 1000;  // longer answers are reads of their rows alone

// A read of a row precedes the transaction's changes to it; the moment of each change is then
// unknown.
void put_changes_last(std::vector<RowOperation>& ops) {
  const auto reads = [](const RowOperation& op) {
    return op.kind != RowOperation::Kind::write && op.kind != RowOperation::Kind::remove;
  };
  const auto changes = std::stable_partition(ops.begin(), ops.end(), reads);
  for (auto op = changes; op != ops.end(); ++op) op->time = {};
}

class Joining {
 public:
  Joining(RowSink& history, JoinListener* listener)
      : history_(history), listener_(listener), seen_(reader_.seen()), versions_(seen_) {}

  Status take(const Json& line) {
    if (Status s = reader_.take(line); !s.ok()) return s;
    return line.contains("answered") ? join_answered() : Status(Ok{});
  }

  Result<Joined> finish() {
    reader_.finish();
    closed_ = seen_.end.has_value();
    receive();
    if (Status s = join(LogPoint{.at = Interval::kOpen, .logged = SIZE_MAX}, true); !s.ok())
      return s.error();
    if (listener_ != nullptr)
      if (Status s = listener_->joined_all(); !s.ok()) return s.error();
    history_.set_meta(header());
    versions_.state(history_);
    out_.log_ended = closed_;
    if (closed_) history_.complete(*seen_.end, "PostgreSQL's log, by test_decoding");
    return std::move(out_);
  }

 private:
  // Of the log; of others, or of a client that is not joined yet.
  struct Logged {
    size_t log = 0;
    LoggedChanges changes;
  };

  // Joins up to the last point of the log by which everything that clients had sent has been
  // answered since: the writers are known by then.
  Status join_answered() {
    std::optional<LogPoint> last;
    while (!seen_.points.empty() && seen_.points.front().at < seen_.answered) {
      last = std::move(seen_.points.front());
      seen_.points.pop_front();
    }
    if (!last) return Ok{};
    receive();
    closed_ = true;
    Status joined = join(*last, false);
    before_ = last->at;
    forget(*last);
    if (!joined.ok() || listener_ == nullptr) return joined;
    return listener_->joined_all();
  }

  // What was replaced by what everybody saw before the first began that may still read.
  void forget(const LogPoint& point) {
    seen_by_all_.emplace_back(point.seen, versions_.first_unseen(point.going_on, point.logged));
    int64_t since = reader_.open_since();
    for (const SeenTxn& client : clients_) since = std::min(since, client.begin.request);
    for (; !seen_by_all_.empty() && seen_by_all_.front().first < since; seen_by_all_.pop_front())
      versions_.forget_replaced_before(seen_by_all_.front().second);
  }

  // Clients' transactions that have ended.
  void receive() {
    for (SeenTxn& t : seen_.txns) {
      if (t.number) of_number_[*t.number] = t.id;
      clients_.push_back(std::move(t));
    }
    seen_.txns.clear();
  }

  // Everything that had ended at the point; all there is if it is the last.
  Status join(const LogPoint& point, bool last) {
    while (!seen_.log.empty() && versions_.size() < point.logged) {
      LoggedChanges changes = std::move(seen_.log.front());
      seen_.log.pop_front();
      const size_t log = versions_.size();
      const auto at = of_number_.find(changes.number);
      const bool own = at != of_number_.end();
      versions_.add(changes, own ? at->second : ClientTxn{});
      if (own)
        own_.emplace(at->second, Logged{log, std::move(changes)});
      else
        foreign_.push_back({log, std::move(changes)});
      if (own) of_number_.erase(at);
    }
    std::vector<SeenTxn> later;
    for (SeenTxn& client : std::exchange(clients_, {})) {
      const auto own = client.held > 0 ? own_.end() : own_.find(client.id);
      const bool logged = own != own_.end();
      const bool ended = client.status != TxnStatus::unknown && client.over <= point.at;
      if (!last && !logged && !ended) {
        later.push_back(std::move(client));
        continue;
      }
      if (Status s = add(client_txn(client, logged ? &own->second : nullptr)); !s.ok()) return s;
      if (logged) own_.erase(own);
      if (client.number) of_number_.erase(*client.number);
    }
    clients_ = std::move(later);
    return join_others(point, last);
  }

  // Others' transactions, once they are visible to all.
  Status join_others(const LogPoint& point, bool last) {
    std::vector<Logged> later;
    for (Logged& logged : std::exchange(foreign_, {})) {
      const uint32_t number = logged.changes.number;
      const bool over = !last && static_cast<int32_t>(number - point.next) < 0 &&
                        !point.going_on.contains(number);
      if (!over && !last) {
        later.push_back(std::move(logged));
        continue;
      }
      // In the end, those of which nothing is known but that they came after the point before.
      const Interval when = over ? Interval{before(), point.seen} : open_since(before());
      if (Status s = add(foreign_txn(logged, when)); !s.ok()) return s;
    }
    foreign_ = std::move(later);
    return Ok{};
  }

  int64_t before() const {
    return before_ || !seen_.header.contains("at") ? before_.value_or(Interval::kUnknown)
                                                   : seen_.header["at"].integer();
  }
  static Interval open_since(int64_t at) {
    return at == Interval::kUnknown ? Interval{} : Interval::from(at);
  }

  // A transaction without operations may still have unrecorded ones.
  Status add(const RowTxn& txn) {
    if (txn.ops.empty() && txn.meta.find("\"unrecorded\":") == std::string::npos) return Ok{};
    if (Status s = history_.add(txn); !s.ok()) return s;
    return listener_ == nullptr ? Status(Ok{}) : listener_->joined(txn);
  }

  std::string header() const {
    Json meta = seen_.header.value("meta", Json::object());
    if (!acting_.empty() && meta["database"].is_object())
      meta["database"]["isolation"] = fmt::format("{}", fmt::join(acting_, ", "));
    if (!seen_.end) meta["unfinished"] = true;
    return meta.dump();
  }

  // Whether it is about tables that are no system's.
  bool acts(const SeenTxn& txn) const {
    return std::ranges::any_of(txn.statements, [&](const SeenStatement& s) { return s.of->reads; });
  }

  // That no other row satisfied the condition: only where everything that anybody wrote is known.
  std::optional<RowOperation> query_of(const SeenStatement& s,
                                       const std::vector<RowOperation>& found) const {
    if (!s.where || !closed_ || found.size() > kMostRowsOfQuery || seen_.anew.contains(s.table) ||
        found.size() != s.read.size() || (!s.where->empty() && !parse_condition(*s.where).ok()))
      return std::nullopt;
    RowOperation query{.kind = RowOperation::Kind::query, .table = s.table, .where = *s.where};
    for (const RowOperation& op : found) {
      if (!op.key.starts_with(s.table + ":")) return std::nullopt;
      query.rows.emplace_back(op.key, op.row);
    }
    return query;
  }

  // What a transaction did to rows by each of its changes.
  std::vector<std::vector<RowOperation>> changes_of(const Logged& logged,
                                                    const std::vector<bool>& depends) {
    std::vector<std::vector<RowOperation>> all;
    std::set<std::string> changed;
    for (size_t i = 0; i < logged.changes.changes.size(); ++i) {
      const LoggedChange& c = logged.changes.changes[i];
      std::vector<RowOperation>& ops = all.emplace_back();
      const std::string& before = c.old_key.empty() ? c.key : c.old_key;
      if (!depends.empty() && depends[i] && !changed.contains(before))
        if (auto op = versions_.replaced(before, logged.log)) {
          ops.push_back(std::move(*op));
          ++out_.reads;
        }
      if (!c.old_key.empty()) ops.push_back({.kind = RowOperation::Kind::remove, .key = c.old_key});
      const bool removes = c.kind == LoggedChange::Kind::remove;
      ops.push_back({.kind = removes ? RowOperation::Kind::remove : RowOperation::Kind::write,
                     .key = c.key,
                     .row = removes ? "" : c.row});
      changed.insert(c.key);
      if (!c.old_key.empty()) changed.insert(c.old_key);
    }
    return all;
  }

  // What the statement read, and that it left something out.
  std::vector<RowOperation> reads_of(const SeenStatement& s, const SeenTxn& client,
                                     bool& finds_all) {
    std::vector<RowOperation> found;
    const uint64_t left_out = out_.unattributed;
    for (const SeenVersion& version : s.read) {
      auto read = versions_.read(version, client.id, client.may_have_number);
      if (read.op) found.push_back(std::move(*read.op));
      if (read.unattributed) ++out_.unattributed;
    }
    out_.reads += found.size();
    const Statement& statement = *s.of;
    finds_all = statement.kind != "select" ||
                (statement.keyed && s.read.size() == 1 && out_.unattributed == left_out);
    if (auto query = query_of(s, found)) {
      found.insert(found.begin(), std::move(*query));
      finds_all = true;
    }
    return found;
  }

  RowTxn client_txn(const SeenTxn& seen, const Logged* logged) {
    count_statements(seen);
    if (!seen.isolation.empty() && acts(seen)) acting_.insert(seen.isolation);
    Description description(seen, closed_);
    Origins origins;
    std::vector<std::vector<RowOperation>> changes;
    if (logged != nullptr) {
      origins = origins_of(seen, logged->changes);
      changes = changes_of(*logged, origins.depends);
    }
    RowTxn txn{.session = seen.held > 0 ? seen.name() : std::to_string(seen.id.session),
               .name = seen.name(),
               .status = seen.status,
               .begin = seen.begin,
               .end = seen.end};
    size_t next = 0;
    std::set<std::string> changed;
    bool in_order = true;
    for (size_t n = 0; n < seen.statements.size(); ++n) {
      const SeenStatement& s = seen.statements[n];
      bool finds_all = true;
      for (RowOperation& op : reads_of(s, seen, finds_all)) {
        in_order = in_order && !changed.contains(op.key);
        op.time = s.time;
        txn.ops.push_back(std::move(op));
      }
      description.look_at(s, finds_all);
      for (; next < origins.statements.size() && origins.statements[next] == n; ++next)
        for (RowOperation& op : changes[next]) {
          changed.insert(op.key);
          op.time = s.time;
          txn.ops.push_back(std::move(op));
        }
    }
    for (; next < changes.size(); ++next)
      for (RowOperation& op : changes[next]) txn.ops.push_back(std::move(op));
    if (!in_order) put_changes_last(txn.ops);
    if (logged != nullptr) {
      if (origins.statements.empty()) description.miss_origins();
      if (txn.status != TxnStatus::committed) {
        ++out_.settled;
        txn.status = TxnStatus::committed;
      }
      if (!seen.isolation.empty()) ++out_.isolations[seen.isolation];
    }
    description.end(logged != nullptr);
    txn.meta = description.meta(programs_);
    if (!acts(seen) || seen.held > 0) return txn;
    if (logged == nullptr && txn.status == TxnStatus::committed && has_changed_rows(seen))
      ++out_.unnumbered;
    ++(txn.status == TxnStatus::committed ? out_.committed
       : txn.status == TxnStatus::aborted ? out_.aborted
                                          : out_.unknown);
    return txn;
  }

  // By what the server answered.
  bool has_changed_rows(const SeenTxn& txn) const {
    return txn.may_have_number && std::ranges::any_of(txn.statements, [&](const SeenStatement& s) {
             return !s.failed && s.rows > 0 && !s.of->changed.empty();
           });
  }

  RowTxn foreign_txn(const Logged& logged, Interval when) {
    ++out_.foreign;
    Json meta = Json::object();
    meta["foreign"] = true;
    meta["unrecorded"] = {{"reads", Json::array({"*"})},
                          {"why", Json::array({"another client's, known only from the log"})}};
    const std::string name = versions_.name(logged.log);
    RowTxn txn{.session = name, .name = name, .begin = when, .end = when, .meta = meta.dump()};
    for (std::vector<RowOperation>& ops : changes_of(logged, {}))
      for (RowOperation& op : ops) txn.ops.push_back(std::move(op));
    return txn;
  }

  void count_statements(const SeenTxn& txn) {
    for (const SeenStatement& s : txn.statements) {
      const Statement& statement = *s.of;
      if (!statement.reads || s.failed) continue;
      const std::string_view missed = missed_of(statement, s);
      if (missed.empty()) {
        ++out_.full;
        continue;
      }
      const bool some = statement.tells || !statement.changed.empty();
      ++(some ? out_.partly : out_.unread);
      ++out_.missed[std::string(missed)];
    }
  }

  RowSink& history_;
  JoinListener* listener_;
  TraceReader reader_;
  Seen& seen_;
  Versions versions_;
  Joined out_;
  bool closed_ = false;  // everything committed before the joined transactions is in the log
  std::optional<int64_t> before_;  // the point before
  // At which moments everybody saw which part of the log.
  std::deque<std::pair<int64_t, size_t>> seen_by_all_;
  std::unordered_map<uint32_t, ClientTxn> of_number_;
  std::vector<SeenTxn> clients_;     // that are not joined yet
  std::map<ClientTxn, Logged> own_;  // of these
  std::vector<Logged> foreign_;      // not joined yet
  std::set<std::string> acting_;     // isolations
  ProgramNames programs_;
};

}  // namespace

Result<Joined> join(formats::Input& trace, RowSink& history, JoinListener* listener) {
  Joining joining(history, listener);
  formats::Input::Line line;
  for (;;) {
    const auto more = trace.next_line(line);
    if (!more.ok()) return more.error();
    if (!*more || !line.terminated) break;  // cut off
    const Json json = Json::parse(line.text);
    if (!json.is_object()) return trace.error("expected an object", 1);
    if (Status s = joining.take(json); !s.ok()) return trace.error(s.error().message, 1);
  }
  return joining.finish();
}

}  // namespace assay::internal::record
