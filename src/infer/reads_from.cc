#include "infer/reads_from.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "history/accesses.h"
#include "infer/dirty_states.h"
#include "infer/stated_orders.h"
#include "infer/stated_sources.h"
#include "infer/txn_keys.h"

namespace assay::internal {
namespace {

constexpr OpId kAhead = 16;  // operations, for fetch_ahead

// Who writes a version, as far as one look-up shows.
struct Origin {
  enum class Kind : uint8_t { nobody, final_write, intermediate, aborted };
  OpId op = kNone;  // the write that explains a read best
  Kind kind = Kind::nobody;
  bool ambiguous = false;  // more than one transaction could have installed it
  bool several = false;    // more than one transaction wrote it, finally or not
  bool unknown = false;    // the outcome of the writing transaction is unknown
};

// Of a list whose blocks are assumed: the write of the last one.
WriteId last_writer(const Problem& problem, std::span<const Seen> blocks) {
  const auto last =
      std::max_element(blocks.begin(), blocks.end(),
                       [](const Seen& a, const Seen& b) { return a.element < b.element; });
  return problem.write_of(problem.node_of(last->source), problem.key_of(last->key));
}

class Matcher {
 public:
  Matcher(const History& h, std::span<const Seen> assumed, Budget& budget, Reads reads,
          std::span<const TxnId> possible)
      : h_(h),
        budget_(budget),
        dirty_(reads == Reads::dirty),
        possible_(possible),
        origin_(h.version_count()) {
    out_.assumed.assign(assumed.begin(), assumed.end());
    out_.found.known = read_known_orders(h);
    std::string& contradiction = out_.found.known.contradiction;
    if (contradiction.empty()) contradiction = contradicted_source(h);
    if (dirty_) states_.emplace(h);
  }

  Problem run() {
    note_uses();
    find_origins();
    choose_nodes();
    for (Node n = 0; n < out_.nodes() && !budget_.exhausted(); ++n) number_writes(n);
    if (budget_.exhausted_now()) return {};
    out_.writes.begin.push_back(static_cast<uint32_t>(out_.writes.size()));
    out_.writes.of_version.resize(h_.version_count(), kNone);
    for (WriteId w = 0; w < out_.writes.size(); ++w)
      out_.writes.of_version[out_.writes.version[w]] = w;
    for (Node n = 0; n < out_.nodes() && !budget_.exhausted(); ++n) match(n);
    if (budget_.exhausted_now()) return {};
    index_readers();
    index_sessions();
    return std::move(out_);
  }

 private:
  void note_uses();
  void find_origins();
  void note_origin(TxnId t, OpId op, VersionId version, Origin::Kind kind);
  void choose_nodes();
  void keep_sources_of(TxnId t, std::vector<TxnId>& found);
  void number_writes(Node n);
  void fetch_ahead(OpId op) const;
  void match(Node n);
  void match_clean(Node n, OpId op);
  void match_dirty(Node n, OpId op);
  void match_read(Node n, OpId op, KeyId key, VersionId version);
  bool follow_assumptions(Node n, OpId op);
  void match_absent(Node n, OpId op, KeyId key);
  void match_list(Node n, OpId op, KeyId key);
  void external_list(Node n, OpId op, KeyId key, WriteId write);
  void check_repeated_list(OpId op, OpId earlier);
  bool left_by_nobody(std::span<const VersionId> elements, OpId op);
  void match_dirty_list(OpId op, KeyId key);
  bool appended_twice(OpId append) const;
  OpId neighbour_append(OpId op, int step) const;
  bool torn(std::span<const VersionId> elements, size_t i) const;
  bool list_elements_stand(std::span<const VersionId> elements, OpId op, OpId end);
  void check_own(OpId op, const TxnKeys::State& own, VersionId version);
  bool explained_by_own(const TxnKeys::State& own, VersionId version) const;
  OpId other_writer(VersionId version, TxnId reader) const;
  void external_read(Node n, OpId op, KeyId key, VersionId version);
  bool nobody_can_tell(KeyId key, VersionId version) const;
  bool stated_to_be_of_another(const Observation& seen) const;
  bool stated_to_be_dirty(OpId op);
  void compare_stated(OpId op);
  bool is_overwritten(OpId write) const;
  // A key used both as a list and as a register has no meaning here.
  bool mixed(KeyId key) const { return !uses_.empty() && uses_[key] == (kAsList | kAsRegister); }
  bool deleted_somewhere(KeyId key) const { return !tombstoned_.empty() && tombstoned_[key] != 0; }
  void bad(Anomaly anomaly, OpId read, OpId other);
  void index_readers();
  void index_sessions();

