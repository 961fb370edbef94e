// Joins what clients read with what the log says was written.
//
// A row tells by which transaction it was written, as the 32 bits of that one's number, and the log has the numbers of all that
// wrote: the clients' own, which asked for theirs when they ended, and others'. A version is that of a key and a number (rule 32).
//
//   trace: 1-1 read accounts:7 of 739; 2-1 is number 740, read accounts:7 of 739      log: 739 accounts:7, 740 accounts:7
//   history: xid-739 w(accounts:7)   1-1 r(accounts:7) from xid-739   2-1 r(accounts:7) from xid-739, w(accounts:7)
//            order accounts:7: xid-739, 2-1
//
// A number of which the log has a write of this very key is that transaction's. Another that is older than the recording is that of
// what was there at first. Anything else is nobody's, such as a savepoint's or a table's that was written anew: that read is
// left out, for a read that is missing makes no violation. So is one of a version of which no client is known to be the writer, where
// the reader may have a number itself that it was not asked for: it may be its own. Rows that were not found are not written down: nothing rests on absence.
//
// What a transaction wrote stands with the statement that did it (origins.h), or at its end if that is not known; what it reads of its
// own is left out. A change read what it replaced where it depends on that, SET balance = balance - 5, and not where it only names a
// key (rule 35); what that was tells the order of the log. Transactions of the log that are no client's are sessions of their own, without times.
//
// Cost: linear in the trace, times the logarithm of the keys. Source: the rules of recording in docs/recording-an-application.md.
#include "record/join.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "base/json.h"
#include "collect/schedule/row_history.h"
#include "history/condition.h"
#include "record/description.h"
#include "record/origins.h"
#include "record/seen.h"

namespace assay::internal::record {
namespace {

using collect::schedule::RowHistory;
using collect::schedule::RowOperation;
using collect::schedule::RowTxn;

constexpr size_t kMostRowsOfQuery = 1000;   // longer answers are reads of their rows alone
constexpr uint32_t kLastSpecialNumber = 2;  // of rows that are older than numbers
constexpr size_t kNobody = SIZE_MAX;

// Numbers go round.
bool is_before(uint32_t number, uint32_t bound) {
  return number <= kLastSpecialNumber || static_cast<int32_t>(number - bound) < 0;
}

// A read of a row stands before what the transaction did to it; and of each change it is not known then when it was made.
void put_changes_last(std::vector<RowOperation>& ops) {
  const auto reads = [](const RowOperation& op) {
    return op.kind != RowOperation::Kind::write && op.kind != RowOperation::Kind::remove;
  };
  const auto changes = std::stable_partition(ops.begin(), ops.end(), reads);
  for (auto op = changes; op != ops.end(); ++op) op->time = {};
}

class Joining {
 public:
  explicit Joining(const Seen& seen) : seen_(seen), rows_(header()) {}

  Result<Joined> run() {
    bound_ = static_cast<uint32_t>(seen_.header["bound"].integer());
    name_all();
    note_installs();
    count_statements();
    std::vector<RowTxn> all;
    for (size_t i = 0; i < seen_.txns.size(); ++i) all.push_back(client_txn(i));
    for (size_t i = 0; i < seen_.log.size(); ++i)
      if (client_of_[i] == kNobody) all.push_back(foreign_txn(i));
    for (const std::string& key : there_at_first_) rows_.initial(key, first_row(key));
    // What is not known to have touched anything may have done so all the same.
    for (const RowTxn& txn : all)
      if (!txn.ops.empty() || txn.meta.find("\"unrecorded\":") != std::string::npos)
        if (Status s = rows_.add(txn); !s.ok()) return s.error();
    for (const auto& [key, installs] : installs_) {
      std::vector<RowHistory::Version> versions;
      for (const Install& i : installs) versions.push_back({names_[i.log], i.row, i.removed});
      rows_.order(key, versions);
    }
    out_.log_ended = seen_.end.has_value();
    if (seen_.end) rows_.complete(*seen_.end, "PostgreSQL's log, by test_decoding");
    auto history = rows_.finish();
    if (!history.ok()) return history.error();
    out_.history = std::move(*history);
    return std::move(out_);
  }

 private:
  // What a logged transaction left behind of a key.
  struct Install {
    size_t log = 0;  // which one
    bool removed = false;
    std::string row;
  };

  std::string header() const {
    Json meta = seen_.header.value("meta", Json::object());
    std::set<std::string> isolations;
    for (const SeenTxn& t : seen_.txns)
      if (!t.isolation.empty() && acts(t)) isolations.insert(t.isolation);
    if (!isolations.empty() && meta["database"].is_object())
      meta["database"]["isolation"] = fmt::format("{}", fmt::join(isolations, ", "));
    if (!seen_.end) meta["unfinished"] = true;
    return meta.dump();
  }

  // Whether it is about tables that are no system's.
  bool acts(const SeenTxn& txn) const {
    return std::ranges::any_of(
        txn.statements, [&](const SeenStatement& s) { return seen_.statements.at(s.q).reads; });
  }

