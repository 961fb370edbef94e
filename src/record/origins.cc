// The log has the changes of a transaction in their order, and the tag of each statement says how
// many rows it changed. So the changes of one table and kind are dealt out to the statements that
// make such changes; if the numbers agree, each has its statement.
//
//   UPDATE t … → "UPDATE 2"    INSERT INTO u … → "INSERT 0 1"    UPDATE t … → "UPDATE 1"
//   log: t:1 t:2 u:7 t:1       statements 1, 1, 2, 3
//
// A trigger, a cascade, a function or COPY makes changes that no tag counts; MERGE and ON CONFLICT
// make some of two kinds; and what ROLLBACK TO has undone is in a tag and not in the log. Then the
// changes have no statements, and whether one of them depends on the version it replaced is stated
// only if all statements that may have made it agree.
//
// Cost: the changes, and for each table and kind the statements.
#include "record/origins.h"

#include <algorithm>
#include <string>
#include <utility>

namespace assay::internal::record {
namespace {

constexpr size_t kNoStatement = SIZE_MAX;

// Those of one table and kind.
class Dealing {
 public:
  Dealing(const SeenTxn& txn, const std::string& table, LoggedChange::Kind kind, size_t changes) {
    using Kind = LoggedChange::Kind;
    const std::string_view word = kind == Kind::insert   ? "insert"
                                  : kind == Kind::update ? "update"
                                                         : "delete";
    for (size_t i = 0; i < txn.statements.size(); ++i) {
      const SeenStatement& s = txn.statements[i];
      const Statement& statement = *s.of;
      if (s.failed || statement.changed != table) continue;
      const bool same = statement.kind == word;
      const bool other = statement.kind == "merge" || (statement.kind == "insert" && !same);
      if (!same && (!other || kind == Kind::remove || statement.keyed)) continue;
      any_ = true;
      depends_ = depends_ && statement.depends;
      counted_ = counted_ && same && each_.size() + s.rows <= changes;
      if (counted_ && same) each_.insert(each_.end(), s.rows, i);
    }
    counted_ = counted_ && each_.size() == changes && !txn.undoes;
  }

  size_t statement(size_t n) const { return counted_ ? each_[n] : kNoStatement; }
  bool all_depend() const { return any_ && depends_; }

 private:
  std::vector<size_t> each_;  // in the order of the statements
  bool any_ = false, counted_ = true, depends_ = true;
};

}  // namespace

Origins origins_of(const SeenTxn& txn, const LoggedChanges& logged) {
  std::map<std::pair<std::string, LoggedChange::Kind>, std::vector<size_t>> changes;
  for (size_t i = 0; i < logged.changes.size(); ++i)
    changes[{logged.changes[i].table, logged.changes[i].kind}].push_back(i);
  Origins of{std::vector<size_t>(logged.changes.size(), kNoStatement),
             std::vector<bool>(logged.changes.size())};
  for (const auto& [what, places] : changes) {
    const Dealing dealing(txn, what.first, what.second, places.size());
    for (size_t n = 0; n < places.size(); ++n) {
      const size_t s = of.statements[places[n]] = dealing.statement(n);
      if (what.second == LoggedChange::Kind::insert) continue;
      of.depends[places[n]] =
          s == kNoStatement ? dealing.all_depend() : txn.statements[s].of->depends;
    }
  }
  // The log has them in the order in which they were made.
  if (std::ranges::count(of.statements, kNoStatement) > 0 || !std::ranges::is_sorted(of.statements))
    of.statements.clear();
  return of;
}

}  // namespace assay::internal::record
