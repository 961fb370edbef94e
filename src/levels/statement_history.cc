// Statement snapshots as serializability: each statement and each commit becomes a transaction.
//
// A statement reads what was committed before it, so its reads of keys that its transaction has not
// locked become one transaction. The writes become another, the commit, together with all
// operations on a key from the statement that locks it: until the commit nothing else can change
// the key. Session order keeps the parts of a transaction in their places.
//
//   A { r(x,0) w(y,1) }              A1 { r(x,0) }  A { w(y,1) }
//   B { w(y,2) r(x,0) w(x,3) }       B1 { r(x,0) w(lock y,B) }  B { r(lock y,B) w(y,2) w(x,3) }
//
// No other transaction may lock y between B1 and B. So B1 writes a key that stands for the lock,
// B reads it again, and every other writer of y writes it, too: a transaction that locked y in
// between would be seen. What is locked after the last such read is locked at the commit, in the
// same way as far as others lock it earlier: A writes the lock of y.
//
//   the history gives statement snapshots iff its parts are serializable, sessions in order
//
// An order of the parts is an order of statements and commits. A cycle of parts becomes a cycle of
// transactions, as each edge between parts is one between their transactions: an edge between parts
// of one transaction is left out, and one of a lock is an order of two writers of the key. Only an
// anti-dependency of a commit (a key that was read and locked by one statement) leaves its
// transaction too early; then the reader also precedes the other writer in version order, or the
// two would close a cycle, and that order replaces the edge.
//
// Parts of a transaction of unknown outcome take effect together: each reads a key that the one
// before it wrote.
//
// Cost: linear; for a transaction with both queries and locks, their product. The idea is that of
// the reductions of Biswas and Enea (OOPSLA 2019), theorems 4.8 and 4.10.

#include "levels/statement_history.h"

#include <algorithm>
#include <charconv>
#include <deque>
#include <iterator>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "history/accesses.h"
#include "history/copy.h"
#include "history/key_order.h"
#include "history/statements.h"

namespace assay::internal {
namespace {

bool covers(const History& h, OpId range, KeyId key) {
  const std::span<const uint32_t> bounds = h.operands(range).first(2);
  return (bounds[0] == kNone || !key_less(h.key(key), h.key(bounds[0]))) &&
         (bounds[1] == kNone || !key_less(h.key(bounds[1]), h.key(key)));
}

// The keys that a transaction locks, in the order of its statements.
class Locks {
 public:
  explicit Locks(const History& h)
      : h_(h), statement_(h.key_count()), locked_at_(h.key_count(), 0) {}

  void look_at(TxnId t) {
    ++look_;
    keys_.clear();
    statements_.clear();
    for (OpId at = h_.first_op(t); at < h_.end_op(t);) {
      const OpId end = end_of_statement(h_, t, at);
      for (; at < end; ++at) {
        const Operation op = h_.op(at);
        if (!installs_version(op) || locked_at_[op.key] == look_) continue;
        locked_at_[op.key] = look_;
        statement_[op.key] = static_cast<uint32_t>(statements_.size());
        keys_.push_back(op.key);
      }
      statements_.push_back(end);
    }
  }

  // The ends of its statements.
  const std::vector<OpId>& statements() const { return statements_; }
  // The keys in the order in which they are locked.
  const std::vector<KeyId>& keys() const { return keys_; }
  uint32_t statement_of(KeyId key) const { return statement_[key]; }
  // Whether the key is locked in that statement or before it.
  bool locked(KeyId key, uint32_t statement) const {
    return locked_at_[key] == look_ && statement_[key] <= statement;
  }
  // Whether an operation of the statement is on a key that is locked by then.
  bool waits(OpId op, uint32_t statement) const {
    return !is_range(h_.op(op)) && locked(h_.op(op).key, statement);
  }
  // Whether a query of the statement covers such a key.
  bool cuts(OpId op, uint32_t statement) const {
    return is_range(h_.op(op)) && std::ranges::any_of(keys_, [&](KeyId key) {
             return locked(key, statement) && covers(h_, op, key);
           });
  }

