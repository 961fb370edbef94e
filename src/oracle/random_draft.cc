#include "oracle/random_draft.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string_view>

#include "history/mini_transactions.h"
#include "history/predicates.h"
#include "oracle/random_condition.h"
#include "oracle/simulated_commits.h"

namespace assay::internal {
namespace {

using Isolation = RandomShape::Isolation;

// How often each isolation is drawn. The weak ones occur more often because by chance they usually
// behave correctly.
constexpr Isolation kDraws[] = {
    Isolation::serial,         Isolation::snapshot,       Isolation::snapshot,
    Isolation::prefix,         Isolation::prefix,         Isolation::stale_snapshot,
    Isolation::stale_snapshot, Isolation::causal,         Isolation::causal,
    Isolation::causal,         Isolation::arbitrary_set,  Isolation::arbitrary_set,
    Isolation::read_committed, Isolation::read_committed, Isolation::chaos,
};

// The simulated database and its clients.
class Simulation {
 public:
  Simulation(Rng& rng, const RandomShape& shape);
  Draft run();

 private:
  struct Client {
    int left = 0;      // transactions still to run
    int ops_left = 0;  // operations of the open transaction
    bool open = false;
    std::string_view mini;  // the rest of a mini-transaction's shape
    int keys[2] = {0, 0};   // the keys x and y of the mini-transaction
    DraftTxn txn;
    SimulatedCommits::Set view;
    SimulatedCommits::Set past;  // commits its session depends on
  };

  void draw_initials();
  void begin(int session);
  void step(int session);
  void finish(int session);
  void blur(DraftTxn& txn);
  int choose_key(const Client& client);
  DraftOp random_op(const Client& client);
  void plan_mini(Client& client);
  DraftOp next_mini_op(Client& client);
  DraftOp plain_read(const Client& client, int key);
  DraftOp rich_op(const Client& client, int key);
  std::string draw_condition();
  void select(const Client& client, DraftOp& range);
  void aggregate(const Client& client, DraftOp& range);
  DraftValue current(const Client& client, int key) const {
    return commits_.value(client.view, client.txn.ops, key, draft_.initial_of(key));
  }
  DraftValue fresh_value();
  void advance() { clock_ += shape_.exact ? 1 : static_cast<int64_t>(rng_.below(3)); }

