#include "lake/residue.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "history/accesses.h"
#include "history/projection.h"

namespace assay::internal::lake {
namespace {

using formats::Fact;

// A key and its value, for look-ups.
using Version =
    std::tuple<ValueView::Type, int64_t, std::string, ValueView::Type, int64_t, std::string>;
Version version_of(const Value& item, const Value& value) {
  return {item.type, item.integer, item.text, value.type, value.integer, value.text};
}

Version key_version(const ValueView& key) {
  return {key.type, key.integer, std::string(key.text), ValueView::Type::null, 0, ""};
}

// The facts of one transaction in one window.
struct Member {
  const Fact* first = nullptr;
  std::vector<const Fact*> facts;
};

class Window {
 public:
  Window(const LevelInfo& level, const ResidueOptions& options)
      : level_(level), options_(options), split_(level.events == EventModel::split) {}

  void add(const Fact& fact) {
    from_ = fact.window_from;
    to_ = fact.window_to;
    if (comes_after(fact)) {
      if (fact.reads) later_reads_.push_back(&fact);
      return;
    }
    const auto [at, fresh] = index_.try_emplace(fact.txn, members_.size());
    if (fresh) members_.push_back({&fact, {}});
    members_[at->second].facts.push_back(&fact);
  }

  // Adds the places of its events to `placed`; if there is no order, returns why.
  std::string order(std::map<std::string, Placed>& placed) {
    if (from_ == Interval::kUnknown || to_ == Interval::kUnknown) return "it has no bounds";
    if (members_.empty()) return "it is empty";
    std::ranges::stable_sort(members_, {}, [](const Member& m) { return m.first->place; });
    // First tried with the transactions of unknown outcome that have a place: a transaction outside
    // may have read from them.
    Result<CheckResult> checked = check_members(!options_.leave_out_unread);
    if (checked.ok() && checked->verdicts.front().outcome != Outcome::satisfied)
      checked = check_members(false);
    if (!checked.ok()) return checked.error().message;
    const CheckResult& result = *checked;
    const Verdict& verdict = result.verdicts.front();
    if (verdict.outcome == Outcome::violated)
      return "no order of its events continues the state before it";
    if (verdict.outcome == Outcome::unknown) return verdict.reason;
    return place(result.certificates[verdict.certificate].order, placed);
  }

 private:
  // Whether the transaction only reads the state after the window.
  bool comes_after(const Fact& f) const {
    const int64_t first = split_ ? f.snapshot_at : f.serial_at;
    return first != Interval::kUnknown && to_ != Interval::kUnknown && first > to_;
  }
  // A transaction without a place may have one here.
  bool inside(int64_t at) const { return at == Interval::kUnknown || (at >= from_ && at <= to_); }
  // Whether the transaction's reads, or its writes, are among the events of the window.
  bool reads_here(const Fact& f) const { return inside(split_ ? f.snapshot_at : f.serial_at); }
  bool writes_here(const Fact& f) const { return inside(split_ ? f.commit_at : f.serial_at); }

  Result<CheckResult> check_members(bool placed_took_effect) {
    const Result<History> history = with_what_stood_before(placed_took_effect);
    if (!history.ok()) return history.error();
    return check(*history, options_.check);
  }