 private:
  const History& h_;
  uint64_t look_ = 0;
  std::vector<OpId> statements_;
  std::vector<KeyId> keys_;
  std::vector<uint32_t> statement_;  // indexed by key
  std::vector<uint64_t> locked_at_;  // indexed by key: the last look at which it was locked
};

// The times of one of the parts into which a transaction is cut. They only tell where a search
// begins, and those of a session must not contradict each other.
std::pair<Interval, Interval> times_of(const History& h, TxnId t, size_t part, size_t parts) {
  const Interval begin = h.begin_time(t), end = h.end_time(t);
  if (parts == 1) return {begin, end};
  if (!begin.known() || !end.known() || !Interval::is_moment(begin.response) ||
      begin.response > end.request)
    return {};
  const auto at = [&](size_t place) {
    const int64_t length = end.request - begin.response, n = static_cast<int64_t>(parts);
    const auto i = static_cast<int64_t>(place);
    return Interval::point(begin.response + length / n * i + length % n * i / n);
  };
  return {part == 0 ? begin : at(part), part + 1 == parts ? end : at(part + 1)};
}

}  // namespace

class StatementSplitter {
 public:
  explicit StatementSplitter(StatementHistory& to) : to_(to), h_(to.whole_), locks_(h_) {}

  Status run() {
    find_locks();
    choose_prefix();
    copy_settings(h_, out_);
    for (TxnId t = 0; t < h_.txn_count(); ++t)
      if (Status s = h_.status(t) == TxnStatus::aborted ? copy(t) : split(t); !s.ok()) return s;
    OrderCopier copier;
    for (const KnownOrder& order : h_.known_orders())
      out_.known_order(h_.key(order.key), copier.of(h_, order));
    Result<History> history = std::move(out_).finish();
    if (!history.ok()) return history.error();
    to_.split_ = std::move(*history);
    return Ok{};
  }

 private:
  // The statement of the last operation that need not wait for the commit; kNone if there is none.
  uint32_t last_that_reads(TxnId t) const {
    uint32_t last = kNone;
    OpId at = h_.first_op(t);
    for (uint32_t s = 0; s < locks_.statements().size(); ++s)
      for (; at < locks_.statements()[s]; ++at)
        if (!locks_.waits(at, s)) last = s;
    return last;
  }

  // Finds the keys that some transaction locks before its commit, and others write.
  void find_locks() {
    lock_.assign(h_.key_count(), 0);
    std::vector<uint8_t> writers(h_.key_count(), 0);
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      if (h_.status(t) == TxnStatus::aborted) continue;
      locks_.look_at(t);
      const uint32_t last = last_that_reads(t);
      for (const KeyId key : locks_.keys()) {
        writers[key] = static_cast<uint8_t>(std::min(writers[key] + 1, 2));
        if (last != kNone && locks_.statement_of(key) <= last) lock_[key] = 1;
      }
    }
    for (KeyId key = 0; key < h_.key_count(); ++key)
      lock_[key] = static_cast<uint8_t>(lock_[key] != 0 && writers[key] > 1);
  }

  // Chooses a prefix with which new keys come after all others, so no query covers them.
  void choose_prefix() {
    for (KeyId key = 0; key < h_.key_count(); ++key)
      if (last_key_ == kNone || key_less(h_.key(last_key_), h_.key(key))) last_key_ = key;
    if (last_key_ != kNone) to_.prefix_ = h_.key(last_key_).text;
    to_.prefix_ += '\'';
  }