  const History& h_;
  Budget& budget_;
  const bool dirty_;
  const std::span<const TxnId> possible_;
  std::optional<DirtyStates> states_;  // dirty reads only
  std::vector<Origin> origin_;
  static constexpr uint8_t kAsList = 1;
  static constexpr uint8_t kAsRegister = 2;
  std::vector<OpId> shown_in_;       // per version: the last list with it; empty: no lists
  std::vector<uint8_t> uses_;        // per key; empty: no lists in the history
  std::vector<uint8_t> tombstoned_;  // per key: some transaction deletes it; empty: no deletes
  TxnKeys keys_;
  WrittenKeys written_;                           // scratch
  std::vector<std::pair<KeyId, VersionId>> own_;  // scratch: final writes of one transaction
  Problem out_;
};

void Matcher::note_uses() {
  OpId first = 0;
  while (first < h_.op_count() && !is_list_operation(h_.op(first))) ++first;
  if (first == h_.op_count()) return;
  uses_.assign(h_.key_count(), 0);
  shown_in_.assign(h_.version_count(), kNone);
  for (TxnId t = 0; t < h_.txn_count(); ++t) {
    if (h_.status(t) == TxnStatus::aborted) continue;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation op = h_.op(i);
      if (is_range(op)) continue;
      uses_[op.key] |= is_list_operation(op) ? kAsList : kAsRegister;
      if (out_.found.mixed == kNone && mixed(op.key)) out_.found.mixed = op.key;
    }
  }
}

void Matcher::find_origins() {
  for (TxnId t = 0; t < h_.txn_count() && !budget_.exhausted(); ++t) {
    const bool aborted = h_.status(t) == TxnStatus::aborted;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) fetch_ahead(i);
    each_install(h_, t, written_, [&](const Install& install) {
      note_origin(t, install.op, install.version,
                  aborted
                      ? Origin::Kind::aborted
                      : (install.final ? Origin::Kind::final_write : Origin::Kind::intermediate));
      if (install.removes) {
        tombstoned_.resize(h_.key_count());
        tombstoned_[install.key] = 1;
      }
    });
  }
}

void Matcher::note_origin(TxnId t, OpId op, VersionId version, Origin::Kind kind) {
  Origin& origin = origin_[version];
  const bool unknown = h_.status(t) == TxnStatus::unknown;
  if (origin.kind == Origin::Kind::nobody) {
    origin = {op, kind, false, false, unknown};
    if (kind != Origin::Kind::aborted && h_.is_initial(version)) {
      origin.ambiguous = kind == Origin::Kind::final_write;
      out_.found.duplicates.push_back({kNone, op, false});
    }
    return;
  }
  if (h_.txn_of(origin.op) != t) {
    out_.found.duplicates.push_back({origin.op, op, false});
    origin.several = true;
    if (kind == Origin::Kind::final_write && origin.kind == Origin::Kind::final_write) {
      origin.ambiguous = true;
    }
  }
  if (kind < origin.kind) {  // a final write explains better than an intermediate or an aborted one
    const bool ambiguous = kind == Origin::Kind::final_write && h_.is_initial(version);
    origin = {op, kind, ambiguous, origin.several, unknown};
  }
}

