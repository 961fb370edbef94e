#include "oracle/footprint.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "history/predicates.h"
#include "oracle/conditions.h"

namespace assay::internal::oracle {
namespace {

// The content of a register: never written, a value, or absent after a removal.
struct Content {
  VersionId version = kNone;  // kNone: untouched
  bool removed = false;       // if so, `version` is the tombstone
  int writer = -1;            // its writer, if the history states sources
  friend bool operator==(const Content&, const Content&) = default;
};

// A condition on the state a key had outside the transaction.
struct Probe {
  uint32_t step = 0;
  uint32_t key = 0;
  ValueView value = {};              // register: a read returns it …
  bool negated = false;              // … or does not
  TxnId from = kNone;                // the stated writer, or kInitialTxn
  std::vector<VersionId> list = {};  // list: exactly this
  PredicateId predicate = kNone;     // register: a condition on it …
  Match excluded = Match::no;        // … is not satisfied in this way
};

struct RawInstall {
  Content content;
  std::vector<VersionId> elements;
};

struct RawTxn {
  std::vector<Probe> probes;
  std::unordered_map<uint32_t, RawInstall> installs;
  std::string contradiction;
};

// Whether reading a register with this content returns `value`. A removed key reads as null, and
// the tombstone itself may be returned too.
bool shows(const History& h, KeyId key, const Content& content, const ValueView& value) {
  if (content.version == kNone) return h.initial(key) == value;
  if (h.version_value(content.version) == value) return true;
  return content.removed && value.is_null();
}

// Decides this directly from the text of the row.
Match satisfies(const History& h, PredicateId predicate, const ValueView& value) {
  return condition_match(h.predicates().condition(predicate), value);
}
Match satisfies(const History& h, PredicateId predicate, KeyId key, const Content& content) {
  if (content.removed) return Match::no;
  return satisfies(h, predicate,
                   content.version == kNone ? h.initial(key) : h.version_value(content.version));
}

bool in_range(const ValueView& key, const History& h, std::span<const uint32_t> operands) {
  const bool above = operands[0] == kNone || !key_less(key, h.key(operands[0]));
  const bool below = operands[1] == kNone || !key_less(h.key(operands[1]), key);
  return above && below;
}

// Follows every transaction through its own operations.
class Compiler {
 public:
  Compiler(const History& h, ReadsOf reads, std::string* why) : h_(h), reads_(reads), why_(why) {}
  std::optional<Footprints> run();

 private:
  bool refuse(std::string reason) {
    if (why_ != nullptr) *why_ = std::move(reason);
    return false;
  }
  void number_txns();
  bool number_keys();
  bool note_key(KeyId key, bool list);
  bool check_ranges() const;
  void follow(const Footprint& txn, RawTxn& raw);
  void follow_op(OpId op, uint32_t step, RawTxn& raw);
  void probe(uint32_t step, KeyId key, const ValueView& value, bool negated, RawTxn& raw);
  void probe_match(uint32_t step, KeyId key, PredicateId predicate, Match excluded, RawTxn& raw);
  void probe_source(OpId read, RawTxn& raw);
  void probe_list(uint32_t step, OpId op, RawTxn& raw);
  void probe_range(uint32_t step, OpId op, RawTxn& raw);
  ValueView row_of(VersionId version) const;
  void install(KeyId key, Content content, RawTxn& raw) {
    if (h_.states_sources()) content.writer = static_cast<int>(&raw - raw_.data());
    raw.installs[dense_[key]].content = content;
  }
  bool number_states();
  bool number_list(uint32_t key, const std::vector<VersionId>& list);
  State list_child(uint32_t key, State state, VersionId element) const;
  State list_state(uint32_t key, const std::vector<VersionId>& list) const;
  States accepted(const Probe& probe) const;
  bool may_be(const Content& content, TxnId from) const;
  void finish(Footprint& txn, const RawTxn& raw) const;
  std::vector<int> writers_of(VersionId version) const;
  bool any_empties(KeyId key) const;
  std::vector<int> meant(const KnownOrder& order);
  void known_orders();
  void say(const std::vector<int>& line);
  void find_lost_commits();
  bool listed(TxnId t, const Operation& write) const;