  void add(OpId op) {
    to_.op_.push_back(op);
    copier_.operation(h_, op);
  }
  // Adds an operation before its transaction has written the key. If the read is stated to be from
  // its own transaction, nothing is stated here, where the commit, which has that name, is another
  // transaction.
  void add_before_write(OpId op, TxnId t) {
    to_.op_.push_back(op);
    copier_.operation(h_, op, h_.op(op).kind, h_.operands(op), h_.stated_source(op) != t);
  }
  void add_range(OpId op, KeyId lo, KeyId hi, const Selected& selected) {
    to_.op_.push_back(op);
    copier_.range(h_, op, lo, hi == kNone ? last_key_ : hi, selected);
  }
  // Adds what a query says about the keys within these bounds.
  void add_piece(OpId op, KeyId lo, KeyId hi) {
    const auto within = [&](KeyId key) {
      return (lo == kNone || !key_less(h_.key(key), h_.key(lo))) &&
             (hi == kNone || !key_less(h_.key(hi), h_.key(key)));
    };
    const auto row_within = [&](VersionId row) { return within(h_.version_key(row)); };
    Selected selected = h_.selected(op);
    std::vector<VersionId> rows, passed;
    std::vector<KeyId> matched;
    std::ranges::copy_if(selected.rows, std::back_inserter(rows), row_within);
    std::ranges::copy_if(selected.passed, std::back_inserter(passed), row_within);
    std::ranges::copy_if(selected.matched, std::back_inserter(matched), within);
    selected.rows = rows;
    selected.passed = passed;
    selected.matched = matched;
    add_range(op, lo, hi, selected);
  }
  // Adds a query without the keys that are locked.
  void add_around_locks(OpId op, uint32_t statement) {
    const std::span<const uint32_t> bounds = h_.operands(op);
    if (!locks_.cuts(op, statement)) return add_range(op, bounds[0], bounds[1], h_.selected(op));
    if (!keys_) keys_.emplace(h_);
    const std::span<const KeyId> keys = keys_->between(bounds[0], bounds[1]);
    for (size_t first = 0; first < keys.size();) {
      size_t end = first;
      while (end < keys.size() && !locks_.locked(keys[end], statement)) ++end;
      if (end > first)
        add_piece(op, first == 0 ? bounds[0] : keys[first],
                  end == keys.size() ? bounds[1] : keys[end - 1]);
      first = end + 1;
    }
  }
  void add_before_commit(OpId op, uint32_t statement) {
    if (locks_.waits(op, statement)) return add(op);
    if (!locks_.cuts(op, statement)) return;
    for (const KeyId key : locks_.keys())
      if (locks_.locked(key, statement) && covers(h_, op, key)) add_piece(op, key, key);
  }
  void add(const Op& op) {
    to_.op_.push_back(kNone);
    out_.add(op);
  }

  Status copy(TxnId t) {
    to_.parts_.push_back({t, 0, false, false});
    copier_.begin(h_, t);
    for (OpId op = h_.first_op(t); op < h_.end_op(t); ++op)
      if (!is_range(h_.op(op))) add(op);
    return out_.end_txn();
  }

  Status split(TxnId t) {
    locks_.look_at(t);
    std::vector<uint32_t> reading;  // statements with a separate part
    OpId at = h_.first_op(t);
    bool waiting = at == h_.end_op(t);
    for (uint32_t s = 0; s < locks_.statements().size(); ++s)
      for (; at < locks_.statements()[s]; ++at)
        if (locks_.waits(at, s))
          waiting = true;
        else if (reading.empty() || reading.back() != s)
          reading.push_back(s);
    const size_t parts = reading.size() + (waiting ? 1 : 0);
    size_t locked = 0;
    for (size_t part = 0; part < reading.size(); ++part) {
      const uint32_t s = reading[part];
      begin(t, part, parts);
      to_.parts_.push_back({t, s + 1, part + 1 == parts, false});
      for (OpId op = s == 0 ? h_.first_op(t) : locks_.statements()[s - 1];
           op < locks_.statements()[s]; ++op)
        if (is_range(h_.op(op)))
          add_around_locks(op, s);
        else if (!locks_.waits(op, s))
          add_before_write(op, t);
      for (; locked < locks_.keys().size() && locks_.locked(locks_.keys()[locked], s); ++locked)
        write_lock(t, locks_.keys()[locked]);
      if (Status status = out_.end_txn(); !status.ok()) return status;
    }
    return waiting ? add_commit(t, parts, locked) : Ok{};
  }