  void name_all() {
    std::map<uint64_t, uint64_t> count;
    std::map<uint32_t, size_t> of_number;
    for (size_t i = 0; i < seen_.txns.size(); ++i) {
      const SeenTxn& t = seen_.txns[i];
      txn_names_.push_back(fmt::format("{}-{}", t.session, ++count[t.session]));
      if (t.number) of_number[*t.number] = i;
    }
    log_of_.assign(seen_.txns.size(), kNobody);
    for (size_t i = 0; i < seen_.log.size(); ++i) {
      const auto at = of_number.find(seen_.log[i].number);
      const bool own = at != of_number.end() && log_of_[at->second] == kNobody;
      client_of_.push_back(own ? at->second : kNobody);
      if (own) log_of_[at->second] = i;
      names_.push_back(own ? txn_names_[at->second] : fmt::format("xid-{}", seen_.log[i].number));
      by_number_[seen_.log[i].number] = i;
    }
  }

  // Which versions of each key there were, by the log.
  void note_installs() {
    for (size_t i = 0; i < seen_.log.size(); ++i)
      for (const LoggedChange& c : seen_.log[i].changes) {
        if (!c.old_key.empty()) install(c.old_key, {i, true, {}}, true);
        install(c.key, {i, c.kind == LoggedChange::Kind::remove, c.row},
                c.kind != LoggedChange::Kind::insert && c.old_key.empty());
      }
  }
  void install(const std::string& key, Install version, bool was_there) {
    std::vector<Install>& all = installs_[key];
    if (all.empty() && was_there) there_at_first_.insert(key);
    if (!all.empty() && all.back().log == version.log) all.pop_back();
    all.push_back(std::move(version));
  }
  // The version of a key that a logged transaction left behind; null if there is none.
  const Install* install_of(const std::string& key, size_t log) const {
    const auto at = installs_.find(key);
    if (at == installs_.end()) return nullptr;
    const auto version = std::ranges::lower_bound(at->second, log, {}, &Install::log);
    return version == at->second.end() || version->log != log ? nullptr : &*version;
  }

  // Rows that are not known by what they hold are known to have been there.
  std::string first_row(const std::string& key) const {
    const auto at = seen_.first_rows.find(key);
    if (at == seen_.first_rows.end() || !is_before(at->second.first, bound_) ||
        written_since(key, at->second.first))
      return std::string(collect::schedule::kUnseenRow);
    return at->second.second;
  }
  bool written_since(const std::string& key, uint32_t number) const {
    const auto by = by_number_.find(number);
    return by != by_number_.end() && install_of(key, by->second) != nullptr;
  }

  std::optional<RowOperation> read(const SeenVersion& version, size_t txn) {
    const auto by = by_number_.find(version.writer);
    const Install* const install =
        by == by_number_.end() ? nullptr : install_of(version.key, by->second);
    if (install != nullptr) {
      if (client_of_[by->second] == txn || install->removed) return std::nullopt;
      // It may be its own.
      if (seen_.txns[txn].may_have_number && client_of_[by->second] == kNobody) {
        ++out_.nobodys;
        return std::nullopt;
      }
      return RowOperation{
          .key = version.key, .row = install->row, .source = names_[by->second], .stated = true};
    }
    if (!is_before(version.writer, bound_)) {
      ++out_.nobodys;
      return std::nullopt;
    }
    there_at_first_.insert(version.key);
    return RowOperation{.key = version.key, .row = first_row(version.key), .stated = true};
  }

  // That no other row satisfied the condition: only where everything that anybody wrote is known.
  std::optional<RowOperation> query_of(const SeenStatement& s,
                                       const std::vector<RowOperation>& found) const {
    if (!s.where || !seen_.end || found.size() > kMostRowsOfQuery || seen_.anew.contains(s.table) ||
        found.size() != s.read.size() || (!s.where->empty() && !parse_condition(*s.where).ok()))
      return std::nullopt;
    RowOperation query{.kind = RowOperation::Kind::query, .table = s.table, .where = *s.where};
    for (const RowOperation& op : found) {
      if (!op.key.starts_with(s.table + ":")) return std::nullopt;
      query.rows.emplace_back(op.key, op.row);
    }
    return query;
  }

  // What a change replaced; nothing where nothing was there, or that is of this transaction.
  std::optional<RowOperation> replaced(const std::string& key, size_t log) {
    const std::vector<Install>& all = installs_.at(key);
    const auto at = std::ranges::lower_bound(all, log, {}, &Install::log);
    if (at == all.begin()) return RowOperation{.key = key, .row = first_row(key), .stated = true};
    const Install& before = *std::prev(at);
    if (before.removed) return std::nullopt;
    return RowOperation{
        .key = key, .row = before.row, .source = names_[before.log], .stated = true};
  }