  const History& h_;
  const ReadsOf reads_;
  std::string* why_;
  Footprints out_;
  size_t writing_ = 0;           // how many transactions may take effect; the rest only read
  std::vector<uint32_t> dense_;  // per KeyId, kNone if no operation touches it
  std::vector<KeyId> outside_;   // per dense key
  std::vector<RawTxn> raw_;
  std::vector<std::vector<Content>> states_;  // registers: what each state holds
};

bool Compiler::note_key(KeyId key, bool list) {
  if (dense_[key] == kNone) {
    dense_[key] = static_cast<uint32_t>(out_.keys.size());
    outside_.push_back(key);
    out_.keys.emplace_back();
    out_.keys.back().outside = key;
    out_.keys.back().is_list = list;
  }
  return out_.keys[dense_[key]].is_list == list ||
         refuse("key " + h_.key(key).to_string() + " is used as a list and as a register");
}

bool Compiler::number_keys() {
  dense_.assign(h_.key_count(), kNone);
  for (const Footprint& txn : out_.txns) {
    for (OpId i = h_.first_op(txn.txn); i < h_.end_op(txn.txn); ++i) {
      const Operation op = h_.op(i);
      const bool list = op.kind == OpKind::append || op.kind == OpKind::read_list;
      if (op.kind != OpKind::range) {
        if (!note_key(op.key, list)) return false;
        continue;
      }
      const Selected selected = h_.selected(i);
      for (const auto& rows : {selected.rows, selected.passed})
        for (const VersionId row : rows)
          if (!note_key(h_.version_key(row), false)) return false;
      for (const KeyId key : selected.matched)
        if (!note_key(key, false)) return false;
    }
  }
  // An initial row that no transaction touches must be returned by a range.
  for (KeyId key = 0; key < h_.key_count(); ++key)
    if (h_.own_initial(key) != kNone && !h_.initial(key).is_null() && !note_key(key, false))
      return false;
  return check_ranges() || refuse("a range query covers a list");
}

bool Compiler::check_ranges() const {
  for (const Footprint& txn : out_.txns) {
    for (OpId i = h_.first_op(txn.txn); i < h_.end_op(txn.txn); ++i) {
      if (h_.op(i).kind != OpKind::range) continue;
      for (uint32_t k = 0; k < out_.keys.size(); ++k) {
        if (out_.keys[k].is_list && in_range(h_.key(outside_[k]), h_, h_.operands(i))) return false;
      }
    }
  }
  return true;
}

void Compiler::probe(uint32_t step, KeyId key, const ValueView& value, bool negated, RawTxn& raw) {
  const auto own = raw.installs.find(dense_[key]);
  if (own == raw.installs.end()) {
    raw.probes.push_back({.step = step, .key = dense_[key], .value = value, .negated = negated});
  } else if (shows(h_, key, own->second.content, value) == negated) {
    raw.contradiction = "an operation on " + h_.key(key).to_string() +
                        " disagrees with what its transaction wrote before";
  }
}

// Requires that matching what the key holds against the condition does not give `excluded`.
void Compiler::probe_match(uint32_t step, KeyId key, PredicateId predicate, Match excluded,
                           RawTxn& raw) {
  const auto own = raw.installs.find(dense_[key]);
  if (own == raw.installs.end()) {
    raw.probes.push_back(
        {.step = step, .key = dense_[key], .predicate = predicate, .excluded = excluded});
  } else if (satisfies(h_, predicate, key, own->second.content) == excluded) {
    raw.contradiction = "a range query on " + h_.key(key).to_string() +
                        " disagrees with what its transaction wrote before";
  }
}

// A list that was read ends with what the transaction itself appended; the rest was there before.
void Compiler::probe_list(uint32_t step, OpId i, RawTxn& raw) {
  const Operation op = h_.op(i);
  const auto read = h_.operands(i);
  std::vector<VersionId> before(read.begin(), read.end());
  if (const auto own = raw.installs.find(dense_[op.key]); own != raw.installs.end()) {
    const auto& mine = own->second.elements;
    if (before.size() < mine.size() || !std::equal(mine.rbegin(), mine.rend(), before.rbegin())) {
      raw.contradiction = "a list that was read does not end in the transaction's own appends";
      return;
    }
    before.resize(before.size() - mine.size());
  }
  raw.probes.push_back({.step = step, .key = dense_[op.key], .list = std::move(before)});
}

// Returns what a version holds for a condition: a version that only a delete left is not a row,
// whatever its name.
ValueView Compiler::row_of(VersionId version) const {
  bool deleted = false;
  for (OpId i = 0; i < h_.op_count() && !h_.is_initial(version); ++i) {
    if (!installs_version(h_.op(i)) || h_.op(i).version != version) continue;
    if (h_.op(i).kind != OpKind::remove) return h_.version_value(version);
    deleted = true;
  }
  return deleted ? ValueView::null() : h_.version_value(version);
}

// Requires that exactly the returned keys of the range are present, with the returned values.
void Compiler::probe_range(uint32_t step, OpId i, RawTxn& raw) {
  const auto operands = h_.operands(i);
  const Selected selected = h_.selected(i);
  const bool any = selected.predicate == kNone;
  std::vector<bool> named(out_.keys.size(), false);
  const auto name = [&](KeyId key) {
    if (named[dense_[key]]) raw.contradiction = "a range query names a key twice";
    named[dense_[key]] = true;
    if (!in_range(h_.key(key), h_, operands))
      raw.contradiction = "a range query returned a key outside its bounds";
  };
  for (const VersionId row : selected.rows) {
    name(h_.version_key(row));
    if (!any && satisfies(h_, selected.predicate, row_of(row)) == Match::no)
      raw.contradiction = "a range query returned a row that does not satisfy its condition";
    probe(step, h_.version_key(row), h_.version_value(row), false, raw);
  }
  for (const VersionId row : selected.passed) {
    name(h_.version_key(row));
    if (satisfies(h_, selected.predicate, row_of(row)) == Match::yes)
      raw.contradiction = "a range query passed over a row that satisfies its condition";
    probe(step, h_.version_key(row), h_.version_value(row), false, raw);
  }
  for (const KeyId key : selected.matched) {
    name(key);
    probe_match(step, key, selected.predicate, Match::no, raw);
  }
  for (uint32_t k = 0; k < out_.keys.size() && selected.complete; ++k) {
    if (named[k] || !in_range(h_.key(outside_[k]), h_, operands)) continue;
    if (any)
      probe(step, outside_[k], ValueView::null(), false, raw);
    else
      probe_match(step, outside_[k], selected.predicate, Match::yes, raw);
  }
}

// The stated source of a read is accepted if it is possible: the transaction itself, if it had
// written the key; the initial state, if the read shows that; another transaction, if any of its
// writes can be seen in the read.
void Compiler::probe_source(OpId i, RawTxn& raw) {
  const Operation op = h_.op(i);
  const ValueView value = h_.version_value(op.version);
  const TxnId reader = h_.txn_of(i), from = h_.stated_source(i);
  const bool own = raw.installs.contains(dense_[op.key]);
  bool right = own ? from == reader : from == kInitialTxn && shows(h_, op.key, Content{}, value);
  if (!own && from != kInitialTxn && from != reader)
    for (OpId w = h_.first_op(from); w < h_.end_op(from); ++w)
      if (const Operation put = h_.op(w); installs_version(put) && put.key == op.key)
        right |= shows(h_, op.key, {put.version, put.kind == OpKind::remove}, value);
  if (!right)
    out_.contradiction = "a read cannot have seen its stated source";
  else if (!own)
    raw.probes.back().from = from;
}

void Compiler::follow_op(OpId i, uint32_t step, RawTxn& raw) {
  const Operation op = h_.op(i);
  switch (op.kind) {
    case OpKind::read:
      probe(step, op.key, h_.version_value(op.version), false, raw);
      if (h_.stated_source(i) != kNone) probe_source(i, raw);
      return;
    case OpKind::write:
      install(op.key, {op.version, false}, raw);
      return;
    case OpKind::remove:
      install(op.key, {op.version, true}, raw);
      return;
    case OpKind::append:
      raw.installs[dense_[op.key]].elements.push_back(op.version);
      return;
    case OpKind::read_list:
      probe_list(step, i, raw);
      return;
    case OpKind::range:
      probe_range(step, i, raw);
      return;
    case OpKind::cas:
      probe(step, op.key, h_.version_value(h_.operands(i)[0]), !op.effect, raw);
      break;
    case OpKind::insert:
      probe(step, op.key, ValueView::null(), !op.effect, raw);
      break;
  }
  if (op.effect) install(op.key, {op.version, false}, raw);
}

void Compiler::follow(const Footprint& txn, RawTxn& raw) {
  for (OpId i = h_.first_op(txn.txn); i < h_.end_op(txn.txn); ++i) {
    follow_op(i, i - h_.first_op(txn.txn), raw);
  }
}

State Compiler::list_child(uint32_t key, State state, VersionId element) const {
  const KeyStates& list = out_.keys[key];
  if (state == kOff) return kOff;
  for (State s = 1; s < static_cast<State>(list.element.size()); ++s) {
    if (list.parent[s] == state && list.element[s] == element) return s;
  }
  return kOff;
}

State Compiler::list_state(uint32_t key, const std::vector<VersionId>& list) const {
  State state = 0;
  for (const VersionId element : list) state = list_child(key, state, element);
  return state;
}

bool Compiler::number_list(uint32_t key, const std::vector<VersionId>& read) {
  KeyStates& list = out_.keys[key];
  State state = 0;
  for (const VersionId element : read) {
    State child = list_child(key, state, element);
    if (child == kOff) {
      if (list.element.size() >= kOff) return refuse("too many different lists were read");
      child = static_cast<State>(list.element.size());
      list.element.push_back(element);
      list.parent.push_back(state);
    }
    state = child;
  }
  return true;
}

bool Compiler::number_states() {
  states_.resize(out_.keys.size());
  for (uint32_t k = 0; k < out_.keys.size(); ++k) {
    states_[k].push_back({});
    out_.keys[k].element.push_back(kNone);
    out_.keys[k].parent.push_back(0);
  }
  for (const RawTxn& raw : raw_) {
    for (const Probe& probe : raw.probes) {
      if (out_.keys[probe.key].is_list && !number_list(probe.key, probe.list)) return false;
    }
    for (const auto& [key, put] : raw.installs) {
      auto& states = states_[key];
      if (out_.keys[key].is_list || std::count(states.begin(), states.end(), put.content)) continue;
      if (states.size() >= kMaxStates) return refuse("too many versions of one key");
      states.push_back(put.content);
    }
  }
  for (KeyStates& key : out_.keys) {
    key.extensions.assign(kMaxStates, 0);
    for (size_t s = key.element.size(); s-- > 0;) {  // children have higher numbers
      key.extensions[s] |= only(static_cast<State>(s));
      if (s > 0) key.extensions[key.parent[s]] |= key.extensions[s];
    }
  }
  return true;
}

bool Compiler::may_be(const Content& content, TxnId from) const {
  if (from == kNone) return true;
  return content.writer < 0 ? from == kInitialTxn : from == out_.txns[content.writer].txn;
}

States Compiler::accepted(const Probe& probe) const {
  if (out_.keys[probe.key].is_list) return only(list_state(probe.key, probe.list));
  States accept = 0;
  const auto& states = states_[probe.key];
  const KeyId key = outside_[probe.key];
  for (size_t s = 0; s < states.size(); ++s) {
    const bool fits = probe.predicate == kNone
                          ? shows(h_, key, states[s], probe.value) != probe.negated
                          : satisfies(h_, probe.predicate, key, states[s]) != probe.excluded;
    if (fits && may_be(states[s], probe.from)) accept |= only(static_cast<State>(s));
  }
  return accept;
}

void Compiler::finish(Footprint& txn, const RawTxn& raw) const {
  txn.contradiction = raw.contradiction;
  for (const Probe& probe : raw.probes) {
    const Need need{probe.key, accepted(probe)};
    txn.observations.push_back({probe.step, need});
    const auto it = std::find_if(txn.needs.begin(), txn.needs.end(),
                                 [&](const Need& n) { return n.key == need.key; });
    if (it == txn.needs.end()) {
      txn.needs.push_back(need);
    } else {
      it->accept &= need.accept;
    }
  }
  for (const auto& [key, put] : raw.installs) {
    Install change{key, {}, put.elements};
    const auto& states = states_[key];
    const auto at = std::find(states.begin(), states.end(), put.content);
    for (State s = 0; s < kMaxStates; ++s) {
      if (!out_.keys[key].is_list) {
        change.next[s] = static_cast<State>(at - states.begin());
        continue;
      }
      State state = s < out_.keys[key].element.size() ? s : kOff;
      for (const VersionId element : put.elements) state = list_child(key, state, element);
      change.next[s] = state;
    }
    txn.installs.push_back(std::move(change));
  }
  std::sort(txn.installs.begin(), txn.installs.end(),
            [](const Install& a, const Install& b) { return a.key < b.key; });
}

// Returns the transactions that may have taken effect and write this value to the key, finally or
// not, once for each such write.
std::vector<int> Compiler::writers_of(VersionId version) const {
  std::vector<int> found;
  for (int t = 0; t < static_cast<int>(writing_); ++t)
    for (OpId i = h_.first_op(out_.txns[t].txn); i < h_.end_op(out_.txns[t].txn); ++i)
      if (installs_version(h_.op(i)) && h_.op(i).version == version) found.push_back(t);
  return found;
}

bool Compiler::any_empties(KeyId key) const {
  for (const Footprint& txn : std::span(out_.txns).first(writing_)) {
    for (OpId i = h_.first_op(txn.txn); i < h_.end_op(txn.txn); ++i) {
      const Operation op = h_.op(i);
      if (!installs_version(op) || op.key != key) continue;
      if (op.kind == OpKind::remove || h_.version_value(op.version).is_null()) return true;
    }
  }
  return false;
}

// Returns the transaction of each entry of a known order: -1 if the order does not determine it.
std::vector<int> Compiler::meant(const KnownOrder& order) {
  std::vector<int> all;
  for (size_t i = 0; i < order.versions.size(); ++i) {
    const VersionId v = order.versions[i];
    all.push_back(-1);
    if (order.txn(i) != kNone) {
      for (const int t : writers_of(v))
        if (out_.txns[t].txn == order.txn(i)) all.back() = t;
      if (all.back() < 0)
        out_.contradiction = "a known order names a version that its transaction did not install";
      continue;
    }
    if (i == 0 && h_.is_initial(v)) continue;
    if (h_.version_value(v).is_null() && any_empties(order.key)) continue;
    const std::vector<int> writers = writers_of(v);
    if (writers.empty())
      out_.contradiction = "a known order names a version that no transaction installs there";
    else if (std::count(writers.begin(), writers.end(), writers[0]) ==
             static_cast<ptrdiff_t>(writers.size()))
      all.back() = writers[0];
  }
  return all;
}

// Known orders give the order of a key's versions, unless they contradict each other for that key.
void Compiler::known_orders() {
  const std::span<const KnownOrder> lines = h_.known_orders();
  std::vector<std::vector<int>> who;
  for (const KnownOrder& line : lines) who.push_back(meant(line));
  for (KeyId key = 0; key < h_.key_count(); ++key) {
    // [v]: the versions stated to follow v. A version counts only if its transaction wrote it once.
    using Version = std::pair<int, VersionId>;
    const auto once = [&](const Version& v) {
      const std::vector<int> writers = writers_of(v.second);
      return std::count(writers.begin(), writers.end(), v.first) == 1;
    };
    std::map<Version, std::set<Version>> after;
    for (size_t l = 0; l < lines.size(); ++l)
      for (size_t i = 0; i < who[l].size() && lines[l].key == key; ++i)
        for (size_t j = i + 1; j < who[l].size(); ++j) {
          const Version a{who[l][i], lines[l].versions[i]}, b{who[l][j], lines[l].versions[j]};
          if (a.first >= 0 && b.first >= 0 && once(a) && once(b)) after[a].insert(b);
        }
    for (size_t round = 0; round < after.size(); ++round)
      for (auto& [a, following] : after)
        for (const Version& b : std::set<Version>(following))
          if (after.contains(b)) following.insert(after[b].begin(), after[b].end());
    const bool opposite = std::any_of(after.begin(), after.end(),
                                      [](const auto& a) { return a.second.contains(a.first); });
    if (opposite) out_.contradiction = "known orders put two versions in opposite orders";
    for (size_t l = 0; l < lines.size() && !opposite; ++l)
      if (lines[l].key == key) say(who[l]);
  }
}

// What an acknowledged transaction leaves must be in the orders, as far as they are complete.
void Compiler::find_lost_commits() {
  for (const Footprint& txn : std::span(out_.txns).first(writing_)) {
    const Interval end = h_.end_time(txn.txn);
    if (!txn.certain || !end.known() || end.response > h_.orders_complete_to()) continue;
    for (OpId i = h_.first_op(txn.txn); i < h_.end_op(txn.txn); ++i) {
      const Operation op = h_.op(i);
      bool stays = installs_version(op);
      for (OpId j = i + 1; j < h_.end_op(txn.txn); ++j)
        if (installs_version(h_.op(j)) && h_.op(j).key == op.key && op.kind != OpKind::append)
          stays = false;
      if (stays && !listed(txn.txn, op))
        out_.contradiction = "complete orders lack what a committed transaction wrote";
    }
  }
}

bool Compiler::listed(TxnId t, const Operation& write) const {
  for (const KnownOrder& line : h_.known_orders())
    for (size_t i = 0; i < line.versions.size() && line.key == write.key; ++i) {
      const bool same = line.versions[i] == write.version;
      const bool some_deletion = line.txn(i) == kNone && write.kind == OpKind::remove &&
                                 h_.version_value(line.versions[i]).is_null();
      if ((same && (line.txn(i) == kNone || line.txn(i) == t)) || some_deletion) return true;
    }
  return false;
}

// Notes the order of the transactions of a line.
void Compiler::say(const std::vector<int>& line) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] < 0) continue;
    out_.txns[line[i]].named = true;
    for (size_t j = i + 1; j < line.size(); ++j)
      if (line[j] >= 0 && line[j] != line[i]) out_.known_order.emplace_back(line[i], line[j]);
  }
}