void Matcher::choose_nodes() {
  out_.node.assign(h_.txn_count(), kNone);
  bool any_unknown = false;
  std::vector<TxnId> reached;
  for (TxnId t = 0; t < h_.txn_count(); ++t) {
    if (h_.status(t) == TxnStatus::committed) out_.node[t] = 0;
    any_unknown |= h_.status(t) == TxnStatus::unknown;
  }
  for (const std::vector<TxnId>& named : out_.found.known.named) {
    for (const TxnId t : named)
      if (t != kNone) out_.node[t] = 0;
  }
  if (any_unknown && !dirty_) {
    for (TxnId t = 0; t < h_.txn_count(); ++t) {
      if (out_.node[t] != kNone) reached.push_back(t);
    }
    while (!reached.empty()) {
      const TxnId t = reached.back();
      reached.pop_back();
      keep_sources_of(t, reached);
    }
  }
  std::vector<uint8_t> only_possible(possible_.empty() ? 0 : h_.txn_count());
  for (const TxnId t : possible_) only_possible[t] = out_.node[t] == kNone;
  for (TxnId t = 0; t < h_.txn_count(); ++t) {
    const bool possible = !only_possible.empty() && only_possible[t] != 0;
    if (out_.node[t] == kNone && !possible) continue;
    out_.node[t] = static_cast<Node>(out_.txn.size());
    if (possible) out_.possible.push_back(out_.node[t]);
    out_.txn.push_back(t);
  }
}

// Marks the unknown transactions that `t` read from.
void Matcher::keep_sources_of(TxnId t, std::vector<TxnId>& found) {
  const auto keep = [&](VersionId version) {
    const Origin& origin = origin_[version];
    if (!origin.unknown || origin.ambiguous || origin.kind != Origin::Kind::final_write) return;
    const TxnId source = h_.txn_of(origin.op);
    if (source == t || out_.node[source] != kNone) return;
    out_.node[source] = 0;
    found.push_back(source);
  };
  for (const Seen& seen : assumed_of(out_.assumed, h_.first_op(t), h_.end_op(t))) {
    if (seen.source == kNone || h_.status(seen.source) != TxnStatus::unknown) continue;
    if (out_.node[seen.source] != kNone) continue;
    out_.node[seen.source] = 0;
    found.push_back(seen.source);
  }
  const auto look = [&](const Observation& seen) {
    if (seen.accepts == Accepts::equals && !seen.own && !stated_to_be_of_another(seen))
      keep(seen.version);
    if (seen.accepts ==
        Accepts::list)  // an element that several appended does not tell whose it is
      for (const VersionId element : elements_of(h_, seen.op))
        if (!origin_[element].several) keep(element);
    if (seen.accepts == Accepts::rows)
      each_row(h_, seen.op, [&](VersionId row) {
        if (!written_.contains(h_.version_key(row))) keep(row);
      });
  };
  walk_accesses(h_, t, written_, look, [](const Install&) {});
}

// The read is stated to be from another transaction than the one that explains it best.
bool Matcher::stated_to_be_of_another(const Observation& seen) const {
  if (h_.stated_source(seen.op) == kNone) return false;
  const TxnId source = stated_source(h_, seen.op);
  const OpId origin = origin_[seen.version].op;
  return source != kNone && (origin == kNone || source != h_.txn_of(origin));
}

void Matcher::number_writes(Node n) {
  const TxnId t = out_.txn[n];
  out_.writes.begin.push_back(static_cast<uint32_t>(out_.writes.size()));
  if (out_.is_possible(n)) return;
  own_.clear();
  each_install(h_, t, written_, [this](const Install& install) {
    if (install.final) own_.push_back({install.key, install.version});
  });
  std::sort(own_.begin(), own_.end());  // by key, for write_of
  for (const auto& [key, version] : own_) {
    out_.writes.key.push_back(key);
    out_.writes.node.push_back(n);
    out_.writes.version.push_back(version);
  }
}

void Matcher::bad(Anomaly anomaly, OpId read, OpId other) {
  if (out_.found.bad_read.anomaly == Anomaly::none) out_.found.bad_read = {anomaly, read, other};
}

// The read saw what its transaction wrote last, or that this left nothing.
bool Matcher::explained_by_own(const TxnKeys::State& own, VersionId version) const {
  return shows(h_, install_of(h_, own.op).state(), version);
}

// A write of the version by another transaction, whatever became of it; kNone if there is none. Looks through the
// history: for what is about to be reported.
OpId Matcher::other_writer(VersionId version, TxnId reader) const {
  for (OpId i = 0; i < h_.op_count(); ++i) {
    const Operation op = h_.op(i);
    const bool own = i >= h_.first_op(reader) && i < h_.end_op(reader);
    if (!own && op.version == version && installs_version(op)) return i;
  }
  return kNone;
}