  Status add_commit(TxnId t, size_t parts, size_t locked) {
    begin(t, parts - 1, parts);
    to_.parts_.push_back({t, static_cast<uint32_t>(locks_.statements().size()), true, true});
    for (size_t i = 0; i < locks_.keys().size(); ++i) {
      const KeyId key = locks_.keys()[i];
      if (i >= locked)
        write_lock(t, key);
      else if (lock_[key] != 0)
        add(Op::read(lock_name(key), owner(t)));
    }
    OpId at = h_.first_op(t);
    for (uint32_t s = 0; s < locks_.statements().size(); ++s)
      for (; at < locks_.statements()[s]; ++at) add_before_commit(at, s);
    return out_.end_txn();
  }

  // Begins a part; the last one has the transaction's name.
  void begin(TxnId t, size_t part, size_t parts) {
    const bool last = part + 1 == parts;
    texts_.clear();
    TxnHeader header;
    header.session = h_.session_name(h_.session(t));
    header.name = keep(h_.name(t) + (last ? "" : to_.prefix_ + std::to_string(part)));
    header.status = h_.status(t);
    std::tie(header.begin, header.end) = times_of(h_, t, part, parts);
    out_.begin_txn(header);
    if (h_.status(t) != TxnStatus::unknown) return;
    if (part > 0) add(Op::read(token(t, part - 1), owner(t)));
    if (!last) add(Op::write(token(t, part), owner(t)));
  }

  void write_lock(TxnId t, KeyId key) {
    if (lock_[key] != 0) add(Op::write(lock_name(key), owner(t)));
  }
  ValueView lock_name(KeyId key) { return ValueView::of(keep(to_.prefix_ + std::to_string(key))); }
  ValueView token(TxnId t, size_t part) {
    return ValueView::of(keep(to_.prefix_ + std::to_string(t) + ", " + std::to_string(part)));
  }
  ValueView owner(TxnId t) { return ValueView::of(keep(to_.prefix_ + std::to_string(t))); }
  // Keeps the text until the next transaction begins.
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  StatementHistory& to_;
  const History& h_;
  Locks locks_;
  HistoryBuilder out_;
  TxnCopier copier_{out_};
  std::vector<uint8_t> lock_;  // indexed by key
  KeyId last_key_ = kNone;
  std::optional<KeyOrder> keys_;  // set once a query is cut
  std::deque<std::string> texts_;
};

Result<StatementHistory> StatementHistory::of(const History& whole) {
  StatementHistory made(whole);
  if (Status s = StatementSplitter(made).run(); !s.ok()) return s.error();
  return made;
}

Order StatementHistory::in_whole(const Order& order) const {
  Order all;
  all.split = true;
  const auto part_of = [&](uint32_t event) -> const Part& {
    return parts_[order.split ? event / 2 : event];
  };
  std::vector<uint8_t> commits(whole_.txn_count(), 0);
  for (const uint32_t event : order.events)
    if (part_of(event).commits) commits[part_of(event).txn] = 1;
  std::vector<uint32_t> done(whole_.txn_count(), 0);
  for (const uint32_t event : order.events) {
    const Part& part = part_of(event);
    if (commits[part.txn] == 0) continue;         // of a transaction that need not take effect
    if (order.split && event % 2 == 1) continue;  // it comes right after its reads
    const uint32_t end = part.commits ? std::max(1u, count_statements(part.txn)) : part.statements;
    for (uint32_t& s = done[part.txn]; s < end; ++s) all.events.push_back(2 * part.txn);
    if (part.commits) all.events.push_back(2 * part.txn + 1);
  }
  return all;
}

uint32_t StatementHistory::count_statements(TxnId t) const {
  uint32_t count = 0;
  for (OpId at = whole_.first_op(t); at < whole_.end_op(t); ++count)
    at = end_of_statement(whole_, t, at);
  return count;
}

BadRead StatementHistory::in_whole(const BadRead& bad) const {
  return {bad.anomaly, whole_op(bad.read), whole_op(bad.other)};
}