void Compiler::number_txns() {
  for (TxnId t = 0; t < h_.txn_count(); ++t) {
    if (h_.status(t) == TxnStatus::aborted) continue;
    Footprint& txn = out_.txns.emplace_back();
    txn.txn = t;
    txn.certain = h_.status(t) == TxnStatus::committed;
    txn.single_operation =
        h_.end_op(t) - h_.first_op(t) == 1 && h_.op(h_.first_op(t)).kind != OpKind::range;
  }
  writing_ = out_.txns.size();
  for (TxnId t = 0; t < h_.txn_count() && reads_ == ReadsOf::all; ++t) {
    if (h_.status(t) == TxnStatus::committed) continue;
    const bool over = h_.status(t) == TxnStatus::aborted;
    Footprint& reader = out_.txns.emplace_back();
    reader.txn = t;
    reader.certain = over;
    reader.named = reader.alone = !over;
  }
}

std::optional<Footprints> Compiler::run() {
  number_txns();
  if (out_.txns.size() > kMaxTxns) {
    refuse("more than " + std::to_string(kMaxTxns) + " transactions that may have taken effect");
    return std::nullopt;
  }
  if (!number_keys()) return std::nullopt;
  raw_.resize(out_.txns.size());
  for (size_t t = 0; t < raw_.size(); ++t) follow(out_.txns[t], raw_[t]);
  for (size_t t = writing_; t < raw_.size(); ++t) raw_[t].installs.clear();
  if (!number_states()) return std::nullopt;
  for (size_t t = 0; t < raw_.size(); ++t) finish(out_.txns[t], raw_[t]);
  const auto saw_nothing = [](const Footprint& t) {
    return t.observations.empty() && t.contradiction.empty();
  };
  const auto readers = out_.txns.begin() + static_cast<ptrdiff_t>(writing_);
  out_.txns.erase(std::remove_if(readers, out_.txns.end(), saw_nothing), out_.txns.end());
  known_orders();
  find_lost_commits();
  return std::move(out_);
}

}  // namespace

const Install* Footprint::install(uint32_t key) const {
  for (const Install& i : installs) {
    if (i.key == key) return &i;
  }
  return nullptr;
}

const Need* Footprint::need(uint32_t key) const {
  for (const Need& n : needs) {
    if (n.key == key) return &n;
  }
  return nullptr;
}

std::optional<Footprints> footprints(const History& history, ReadsOf reads, std::string* why) {
  return Compiler(history, reads, why).run();
}

}  // namespace assay::internal::oracle