// A read of a key its transaction wrote before must return the last own write.
void Matcher::check_own(OpId op, const TxnKeys::State& own, VersionId version) {
  if (explained_by_own(own, version)) return;
  const OpId first = h_.first_op(h_.txn_of(op));
  for (OpId i = op; i-- > first;) {
    const Operation earlier = h_.op(i);
    if (installs_version(earlier) && earlier.version == version) {
      bad(Anomaly::not_my_last_write, op, i);
      return;
    }
  }
  bad(Anomaly::not_my_own_write, op, own.op);
}

// True if more than one source, or none that is a plain write, could have been read.
bool Matcher::nobody_can_tell(KeyId key, VersionId version) const {
  if (origin_[version].ambiguous || mixed(key)) return true;
  return deleted_somewhere(key) && h_.version_value(version).is_null();
}

// A read is stated to be from what nobody may see of its transaction.
bool Matcher::stated_to_be_dirty(OpId op) {
  if (h_.stated_source(op) == kNone) return false;
  const TxnId source = stated_source(h_, op);
  if (source == kNone || source == kInitialTxn) return false;
  const OpId write = stated_write(h_, op, source);
  if (h_.status(source) == TxnStatus::aborted)
    bad(Anomaly::aborted_read, op, write);
  else if (is_overwritten(write))
    bad(Anomaly::intermediate_read, op, write);
  else
    return false;
  return true;
}

// Its transaction writes the key again.
bool Matcher::is_overwritten(OpId write) const {
  for (OpId i = write + 1; i < h_.end_op(h_.txn_of(write)); ++i)
    if (installs_version(h_.op(i)) && h_.op(i).key == h_.op(write).key) return true;
  return false;
}

// A read that is stated to be from another transaction than an earlier one of the key.
void Matcher::compare_stated(OpId op) {
  if (h_.stated_source(op) == kNone || out_.found.non_repeatable.anomaly != Anomaly::none) return;
  const TxnId source = stated_source(h_, op);
  if (source == kNone) return;
  for (OpId i = h_.first_op(h_.txn_of(op)); i < op; ++i) {
    if (h_.stated_source(i) == kNone || h_.op(i).key != h_.op(op).key) continue;
    const TxnId other = stated_source(h_, i);
    if (other == kNone || other == source) continue;
    out_.found.non_repeatable = {Anomaly::non_repeatable_read, op, i};
    return;
  }
}

void Matcher::external_read(Node n, OpId op, KeyId key, VersionId version) {
  if (stated_to_be_dirty(op)) return;
  compare_stated(op);
  if (nobody_can_tell(key, version)) {
    out_.unresolved.push_back(op);
    return;
  }
  TxnKeys::State& state = keys_[key];
  if (state.read) {
    if (out_.repeating.empty() || out_.repeating.back() != n) out_.repeating.push_back(n);
    const bool assumed = !assumed_of(out_.assumed, state.op, state.op + 1).empty();
    if (!assumed && state.version != version &&
        out_.found.non_repeatable.anomaly == Anomaly::none) {
      out_.found.non_repeatable = {Anomaly::non_repeatable_read, op, state.op};
    }
  }
  const Origin& origin = origin_[version];
  const bool initial = origin.kind != Origin::Kind::final_write && h_.is_initial(version);
  if (!initial) {
    const bool own_later =
        origin.op != kNone && origin.op >= op && origin.op < h_.end_op(out_.txn[n]);
    if (own_later) {
      const OpId other = origin.several ? other_writer(version, out_.txn[n]) : kNone;
      if (other == kNone) return bad(Anomaly::future_read, op, origin.op);
      const bool aborted = h_.status(h_.txn_of(other)) == TxnStatus::aborted;
      return bad(aborted ? Anomaly::aborted_read : Anomaly::intermediate_read, op, other);
    }
    if (origin.kind == Origin::Kind::nobody) return bad(Anomaly::thin_air_read, op, kNone);
    if (origin.kind == Origin::Kind::aborted) return bad(Anomaly::aborted_read, op, origin.op);
    if (origin.kind == Origin::Kind::intermediate) {
      return bad(Anomaly::intermediate_read, op, origin.op);
    }
  }
  if (state.read) return;
  state.read = true;
  state.version = version;
  state.op = op;
  out_.reads.items.push_back({key, initial ? kNone : out_.writes.of_version[version], op});
}