// Turns the steps of a proof about parts into steps about their transactions.
class StatementProof {
 public:
  explicit StatementProof(const StatementHistory& of) : of_(of) {
    const History& split = of.split_;
    key_.assign(split.key_count(), kNone);
    for (OpId op = 0; op < split.op_count(); ++op)
      if (of.op_[op] != kNone && !is_range(split.op(op)))
        key_[split.op(op).key] = of.whole_.op(of.op_[op]).key;
    for (KeyId key = 0; key < split.key_count(); ++key) take_lock(key);
  }

  std::optional<Proof> translate(const Proof& proof) {
    for (const ProofStep& step : proof.steps) {
      const bool of_lists = step.kind == ProofStep::Kind::blocks;
      if (of_lists || step.kind == ProofStep::Kind::aggregate || is_lost_) return std::nullopt;
      if (step.kind == ProofStep::Kind::cycle)
        add_cycle(step);
      else
        add_clause(step);
    }
    if (is_lost_) return std::nullopt;
    return std::move(proof_);
  }

 private:
  void take_lock(KeyId key) {
    const std::string_view text = of_.split_.key(key).text;
    if (!text.starts_with(of_.prefix_)) return;
    KeyId locked = kNone;
    const auto [end, fault] =
        std::from_chars(text.data() + of_.prefix_.size(), text.data() + text.size(), locked);
    if (fault != std::errc() || end != text.data() + text.size()) return;
    key_[key] = locked;
    is_lock_.resize(key_.size());
    is_lock_[key] = true;
  }

  TxnId txn(TxnId part) const { return part == kNone ? kNone : of_.parts_[part].txn; }
  KeyId key(KeyId of_parts) const { return of_parts == kNone ? kNone : key_[of_parts]; }
  bool is_lock(KeyId key) const { return key < is_lock_.size() && is_lock_[key]; }

  // The operation of the part that sees what others left of the key; kNone if there is none. If
  // there are several, the proof is lost, as one alone does not say what all of them saw.
  OpId reader_of(TxnId part, KeyId key) {
    const History& h = of_.split_;
    OpId found = kNone;
    bool written = false;
    for (OpId i = h.first_op(part); i < h.end_op(part) && !written; ++i) {
      const Operation op = h.op(i);
      if (is_range(op) ? !covers(h, i, key) : op.key != key) continue;
      written = installs_version(op);
      if (observation_of(h, i).accepts == Accepts::any) continue;
      is_lost_ = is_lost_ || found != kNone;
      found = i;
    }
    return of_.whole_op(found);
  }

  // Translates a literal and adds it to a clause. False if the literal always holds: parts of a
  // transaction see each other's keys, and take effect together. That a part reads what it writes
  // itself never holds.
  bool add_literal(const Literal& literal, std::vector<Literal>& to) {
    const TxnId from = txn(literal.from), reader = txn(literal.to);
    Literal said = literal;
    said.from = from;
    said.to = reader;
    if (literal.kind == Literal::Kind::seen) {
      const bool own_key = key(literal.key) == kNone || is_lock(literal.key);
      if (own_key || from == reader) return own_key == literal.negated;
      said.op = reader_of(literal.to, literal.key);
    }
    said.key = key(literal.key);
    if (std::ranges::count(to, said) == 0) to.push_back(said);
    return std::ranges::count(to, !said) == 0;
  }

  // Adds a step and returns its number.
  uint32_t add(ProofStep step) {
    proof_.steps.push_back(std::move(step));
    return static_cast<uint32_t>(proof_.steps.size() - 1);
  }

  void add_clause(const ProofStep& step) {
    ProofStep copy;
    copy.kind = step.kind;
    bool says_something = true;
    if (step.kind == ProofStep::Kind::sources) reader_of(of_.split_.txn_of(step.source), step.key);
    for (const Literal& literal : step.clause)
      says_something = add_literal(literal, copy.clause) && says_something;
    for (const uint32_t hint : step.hints)
      if (step_[hint] != kNone) copy.hints.push_back(step_[hint]);
    const bool by_op = step.source_is_op || step.kind == ProofStep::Kind::sources;
    copy.source_is_op = step.source_is_op;
    copy.source = by_op ? of_.whole_op(step.source) : step.source;
    copy.key = key(step.key);
    step_.push_back(says_something ? add(std::move(copy)) : kNone);
  }