  // The members' events in the window, after a transaction that wrote the versions that they read
  // from before it, and before one with the later reads. Each member reads a key of the first,
  // which puts the first one first at every level, and writes one that the last reads.
  Result<History> with_what_stood_before(bool placed_took_effect) {
    std::set<Version> written;
    for (const Member& m : members_)
      for (const Fact* f : m.facts) {
        if (f->contradicts) return bad_input("transaction " + f->txn + " contradicts itself");
        if (f->writes && writes_here(*f)) written.insert(version_of(f->item, f->written));
      }
    std::map<Version, const Fact*> before;  // by key, with no value
    for (const Member& m : members_)
      for (const Fact* f : m.facts) {
        if (!f->reads || !reads_here(*f) || written.contains(version_of(f->item, f->seen)))
          continue;
        const auto [at, fresh] = before.try_emplace(version_of(f->item, {}), f);
        if (!fresh && at->second->seen.view() != f->seen.view())
          return bad_input("its reads contradict each other about the state before it");
      }
    HistoryBuilder builder;
    builder.set_initial(options_.initial);
    TxnHeader header;
    header.session = ValueView::of(kBefore);
    int64_t earliest = Interval::kOpen;
    for (const Member& m : members_)
      if (m.first->begin.known()) earliest = std::min(earliest, m.first->begin.request);
    if (Interval::is_moment(earliest))
      header.begin = header.end = Interval::point(earliest - (earliest > Interval::kUnknown + 1));
    builder.begin_txn(header);
    builder.add(Op::write(ValueView::of(kBefore), ValueView::of(int64_t{1})));
    for (const auto& [item, f] : before)
      if (f->seen.type != ValueView::Type::null)
        builder.add(Op::write(f->item.view(), f->seen.view()));
    if (Status s = builder.end_txn(); !s.ok()) return s.error();
    for (const Member& m : members_) {
      header = {};
      header.session = m.first->session.view();
      header.name = m.first->txn;
      header.begin = m.first->begin;
      header.end = m.first->end;
      const bool placed = (split_ ? m.first->commit_at : m.first->serial_at) != Interval::kUnknown;
      if (m.first->unknown && !(placed && placed_took_effect))
        header.status = TxnStatus::unknown;
      else if (m.first->unknown && m.first->begin.known())
        header.end = Interval::from(m.first->begin.request);
      builder.begin_txn(header);
      builder.add(Op::read(ValueView::of(kBefore), ValueView::of(int64_t{1})));
      const std::string mark = mark_of(static_cast<size_t>(&m - members_.data()));
      if (!later_reads_.empty())
        builder.add(Op::write(ValueView::of(std::string_view(mark)), ValueView::of(int64_t{1})));
      std::vector<std::string> tombstones(m.facts.size());
      for (size_t i = 0; i < m.facts.size(); ++i) {
        const Fact& f = *m.facts[i];
        if (f.reads && reads_here(f)) builder.add(Op::read(f.item.view(), f.seen.view()));
        if (!f.writes || !writes_here(f)) continue;
        tombstones[i] = formats::tombstone_of(f);
        builder.add(formats::write_of(f, f.written, tombstones[i]));
      }
      if (Status s = builder.end_txn(); !s.ok()) return s.error();
    }
    if (Status s = add_later_reads(builder, written); !s.ok()) return s.error();
    return std::move(builder).finish();
  }

  // Adds a transaction after all committed ones, with the later reads of versions written in the
  // window.
  Status add_later_reads(HistoryBuilder& builder, const std::set<Version>& written) const {
    TxnHeader header;
    header.session = ValueView::of(kAfter);
    int64_t latest = Interval::kUnknown;
    for (const Member& m : members_)
      for (const Interval& when : {m.first->begin, m.first->end})
        if (when.known() && Interval::is_moment(when.response))
          latest = std::max(latest, when.response);
    if (latest < Interval::kOpen - 1 && latest != Interval::kUnknown)
      header.begin = header.end = Interval::point(latest + 1);
    builder.begin_txn(header);
    std::vector<std::string> marks;
    for (size_t i = 0; i < members_.size(); ++i)
      if (!members_[i].first->unknown) marks.push_back(mark_of(i));
    for (const std::string& mark : marks)
      builder.add(Op::read(ValueView::of(std::string_view(mark)), ValueView::of(int64_t{1})));
    std::set<Version> read;  // keys, with no value
    for (const Fact* f : later_reads_)
      if (written.contains(version_of(f->item, f->seen)) &&
          read.insert(version_of(f->item, {})).second)
        builder.add(Op::read(f->item.view(), f->seen.view()));
    return read.empty() ? Status(Ok{}) : builder.end_txn();
  }
  // The key which shows that a member committed.
  static std::string mark_of(size_t member) {
    return std::string(kAfter) + ": " + std::to_string(member);
  }