void Matcher::match_read(Node n, OpId op, KeyId key, VersionId version) {
  const TxnKeys::State& state = keys_[key];
  if (state.written) {
    check_own(op, state, version);
  } else {
    external_read(n, op, key, version);
  }
}

// Reads from the sources that are assumed for the operation. False if there is none such.
bool Matcher::follow_assumptions(Node n, OpId op) {
  const std::span<const Seen> assumed = assumed_of(out_.assumed, op, op + 1);
  if (!assumed.empty() && assumed.front().element != kNone) {
    external_list(n, op, assumed.front().key, last_writer(out_, assumed));
    return true;
  }
  for (const Seen& seen : assumed) {
    TxnKeys::State& state = keys_[seen.key];
    if (state.read) {
      if (out_.repeating.empty() || out_.repeating.back() != n) out_.repeating.push_back(n);
      continue;
    }
    const WriteId write =
        seen.source == kNone ? kNone : out_.write_of(out_.node[seen.source], seen.key);
    state.read = true;
    state.op = op;
    state.version = write == kNone ? kNone : out_.writes.version[write];
    out_.reads.items.push_back({seen.key, write, op});
  }
  return !assumed.empty();
}

// An insert that took effect found the key absent: it read the initial null, unless deletes leave
// other ways of being absent.
void Matcher::match_absent(Node n, OpId op, KeyId key) {
  TxnKeys::State& state = keys_[key];
  const bool assumed = state.read && !assumed_of(out_.assumed, state.op, state.op + 1).empty();
  const bool clear = !state.written && (!state.read || assumed) && !deleted_somewhere(key) &&
                     h_.initial().is_null();
  if (!clear) {
    out_.unresolved.push_back(op);
    return;
  }
  if (assumed) {
    if (out_.repeating.empty() || out_.repeating.back() != n) out_.repeating.push_back(n);
    return;
  }
  state.read = true;
  state.op = op;
  out_.reads.items.push_back({key, kNone, op});
}

// The append to the same key before (step -1) or after (1) `op` in its transaction; kNone if there is none.
OpId Matcher::neighbour_append(OpId op, int step) const {
  if (op == kNone) return kNone;
  const TxnId t = h_.txn_of(op);
  for (OpId i = op + step; i + 1 > h_.first_op(t) && i < h_.end_op(t); i += step) {
    if (install_of(h_, i).appends && h_.op(i).key == h_.op(op).key) return i;
    if (i == 0) break;
  }
  return kNone;
}

// What one transaction appended to a list stands together, but for what it had yet to append. True if the element's
// neighbours belong elsewhere.
bool Matcher::torn(std::span<const VersionId> elements, size_t i) const {
  const OpId earlier = neighbour_append(origin_[elements[i]].op, -1);
  const OpId later = neighbour_append(origin_[elements[i]].op, 1);
  return (earlier != kNone && (i == 0 || elements[i - 1] != h_.op(earlier).version)) ||
         (later != kNone && i + 1 < elements.size() && elements[i + 1] != h_.op(later).version);
}

// Every element of a list must have been appended by a transaction that may count, together with what else that transaction
// appended. False if one was not, or if that is uncertain.
bool Matcher::list_elements_stand(std::span<const VersionId> elements, OpId op, OpId end) {
  for (size_t i = 0; i < elements.size(); ++i) {
    const Origin& origin = origin_[elements[i]];
    if (origin.kind == Origin::Kind::nobody) {
      bad(Anomaly::thin_air_read, op, kNone);
    } else if (origin.kind == Origin::Kind::aborted) {
      bad(Anomaly::aborted_read, op, origin.op);
    } else if (origin.op != kNone && origin.op > op && origin.op < end) {
      bad(Anomaly::future_read, op, origin.op);
    } else if (!torn(elements, i)) {
      continue;
    } else if (appended_twice(origin.op)) {
      out_.unresolved.push_back(op);
    } else {
      bad(Anomaly::intermediate_read, op, origin.op);
    }
    return false;
  }
  return true;
}