  // Adds a cycle and, if an anti-dependency leaves a commit, what follows from it and the orders
  // that replace it.
  void add_cycle(const ProofStep& step) {
    ProofStep cycle, derived;
    derived.kind = ProofStep::Kind::derived;
    bool says_something = true, may_be = true;
    for (const Literal& literal : step.given) {
      // A literal that never holds is left out.
      may_be = add_literal(!literal, derived.clause) && may_be;
      says_something = says_something && may_be;
    }
    for (const Literal& refuted : derived.clause) cycle.given.push_back(!refuted);
    for (const Edge& edge : step.cycle) {
      const bool anti = edge.kind == EdgeKind::anti_dependency;
      const TxnId before = anti ? edge.via : edge.from;
      if ((anti && before != kNone) || edge.kind == EdgeKind::write_dependency)
        says_something =
            add_literal(!Literal::order(before, edge.to), derived.clause) && says_something;
      if (txn(edge.from) == txn(edge.to)) continue;
      if (anti && !is_lock(edge.key) && of_.parts_[edge.from].writes && may_be)
        derived.hints.push_back(add_overwriting(edge, cycle.given));
      cycle.cycle.push_back(in_whole(edge));
    }
    uint32_t last = may_be ? add(std::move(cycle)) : kNone;
    if (may_be && !derived.hints.empty()) {
      derived.hints.push_back(last);
      if (says_something) last = add(std::move(derived));
    }
    step_.push_back(says_something ? last : kNone);
  }

  Edge in_whole(const Edge& edge) const {
    const TxnId from = txn(edge.from), to = txn(edge.to);
    switch (edge.kind) {
      case EdgeKind::read_dependency:
        return Edge::read_dependency(from, to, key(edge.key), of_.whole_op(edge.op));
      case EdgeKind::session:
        return Edge::session_order(from, to);
      case EdgeKind::anti_dependency:
        if (!is_lock(edge.key) && !of_.parts_[edge.from].writes)
          return Edge::anti_dependency(from, to, key(edge.key), txn(edge.via),
                                       of_.whole_op(edge.op));
        break;
      case EdgeKind::write_dependency:
      case EdgeKind::real_time:
      case EdgeKind::forced:
        break;
    }
    return Edge::write_dependency(from, to, key(edge.key));
  }

  // The reader locks the key with the statement that reads it. If a version later than the one that
  // was read overwrote the key before, the reader would come both before and after that. `given`:
  // assumptions that may be used.
  uint32_t add_overwriting(const Edge& edge, const std::vector<Literal>& given) {
    const TxnId reader = txn(edge.from), writer = txn(edge.to);
    ProofStep step;
    step.cycle = {
        Edge::anti_dependency(reader, writer, key(edge.key), txn(edge.via), of_.whole_op(edge.op)),
        Edge::write_dependency(writer, reader, key(edge.key))};
    for (const Literal& literal : given)
      if (literal.to == reader || (literal.kind == Literal::Kind::effect && literal.to == writer))
        step.given.push_back(literal);
    const auto [it, fresh] =
        overwriting_.try_emplace({reader, writer, txn(edge.via), key(edge.key), step.given},
                                 static_cast<uint32_t>(proof_.steps.size()));
    if (fresh) add(std::move(step));
    return it->second;
  }

  const StatementHistory& of_;
  std::vector<KeyId> key_;      // indexed by key of the parts
  std::vector<bool> is_lock_;   // indexed by key, too; keys beyond its end are not locks
  std::vector<uint32_t> step_;  // indexed by step about parts: the step that says the same
  std::map<std::tuple<TxnId, TxnId, TxnId, KeyId, std::vector<Literal>>, uint32_t>
      overwriting_;       // numbers of steps
  bool is_lost_ = false;  // whether something cannot be said about transactions
  Proof proof_;
};

std::optional<Proof> StatementHistory::in_whole(const Proof& proof) const {
  return StatementProof(*this).translate(proof);
}

}  // namespace assay::internal