  // What a transaction did to rows by each of its changes.
  std::vector<std::vector<RowOperation>> changes_of(const LoggedChanges& logged, size_t log,
                                                    const std::vector<bool>& depends) {
    std::vector<std::vector<RowOperation>> all;
    std::set<std::string> changed;
    for (size_t i = 0; i < logged.changes.size(); ++i) {
      const LoggedChange& c = logged.changes[i];
      std::vector<RowOperation>& ops = all.emplace_back();
      const std::string& before = c.old_key.empty() ? c.key : c.old_key;
      if (!depends.empty() && depends[i] && !changed.contains(before))
        if (auto op = replaced(before, log)) {
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
  std::vector<RowOperation> reads_of(const SeenStatement& s, size_t txn, bool& finds_all) {
    std::vector<RowOperation> found;
    const uint64_t left_out = out_.nobodys;
    for (const SeenVersion& version : s.read)
      if (auto op = read(version, txn)) found.push_back(std::move(*op));
    out_.reads += found.size();
    const Statement& statement = seen_.statements.at(s.q);
    finds_all = statement.kind != "select" ||
                (statement.keyed && s.read.size() == 1 && out_.nobodys == left_out);
    if (auto query = query_of(s, found)) {
      found.insert(found.begin(), std::move(*query));
      finds_all = true;
    }
    return found;
  }

  RowTxn client_txn(size_t i) {
    const SeenTxn& seen = seen_.txns[i];
    const size_t log = log_of_[i];
    Description description(seen_, seen);
    const Origins origins =
        log == kNobody ? Origins() : origins_of(seen, seen_.statements, seen_.log[log]);
    std::vector<std::vector<RowOperation>> changes;
    if (log != kNobody) changes = changes_of(seen_.log[log], log, origins.depends);
    RowTxn txn{.session = std::to_string(seen.session),
               .name = txn_names_[i],
               .status = seen.status,
               .begin = seen.begin,
               .end = seen.end};
    size_t next = 0;
    std::set<std::string> changed;
    bool in_order = true;
    for (size_t n = 0; n < seen.statements.size(); ++n) {
      const SeenStatement& s = seen.statements[n];
      bool finds_all = true;
      for (RowOperation& op : reads_of(s, i, finds_all)) {
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
    if (log != kNobody) {
      if (origins.statements.empty()) description.miss_origins();
      if (txn.status != TxnStatus::committed) {
        ++out_.settled;
        txn.status = TxnStatus::committed;
      }
      if (!seen.isolation.empty()) ++out_.isolations[seen.isolation];
    }
    description.end(log != kNobody);
    txn.meta = description.meta(programs_);
    if (!acts(seen)) return txn;
    if (log_of_[i] == kNobody && txn.status == TxnStatus::committed && has_changed_rows(seen))
      ++out_.unnumbered;
    ++(txn.status == TxnStatus::committed ? out_.committed
       : txn.status == TxnStatus::aborted ? out_.aborted
                                          : out_.unknown);
    return txn;
  }

  // By what the server answered.
  bool has_changed_rows(const SeenTxn& txn) const {
    return txn.may_have_number && std::ranges::any_of(txn.statements, [&](const SeenStatement& s) {
             return !s.failed && s.rows > 0 && !seen_.statements.at(s.q).changed.empty();
           });
  }

  RowTxn foreign_txn(size_t i) {
    ++out_.foreign;
    Json meta = Json::object();
    meta["foreign"] = true;
    meta["unrecorded"] = {
        {"reads", Json::array({"*"})},
        {"why", Json::array({"another client's, of which the log alone is known"})}};
    RowTxn txn{.session = names_[i], .name = names_[i], .meta = meta.dump()};
    for (std::vector<RowOperation>& ops : changes_of(seen_.log[i], i, {}))
      for (RowOperation& op : ops) txn.ops.push_back(std::move(op));
    return txn;
  }

  void count_statements() {
    for (const SeenTxn& txn : seen_.txns)
      for (const SeenStatement& s : txn.statements) {
        const Statement& statement = seen_.statements.at(s.q);
        if (!statement.reads || s.failed) continue;
        if (statement.missed.empty()) {
          ++out_.full;
          continue;
        }
        const bool some = statement.tells || !statement.changed.empty();
        ++(some ? out_.partly : out_.unread);
        ++out_.missed[statement.missed];
      }
  }

  const Seen& seen_;
  RowHistory rows_;
  Joined out_;
  uint32_t bound_ = 0;
  std::vector<std::string> txn_names_;    // of the clients' transactions
  std::vector<std::string> names_;        // of the log's
  std::vector<size_t> client_of_;         // by logged transaction
  std::vector<size_t> log_of_;            // by the clients'
  std::map<uint32_t, size_t> by_number_;  // logged transactions
  std::map<std::string, std::vector<Install>> installs_;
  std::set<std::string> there_at_first_;
  ProgramNames programs_;
};

}  // namespace

Result<Joined> join(std::string_view trace, const std::string& file) {
  auto seen = read_trace(trace, file);
  if (!seen.ok()) return seen.error();
  return Joining(*seen).run();
}

}  // namespace assay::internal::record