// Its transaction appended the same element to the list once more.
bool Matcher::appended_twice(OpId append) const {
  const Operation one = h_.op(append);
  for (OpId i = h_.first_op(h_.txn_of(append)); i < h_.end_op(h_.txn_of(append)); ++i)
    if (i != append && install_of(h_, i).appends && h_.op(i).version == one.version) return true;
  return false;
}

// A list shows what others had appended, then the transaction's own elements so far. What others had appended is a
// read of the writer of its last element; the order of the rest is stated (stated_orders.h).
void Matcher::match_list(Node n, OpId op, KeyId key) {
  const auto [elements, missing] = outside_list(h_, op);
  TxnKeys::State& state = keys_[key];
  if (missing != kNone && !mixed(key)) return bad(Anomaly::not_my_own_write, op, missing);
  const bool telling =
      !mixed(key) && std::none_of(elements.begin(), elements.end(), [&](VersionId v) {
        const OpId author = origin_[v].op;
        const bool own = author != kNone && author < op && author >= h_.first_op(out_.txn[n]);
        const bool repeated = std::exchange(shown_in_[v], op) == op;
        return own || repeated || origin_[v].several;
      });
  if (!telling) {
    if (!mixed(key) && left_by_nobody(elements, op)) return;
    if (!mixed(key) && state.list_op != kNone) check_repeated_list(op, state.list_op);
    if (state.list_op == kNone) state.list_op = op;
    out_.unresolved.push_back(op);
    return;
  }
  if (!list_elements_stand(elements, op, h_.end_op(out_.txn[n]))) return;
  const VersionId last = elements.empty() ? kNone : elements.back();
  if (last != kNone && origin_[last].kind == Origin::Kind::intermediate) {
    return bad(Anomaly::intermediate_read, op, origin_[last].op);
  }
  external_list(n, op, key, last == kNone ? kNone : out_.writes.of_version[last]);
}

// A list whose last element is of this write.
void Matcher::external_list(Node n, OpId op, KeyId key, WriteId write) {
  TxnKeys::State& state = keys_[key];
  if (state.list_op != kNone) {
    if (out_.repeating.empty() || out_.repeating.back() != n) out_.repeating.push_back(n);
    return check_repeated_list(op, state.list_op);
  }
  state.list_op = op;
  out_.has_lists = true;
  out_.reads.items.push_back({key, write, op});
}

// Two reads of one list by one transaction.
void Matcher::check_repeated_list(OpId op, OpId earlier) {
  const std::span<const VersionId> first = outside_list(h_, earlier).elements,
                                   second = outside_list(h_, op).elements;
  if (!std::equal(first.begin(), first.end(), second.begin(), second.end()) &&
      out_.found.non_repeatable.anomaly == Anomaly::none)
    out_.found.non_repeatable = {Anomaly::non_repeatable_read, op, earlier};
}

// One of the elements was appended by nobody, or only by those that aborted.
bool Matcher::left_by_nobody(std::span<const VersionId> elements, OpId op) {
  for (const VersionId element : elements) {
    const Origin& origin = origin_[element];
    if (origin.kind == Origin::Kind::nobody) {
      bad(Anomaly::thin_air_read, op, kNone);
    } else if (origin.kind == Origin::Kind::aborted) {
      bad(Anomaly::aborted_read, op, origin.op);
    } else {
      continue;
    }
    return true;
  }
  return false;
}

// A dirty list states the order of what was appended and stayed; what did not take effect is passed over.
void Matcher::match_dirty_list(OpId op, KeyId key) {
  const auto [elements, missing] = outside_list(h_, op);
  if (missing != kNone && !mixed(key)) return bad(Anomaly::not_my_own_write, op, missing);
  bool telling = !mixed(key);
  std::vector<VersionId> stood;
  for (const VersionId v : elements) {
    const OpId author = origin_[v].op;
    if (author == kNone) return bad(Anomaly::thin_air_read, op, kNone);
    const bool own_later = author > op && author < h_.end_op(h_.txn_of(op));
    telling = telling && !origin_[v].several && !own_later;
    if (out_.node[h_.txn_of(author)] != kNone) stood.push_back(v);
  }
  for (size_t i = 0; i < stood.size() && telling; ++i) telling = !torn(stood, i);
  if (!telling) {
    out_.unresolved.push_back(op);
    return;
  }
  out_.has_lists = true;
  const VersionId last = elements.empty() ? kNone : elements.back();
  out_.reads.items.push_back({key, last == kNone ? kNone : out_.writes.of_version[last], op});
}