  // Places each event as early as the window, its own times and the previous event allow.
  std::string place(const Order& order, std::map<std::string, Placed>& placed) const {
    std::vector<Placed> places(members_.size());
    std::vector<bool> in_order(members_.size());  // all except unneeded ones of unknown outcome
    int64_t last = from_ - 1;
    for (const uint32_t event : order.events) {
      const TxnId txn = order.split ? event / 2 : event;
      if (txn == 0 || txn > members_.size()) continue;  // the added first and last transaction
      const Fact& f = *members_[txn - 1].first;
      in_order[txn - 1] = true;
      const bool commits = order.split && event % 2 == 1;
      if (!(commits || !order.split ? writes_here(f) : reads_here(f))) continue;
      int64_t at = std::max(from_, last + 1);
      const bool snapshot_of_the_past =
          order.split && !commits && level_.real_time == RealTime::into_commits;
      if (level_.real_time != RealTime::none && !snapshot_of_the_past)
        at = std::max(at, earliest_of(f, commits));
      if (at > to_) return "it has no room for an order of its events";
      last = at;
      Placed& to = places[txn - 1];
      if (!split_) to.serial_at = at;
      // An order of whole transactions may serve a level with two events: then the snapshot is
      // where the transaction commits.
      if (split_ && (!order.split || !commits)) to.snapshot_at = at;
      if (split_ && (!order.split || commits)) to.commit_at = at;
    }
    for (size_t i = 0; i < places.size(); ++i) {
      const std::string& txn = members_[i].first->txn;
      const auto [at, fresh] = placed.try_emplace(txn, places[i]);
      Placed& to = at->second;
      to.txn = txn;
      to.no_effect = !in_order[i] && (fresh || to.no_effect);
      if (to.serial_at == Interval::kUnknown) to.serial_at = places[i].serial_at;
      if (to.snapshot_at == Interval::kUnknown) to.snapshot_at = places[i].snapshot_at;
      if (to.commit_at == Interval::kUnknown) to.commit_at = places[i].commit_at;
    }
    return {};
  }
  static int64_t earliest_of(const Fact& f, bool commits) {
    return commits && f.end.known() ? f.end.request : f.begin.request;
  }

  static constexpr std::string_view kBefore = "before the window";
  static constexpr std::string_view kAfter = "after the window";

  const LevelInfo& level_;
  const ResidueOptions& options_;
  bool split_;
  std::unordered_map<std::string, size_t> index_;
  std::vector<Member> members_;
  std::vector<const Fact*> later_reads_;  // by transactions after the window
  int64_t from_ = Interval::kUnknown, to_ = Interval::kUnknown;
};

// Audits the table's rows of the members of all windows, each once: the projection
// (history/projection.h) to the observations that no transaction outside may explain. A row that
// contradicts itself stays in any case.
Audit audit_projection(std::vector<Fact> facts, std::vector<uint64_t> lines,
                       const std::string& name, const ResidueOptions& options) {
  std::set<std::pair<std::string, Version>> known;
  std::set<std::pair<std::string, Version>> outside;
  std::vector<Fact> kept;
  std::vector<uint64_t> kept_lines;
  for (size_t i = 0; i < facts.size(); ++i) {
    if (!known.emplace(facts[i].txn, version_of(facts[i].item, {})).second) continue;
    if (facts[i].explained_outside && !facts[i].contradicts)
      outside.emplace(facts[i].txn, version_of(facts[i].item, {}));
    kept.push_back(std::move(facts[i]));
    kept_lines.push_back(lines[i]);
  }
  Result<History> history = formats::history_of_facts(std::move(kept), kept_lines, nullptr);
  if (history.ok()) {
    std::vector<bool> keep(history->op_count(), true);
    for (OpId i = 0; i < history->op_count(); ++i)
      if (const Observation seen = observation_of(*history, i); seen.accepts == Accepts::equals)
        keep[i] = !outside.contains(
            {history->name(history->txn_of(i)), key_version(history->key(seen.key))});
    history->set_initial(options.initial);
    history = project(*history, keep);
  }
  if (!history.ok()) {
    Audit failed;
    failed.error = history.error();
    return failed;
  }
  AuditOptions auditing;
  auditing.check = options.check;
  return audit(std::move(*history), name, auditing);
}

}  // namespace

Result<Residue> decide_residue(std::vector<Fact> facts, std::vector<uint64_t> lines,
                               const std::string& name, const ResidueOptions& options) {
  const LevelInfo& level = level_info(options.check.levels.front());
  Residue residue;
  std::map<int64_t, Window> windows;
  std::map<std::string, Placed> placed;  // a transaction may be in several windows
  std::set<std::string> txns;
  for (const Fact& fact : facts) {
    windows.try_emplace(fact.window, level, options).first->second.add(fact);
    txns.insert(fact.txn);
  }
  residue.transactions = txns.size();
  residue.windows = windows.size();
  for (auto& [number, window] : windows)
    if (const std::string why = window.order(placed); !why.empty())
      residue.stuck.push_back("window " + std::to_string(number) + ": " + why);
  for (auto& [txn, places] : placed) residue.placed.push_back(std::move(places));
  if (residue.stuck.empty()) return residue;
  residue.projection = audit_projection(std::move(facts), std::move(lines), name, options);
  if (residue.projection.error) return *residue.projection.error;
  return residue;
}

}  // namespace assay::internal::lake