  Rng& rng_;
  const RandomShape& shape_;
  Isolation isolation_;
  bool list_key_ = false;
  bool lists_, rich_, duplicates_, single_op_, mini_, timed_, intervals_, vague_;
  int keys_;
  double reads_, aborted_, unknown_;
  int64_t clock_ = 0;
  int64_t next_value_ = 1;
  std::vector<Client> clients_;
  SimulatedCommits commits_;
  Draft draft_;
};

Simulation::Simulation(Rng& rng, const RandomShape& shape)
    : rng_(rng),
      shape_(shape),
      isolation_(shape.isolation ? *shape.isolation : kDraws[rng.below(std::size(kDraws))]) {
  lists_ = rng.chance(shape.lists);
  rich_ = !lists_ && rng.chance(shape.rich);
  duplicates_ = rng.chance(shape.duplicates);
  single_op_ = rng.chance(shape.single_op);
  mini_ = shape.mini > 0 && !lists_ && !rich_ && rng.chance(shape.mini);
  timed_ = rng.chance(shape.timed);
  intervals_ = rng.chance(0.5) && !shape.exact;
  vague_ = timed_ && rng.chance(shape.vague);
  if (timed_ && rng.chance(shape.drifting)) draft_.clock_drift = rng.between(1, 4);
  keys_ =
      static_cast<int>(std::max(rng.between(1, shape.max_keys), rng.between(1, shape.max_keys)));
  list_key_ = shape.list_key > 0 && !lists_ && keys_ > 1 && rng.chance(shape.list_key);
  reads_ = 0.5 + 0.3 * rng.unit();
  aborted_ = rng.chance(0.3) ? 0.2 : 0;
  unknown_ = rng.chance(shape.unknown) ? 0.25 : 0;
  // Usually large, because small numbers rarely show an error.
  const auto mostly_large = [&](int most) {
    return std::max(rng.between(1, most), rng.between(1, most));
  };
  clients_.resize(static_cast<size_t>(mostly_large(shape.max_sessions)));
  const auto txns = mostly_large(shape.max_txns);
  for (int64_t t = 0; t < txns; ++t) ++clients_[rng.below(clients_.size())].left;
  if (!rich_ && !lists_ && rng.chance(0.5)) draft_.initial = 0;
  draft_.texts = rich_ && shape.predicates > 0 && rng.chance(shape.texts);
  if (shape.own_initial > 0 && !lists_ && rng.chance(shape.own_initial)) draw_initials();
}

// Draws initial values of some keys, perhaps of an unused one.
void Simulation::draw_initials() {
  for (int key = 0; key < keys_; ++key)
    if (rng_.chance(0.6))
      draft_.initials[key] =
          draft_.initial && rng_.chance(0.2) ? DraftValue() : DraftValue(fresh_value());
}

DraftValue Simulation::fresh_value() {
  if (duplicates_ && rng_.chance(0.5)) return static_cast<int64_t>(rng_.below(3));
  if (duplicates_ && draft_.initial && rng_.chance(0.1)) return draft_.initial;
  return next_value_++;
}

DraftOp Simulation::rich_op(const Client& client, int key) {
  DraftOp op{.kind = OpKind::remove, .key = key, .value = next_value_};
  switch (rng_.chance(shape_.predicates) ? 3 : rng_.below(4)) {
    case 0:
      ++next_value_;
      return op;
    case 1:
      op.kind = OpKind::insert;
      op.effect = !current(client, key);
      break;
    case 2:
      op.kind = OpKind::cas;
      op.expected = current(client, key);
      if (rng_.chance(0.3) && next_value_ > 1) op.expected = rng_.between(1, next_value_ - 1);
      op.effect = op.expected == current(client, key);
      break;
    default:
      op.kind = OpKind::range;
      op.value.reset();
      op.key = static_cast<int>(rng_.below(static_cast<uint64_t>(keys_ - list_key_)));
      op.hi = static_cast<int>(rng_.between(op.key, keys_ - 1 - list_key_));
      // Keys are compared by their names: k3 is less than x.
      if (op.key < 3 && op.hi > 2) op.hi = 2;
      if (rng_.chance(shape_.predicates)) {
        select(client, op);
        if (shape_.aggregates > 0 && rng_.chance(shape_.aggregates)) aggregate(client, op);
        return op;
      }
      for (int k = op.key; k <= op.hi; ++k) {
        if (const DraftValue v = current(client, k)) op.rows.emplace_back(k, v);
      }
      return op;
  }
  op.value = fresh_value();
  return op;
}

// Usually draws a condition that distinguishes the values, which are integers or texts; now and
// then an arbitrary one.
std::string Simulation::draw_condition() {
  const int64_t some = rng_.between(1, std::max<int64_t>(next_value_, 2));
  const auto constant = [&](int64_t number) {
    return draft_.texts ? "'" + spelled(number) + "'" : std::to_string(number);
  };
  if (rng_.chance(0.25))
    return random_condition(rng_, {.columns = {"value"}, .constant = [&] {
                                     const int64_t near = some + rng_.between(0, 2);
                                     return constant(near);
                                   }});
  const std::string value = constant(some);
  std::vector<std::string> wheres = {
      "value < " + value,
      "value >= " + value,
      "value = " + value,
      "value between " + value + " and " + constant(some + 2),
      "value != " + value + " and value > " + constant(1),
      "value in (" + constant(1) + ", " + constant(3) + ", " + value + ") or value is null",
      "value < " + value +
          (draft_.texts ? " or value = 1" : " or value = 'a'")};  // open if the first part is false
  if (draft_.texts)
    for (const char* not_or_nothing : {"", "", "not "})
      wheres.push_back("value " +
                       (not_or_nothing + ("like '" + random_pattern(rng_, spelled(some)) + "'")));
  return wheres[rng_.below(wheres.size())];
}

// Chooses some condition, and what the client sees through it.
void Simulation::select(const Client& client, DraftOp& range) {
  range.where = draw_condition();
  const Condition condition = *parse_condition(range.where);
  const bool updates = rng_.chance(0.2), passes = rng_.chance(0.2);
  for (int k = range.key; k <= range.hi; ++k) {
    const DraftValue v = current(client, k);
    const std::string text = v && draft_.texts ? spelled(*v) : "";
    const ValueView held =
        draft_.texts ? ValueView::of(std::string_view(text)) : ValueView::of(v.value_or(0));
    const Match match = v ? match_of(condition, held) : Match::no;
    if (match == Match::yes || (match == Match::open && rng_.chance(0.5))) {
      if (updates && rng_.chance(0.8))
        range.matched.push_back(k);
      else
        range.rows.emplace_back(k, v);
    } else if (passes && rng_.chance(0.8)) {
      range.passed.emplace_back(k, v);
    }
  }
  range.effect = !rng_.chance(0.1);
}

// Aggregates the rows that the query saw: `or value = 'a'` makes them uncertain.
void Simulation::aggregate(const Client& client, DraftOp& range) {
  std::vector<int64_t> seen;
  for (const auto& [key, value] : range.rows) seen.push_back(*value);
  for (const int k : range.matched) seen.push_back(*current(client, k));
  range.aggregate = static_cast<AggregateFunction>(rng_.below(4));
  if (draft_.texts) range.aggregate = AggregateFunction::count;  // of others nothing is certain
  const bool any = !seen.empty();
  switch (*range.aggregate) {
    case AggregateFunction::count:
      range.value = static_cast<int64_t>(seen.size());
      break;
    case AggregateFunction::sum:
      if (any) range.value = std::accumulate(seen.begin(), seen.end(), int64_t{0});
      break;
    case AggregateFunction::min:
      if (any) range.value = *std::min_element(seen.begin(), seen.end());
      break;
    case AggregateFunction::max:
      if (any) range.value = *std::max_element(seen.begin(), seen.end());
      break;
  }
  range.rows.clear();
  range.passed.clear();
  range.matched.clear();
  range.effect = true;
}

// Chooses a key for the next operation; seldom one that the transaction has used already.
int Simulation::choose_key(const Client& client) {
  int key = 0;
  for (int attempt = 0; attempt < 3; ++attempt) {
    key = static_cast<int>(rng_.below(static_cast<uint64_t>(keys_)));
    const auto used = [key](const DraftOp& op) { return op.key == key; };
    if (std::none_of(client.txn.ops.begin(), client.txn.ops.end(), used)) break;
  }
  return key;
}

DraftOp Simulation::random_op(const Client& client) {
  const int key = choose_key(client);
  const bool read = rng_.chance(reads_);
  if (lists_ || (list_key_ && key == keys_ - 1)) {
    DraftOp op{.kind = read ? OpKind::read_list : OpKind::append, .key = key};
    if (read) {
      op.list = commits_.list(client.view, client.txn.ops, key);
    } else {
      op.value = duplicates_ && rng_.chance(0.3) ? int64_t{1} : next_value_++;
    }
    return op;
  }
  if (rich_ && rng_.chance(0.4)) return rich_op(client, key);
  if (!read) return {.kind = OpKind::write, .key = key, .value = fresh_value()};
  return plain_read(client, key);
}

DraftOp Simulation::plain_read(const Client& client, int key) {
  DraftOp op{.kind = OpKind::read, .key = key, .value = current(client, key)};
  if (isolation_ == Isolation::chaos) {
    Client stranger = client;
    stranger.view = commits_.some(rng_);
    op.value = current(stranger, key);
  }
  return op;
}

void Simulation::plan_mini(Client& client) {
  const auto shapes = mini_shapes();
  do {
    client.mini = shapes[rng_.below(shapes.size())];
  } while (keys_ == 1 && client.mini.find('y') != std::string_view::npos);
  client.ops_left = static_cast<int>(client.mini.size() / 2);
  const auto keys = static_cast<uint64_t>(keys_);
  client.keys[0] = static_cast<int>(rng_.below(keys));
  client.keys[1] = static_cast<int>((client.keys[0] + 1 + rng_.below(keys - 1)) % keys);
}

DraftOp Simulation::next_mini_op(Client& client) {
  const bool reads = client.mini[0] == 'r';
  const int key = client.keys[client.mini[1] - 'x'];
  client.mini.remove_prefix(2);
  if (reads) return plain_read(client, key);
  return {.kind = OpKind::write, .key = key, .value = fresh_value()};
}

void Simulation::begin(int session) {
  Client& client = clients_[session];
  client.open = true;
  --client.left;
  client.ops_left = single_op_ ? 1
                               : static_cast<int>(std::max(rng_.between(1, shape_.max_ops),
                                                           rng_.between(1, shape_.max_ops)));
  client.txn = {};
  if (mini_) plan_mini(client);
  client.txn.session = session;
  client.txn.begin = Interval::point(clock_);
  if (intervals_) advance();
  client.view = commits_.view(isolation_, client.past, rng_);
  if (intervals_) advance();
  client.txn.begin.response = clock_;
  advance();
}

void Simulation::finish(int session) {
  Client& client = clients_[session];
  DraftTxn& txn = client.txn;
  txn.end.request = clock_;
  if (intervals_) advance();
  const bool locks = isolation_ == Isolation::snapshot || isolation_ == Isolation::stale_snapshot;
  const bool lost =
      locks && (shape_.exact || rng_.chance(0.9)) && commits_.conflict(client.view, txn.ops);
  if (lost || rng_.chance(aborted_)) txn.status = TxnStatus::aborted;
  if (rng_.chance(unknown_)) txn.status = TxnStatus::unknown;
  if (!lost && txn.status != TxnStatus::aborted &&
      (txn.status == TxnStatus::committed || rng_.chance(0.6))) {
    commits_.add(client.view | client.past, txn.ops, client.past);
  }
  if (intervals_) advance();
  txn.end.response = clock_;
  if (txn.status == TxnStatus::unknown && rng_.chance(0.9)) txn.end = {};
  advance();
  if (vague_) blur(txn);
  if (!timed_) txn.begin = txn.end = {};
  client.open = false;
  draft_.txns.push_back(std::move(txn));
}

// Reduces the times to what a client knows that saw only a request and a response, perhaps around
// more than this transaction.
void Simulation::blur(DraftTxn& txn) {
  const bool unknown = txn.status == TxnStatus::unknown;
  const auto wider = [&] { return static_cast<int64_t>(rng_.below(2) * rng_.below(4)); };
  const Interval whole = {txn.begin.request - wider(),
                          txn.end.known() ? txn.end.response + wider() : Interval::kOpen};
  txn.begin = whole;
  if (!unknown) txn.end = whole;
}

void Simulation::step(int session) {
  Client& client = clients_[session];
  if (!client.open) {
    begin(session);
  } else if (client.ops_left > 0) {
    if (isolation_ == Isolation::read_committed) client.view = commits_.all();
    client.txn.ops.push_back(mini_ ? next_mini_op(client) : random_op(client));
    --client.ops_left;
    if (rng_.chance(0.3)) advance();
  } else {
    finish(session);
  }
}

Draft Simulation::run() {
  for (;;) {
    std::vector<int> busy;
    for (int s = 0; s < static_cast<int>(clients_.size()); ++s) {
      if (clients_[s].open || clients_[s].left > 0) busy.push_back(s);
    }
    if (busy.empty()) return std::move(draft_);
    const int session = busy[rng_.below(busy.size())];
    do {
      step(session);
    } while (isolation_ == Isolation::serial && clients_[session].open);
  }
}

// Returns the initial value or the last value that some transaction wrote to the key; now and then
// one that was overwritten, aborted or never written.
DraftValue some_value(Rng& rng, const Draft& draft, int key) {
  std::vector<DraftValue> values = {draft.initial};
  const bool any = rng.chance(0.1);
  for (const DraftTxn& t : draft.txns) {
    if (t.status == TxnStatus::aborted && !any) continue;
    DraftValue last;
    for (const DraftOp& op : t.ops) {
      if (op.key != key || op.kind != OpKind::write) continue;
      if (any) values.push_back(op.value);
      last = op.value;
    }
    if (last) values.push_back(last);
  }
  if (rng.chance(0.02)) return int64_t{99};
  return values[rng.below(values.size())];
}

void mutate_op(Rng& rng, Draft& draft, DraftOp& op) {
  switch (op.kind) {
    case OpKind::read:
      op.value = some_value(rng, draft, op.key);
      break;
    case OpKind::cas:
    case OpKind::insert:
      op.effect = !op.effect;
      break;
    case OpKind::read_list:
      if (!op.list.empty() && rng.chance(0.7)) {
        op.list.erase(op.list.begin() + static_cast<int64_t>(rng.below(op.list.size())));
      }
      if (op.list.size() > 1 && rng.chance(0.3)) std::swap(op.list[0], op.list[1]);
      break;
    case OpKind::range:
      if (op.aggregate && op.value)
        ++*op.value;
      else if (!op.rows.empty())
        op.rows.pop_back();
      else if (!op.passed.empty())
        op.passed.pop_back();
      else if (!op.matched.empty())
        op.matched.pop_back();
      break;
    default:
      break;
  }
}

void mutate(Rng& rng, const RandomShape& shape, Draft& draft) {
  DraftTxn& txn = draft.txns[rng.below(draft.txns.size())];
  if (txn.ops.empty()) return;
  const size_t i = rng.below(txn.ops.size());
  const auto same_key = [&](const DraftOp& op) { return op.key == txn.ops[i].key; };
  switch (rng.below(12)) {
    case 0:
      txn.status = static_cast<TxnStatus>(rng.below(shape.unknown > 0 ? 3 : 2));
      if (txn.status == TxnStatus::committed && !txn.end.known()) txn.begin = {};
      break;
    case 1:
      if (i > 0 && !same_key(txn.ops[i - 1])) std::swap(txn.ops[i], txn.ops[i - 1]);
      break;
    case 2:
      if (rng.chance(0.2)) txn.begin = txn.end = {};
      break;
    default:
      // Usually the first access of a key: later ones must agree with it.
      if (std::any_of(txn.ops.begin(), txn.ops.begin() + static_cast<int64_t>(i), same_key) &&
          rng.chance(0.9)) {
        return;
      }
      mutate_op(rng, draft, txn.ops[i]);
      break;
  }
}

// A value that a transaction wrote.
struct Written {
  int64_t value;
  int txn;
};

void push_order(Rng& rng, Draft& draft, int key, const std::vector<Written>& line, double named) {
  DraftOrder order{key, {}, {}};
  const bool names = named > 0 && rng.chance(named);
  for (const Written& w : line) {
    order.values.push_back(w.value);
    if (names) order.txns.push_back(w.txn >= 0 && rng.chance(0.8) ? w.txn : -1);
  }
  if (names && !line.empty() && rng.chance(0.03))
    order.txns[rng.below(line.size())] = static_cast<int>(rng.below(draft.txns.size()));
  draft.orders.push_back(std::move(order));
}

// States the last versions that transactions wrote, usually in the order in which these ended.
void state_orders(Rng& rng, Draft& draft, double named) {
  std::map<int, std::vector<Written>> written;
  for (size_t t = 0; t < draft.txns.size(); ++t) {
    if (draft.txns[t].status == TxnStatus::aborted) continue;
    std::map<int, int64_t> last;
    for (const DraftOp& op : draft.txns[t].ops) {
      const bool writes = changes_data(op.kind) && op.kind != OpKind::append && op.effect;
      if (writes && op.value) last[op.key] = *op.value;
    }
    for (const auto& [key, value] : last) written[key].push_back({value, static_cast<int>(t)});
  }
  for (auto& [key, values] : written) {
    if (values.size() > 1 && rng.chance(0.3)) {
      const size_t i = rng.below(values.size() - 1);
      std::swap(values[i], values[i + 1]);
    }
    push_order(rng, draft, key, values, named);
  }
}

// States a line or two about each key, with versions as they were written, some of them left out or
// in another place.
void state_loose_orders(Rng& rng, Draft& draft, double named) {
  std::map<int, std::vector<Written>> written;
  for (size_t t = 0; t < draft.txns.size(); ++t) {
    if (draft.txns[t].status == TxnStatus::aborted && rng.chance(0.9)) continue;
    for (const DraftOp& op : draft.txns[t].ops) {
      const bool writes = changes_data(op.kind) && op.effect;
      if (writes && op.value) written[op.key].push_back({*op.value, static_cast<int>(t)});
    }
  }
  for (const auto& [key, values] : written) {
    for (uint64_t lines = 1 + rng.below(2); lines > 0; --lines) {
      std::vector<Written> line;
      if (draft.initial && rng.chance(0.2)) line.push_back({*draft.initial, -1});
      for (const Written& value : values)
        if (rng.chance(0.7)) line.push_back(value);
      if (rng.chance(0.03)) line.push_back({99, -1});
      if (line.size() > 1 && rng.chance(0.3)) {
        const size_t i = rng.below(line.size() - 1);
        std::swap(line[i], line[i + 1]);
      }
      if (!line.empty() && rng.chance(0.05)) line.push_back(line[rng.below(line.size())]);
      if (line.size() > 1) push_order(rng, draft, key, line, named);
    }
  }
}

// Returns a transaction whose write the read may have returned; now and then any transaction.
int source_of(Rng& rng, const Draft& draft, const DraftOp& read, int reader) {
  std::vector<int> writers;
  if (read.value == draft.initial) writers.push_back(DraftOp::kInitialState);
  for (size_t t = 0; t < draft.txns.size(); ++t)
    for (const DraftOp& op : draft.txns[t].ops) {
      const bool puts = op.kind == OpKind::write ||
                        ((op.kind == OpKind::cas || op.kind == OpKind::insert) && op.effect);
      const bool shows = (puts && op.value == read.value) ||
                         (op.kind == OpKind::remove && (!read.value || op.value == read.value));
      if (op.key == read.key && shows) writers.push_back(static_cast<int>(t));
    }
  if (std::count(writers.begin(), writers.end(), reader) > 0 && rng.chance(0.8)) return reader;
  if (writers.empty() || rng.chance(0.03)) return static_cast<int>(rng.below(draft.txns.size()));
  return writers[rng.below(writers.size())];
}

void state_sources(Rng& rng, Draft& draft) {
  for (size_t t = 0; t < draft.txns.size(); ++t)
    for (DraftOp& op : draft.txns[t].ops)
      if (op.kind == OpKind::read && rng.chance(0.7))
        op.source = source_of(rng, draft, op, static_cast<int>(t));
}

// Draws some time during the history.
void state_completeness(Rng& rng, Draft& draft) {
  std::vector<int64_t> ends;
  for (const DraftTxn& t : draft.txns)
    if (t.end.known()) ends.push_back(t.end.response);
  if (!ends.empty()) draft.complete_to = ends[rng.below(ends.size())];
}

}  // namespace

Draft random_draft(Rng& rng, const RandomShape& shape) {
  Draft draft = Simulation(rng, shape).run();
  if (rng.chance(shape.mutated)) {
    for (uint64_t n = 1 + rng.below(4); n > 0; --n) mutate(rng, shape, draft);
  }
  if (shape.ordered > 0 && rng.chance(shape.ordered)) state_orders(rng, draft, shape.named);
  if (shape.loose > 0 && rng.chance(shape.loose)) state_loose_orders(rng, draft, shape.named);
  if (shape.sourced > 0 && rng.chance(shape.sourced)) state_sources(rng, draft);
  if (shape.joined > 0)
    for (DraftTxn& t : draft.txns)
      for (size_t i = 1; i < t.ops.size(); ++i) t.ops[i].joins = rng.chance(shape.joined);
  if (shape.complete > 0 && rng.chance(shape.complete)) state_completeness(rng, draft);
  return draft;
}

}  // namespace assay::internal