// Anything that anybody ever left explains a dirty read; only what it saw of its own must be right.
void Matcher::match_dirty(Node n, OpId i) {
  const Observation seen = observation_of(h_, i);
  if (seen.accepts == Accepts::any) return;
  if (seen.accepts == Accepts::list) return match_dirty_list(i, seen.key);
  const bool equals = seen.accepts == Accepts::equals;
  if (equals && keys_[seen.key].written) return check_own(i, keys_[seen.key], seen.version);
  if (seen.accepts == Accepts::rows ? !uses_.empty() && states_->covers_list(i) : mixed(seen.key)) {
    out_.unresolved.push_back(i);
    return;
  }
  const KeyId unexplained = states_->unexplained(i);
  if (unexplained == kNone) return;
  if (!equals) {
    if (out_.found.unexplained == kNone) {
      out_.found.unexplained = i;
      out_.found.unexplained_key = unexplained;
    }
    return;
  }
  const OpId own = origin_[seen.version].op;
  if (own != kNone && own >= i && own < h_.end_op(out_.txn[n]))
    return bad(Anomaly::future_read, i, own);
  bad(Anomaly::thin_air_read, i, kNone);
}

// Versions lie far apart: their cache misses are overlapped.
void Matcher::fetch_ahead(OpId op) const {
  if (op + kAhead >= h_.op_count()) return;
  const VersionId version = h_.op(op + kAhead).version;
  if (version == kNone) return;
  __builtin_prefetch(&origin_[version]);
  if (!out_.writes.of_version.empty()) __builtin_prefetch(&out_.writes.of_version[version]);
}

void Matcher::match_clean(Node n, OpId i) {
  const Observation seen = observation_of(h_, i);
  switch (seen.accepts) {
    case Accepts::any:
      break;
    case Accepts::equals:
      match_read(n, i, seen.key, seen.version);
      break;
    case Accepts::absent:
      match_absent(n, i, seen.key);
      break;
    case Accepts::list:
      match_list(n, i, seen.key);
      break;
    case Accepts::differs:
    case Accepts::present:
    case Accepts::matches:
    case Accepts::misses:
    case Accepts::rows:
    case Accepts::nothing:
      out_.unresolved.push_back(i);
      break;
  }
}

void Matcher::match(Node n) {
  const TxnId t = out_.txn[n];
  if (out_.is_possible(n)) {
    out_.reads.begin.push_back(static_cast<uint32_t>(out_.reads.items.size()));
    return;
  }
  // One range read may have seen any number of keys.
  const size_t assumed = assumed_of(out_.assumed, h_.first_op(t), h_.end_op(t)).size();
  keys_.start(h_.end_op(t) - h_.first_op(t) + static_cast<uint32_t>(assumed));
  for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
    fetch_ahead(i);
    const Operation op = h_.op(i);
    if (dirty_) {
      match_dirty(n, i);
    } else if (out_.assumed.empty() || !follow_assumptions(n, i)) {
      match_clean(n, i);
    }
    if (!installs_version(op)) continue;
    TxnKeys::State& state = keys_[op.key];
    state.written = true;
    state.version = op.version;
    state.op = i;
  }
  out_.reads.begin.push_back(static_cast<uint32_t>(out_.reads.items.size()));
}

// Turns (row, item) pairs, given by two passes of `visit`, into rows.
template <class T, class Visit>
Rows<T> collect_rows(size_t rows, Visit visit) {
  Rows<T> out;
  out.begin.assign(rows + 1, 0);
  visit([&](uint32_t row, T) { ++out.begin[row + 1]; });
  for (size_t i = 0; i < rows; ++i) out.begin[i + 1] += out.begin[i];
  out.items.resize(out.begin[rows]);
  std::vector<uint32_t> next(out.begin.begin(), out.begin.end() - 1);
  visit([&](uint32_t row, T item) { out.items[next[row]++] = item; });
  return out;
}

void Matcher::index_readers() {
  const auto each_read = [&](auto take) {
    for (Node n = 0; n < out_.nodes(); ++n) {
      for (const ExternalRead& read : out_.reads[n]) take(n, read);
    }
  };
  out_.readers = collect_rows<Node>(out_.writes.size(), [&](auto add) {
    each_read([&](Node n, const ExternalRead& read) {
      if (read.write != kNone) add(read.write, n);
    });
  });
  out_.initial_readers = collect_rows<Node>(h_.key_count(), [&](auto add) {
    each_read([&](Node n, const ExternalRead& read) {
      if (read.write == kNone) add(read.key, n);
    });
  });
  out_.writes.of_key = collect_rows<WriteId>(h_.key_count(), [&](auto add) {
    for (WriteId w = 0; w < out_.writes.size(); ++w) add(out_.writes.key[w], w);
  });
  std::vector<VersionId> read;
  for (const OpId op : out_.unresolved) read.push_back(h_.op(op).version);
  std::sort(read.begin(), read.end());
  for (DuplicateWrite& duplicate : out_.found.duplicates)
    duplicate.read = std::binary_search(read.begin(), read.end(), h_.op(duplicate.second).version);
}

void Matcher::index_sessions() {
  out_.sessions.resize(h_.session_count());
  for (SessionId s = 0; s < h_.session_count(); ++s) {
    for (TxnId t : h_.session_txns(s)) {
      if (out_.node[t] != kNone) out_.sessions[s].push_back(out_.node[t]);
    }
  }
}

}  // namespace

Problem match_reads(const History& history, std::span<const Seen> assumed, Budget& budget,
                    Reads reads, std::span<const TxnId> possible) {
  Problem problem = Matcher(history, assumed, budget, reads, possible).run();
  problem.history = &history;
  if (problem.found.bad_read.anomaly != Anomaly::none) return problem;
  if (const uint64_t bytes = stated_orders_bytes(problem); bytes > 0 && budget.has_room(bytes))
    problem.stated = stated_orders(problem);
  return problem;
}

std::span<const Seen> assumed_of(std::span<const Seen> assumed, OpId first, OpId end) {
  const auto by_op = [](const Seen& seen, OpId op) { return seen.op < op; };
  const auto from = std::lower_bound(assumed.begin(), assumed.end(), first, by_op);
  const auto to = std::lower_bound(from, assumed.end(), end, by_op);
  return {from, to};
}

void external_reads(const Problem& problem, Node n, std::vector<ExternalRead>& out) {
  out.assign(problem.reads[n].begin(), problem.reads[n].end());
  if (!std::binary_search(problem.repeating.begin(), problem.repeating.end(), n)) return;
  // Rare: walk the operations again and look the writers up.
  out.clear();
  WrittenKeys written;
  const History& history = *problem.history;
  const auto add = [&](KeyId key, WriteId write, OpId op) {
    key = problem.key_of(key);
    if (key != kNone) out.push_back({key, write, op});
  };
  const auto look = [&](const Observation& seen) {
    const std::span<const Seen> assumed = assumed_of(problem.assumed, seen.op, seen.op + 1);
    if (!assumed.empty() && assumed.front().element != kNone) {
      add(assumed.front().key, last_writer(problem, assumed), seen.op);
      return;
    }
    for (const Seen& one : assumed) {
      const KeyId key = problem.key_of(one.key);
      if (key == kNone) continue;
      const WriteId write =
          one.source == kNone ? kNone : problem.write_of(problem.node_of(one.source), key);
      out.push_back({key, write, seen.op});
    }
    if (!assumed.empty() ||
        std::binary_search(problem.unresolved.begin(), problem.unresolved.end(), seen.op))
      return;
    if (seen.accepts == Accepts::equals && !seen.own) {
      const WriteId source = problem.write_of_version(seen.version);
      if (source != kNone || history.is_initial(seen.version)) add(seen.key, source, seen.op);
    }
    if (seen.accepts == Accepts::absent && !seen.own) add(seen.key, kNone, seen.op);
    if (seen.accepts == Accepts::list) {
      const std::span<const VersionId> others = outside_list(history, seen.op).elements;
      const WriteId source = others.empty() ? kNone : problem.write_of_version(others.back());
      if (others.empty() || source != kNone) add(seen.key, source, seen.op);
    }
  };
  walk_accesses(history, problem.txn[n], written, look, [](const Install&) {});
}

}  // namespace assay::internal
