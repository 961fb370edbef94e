#include "infer/read_matcher.h"

#include <algorithm>
#include <utility>

#include "history/accesses.h"
#include "infer/reads_from.h"
#include "infer/stated_sources.h"

namespace assay::internal {
namespace {

constexpr OpId kAhead = 16;  // operations, for fetch_ahead

}  // namespace

ReadMatcher::ReadMatcher(const History& history, const Problem& problem, const Origins& origins,
                         const DirtyStates* dirty)
    : h_(history),
      problem_(problem),
      origins_(origins),
      dirty_(dirty),
      lists_(history, problem, origins) {}

void ReadMatcher::bad(const BadRead& found) {
  if (teaches_more(found, out_->bad_read)) out_->bad_read = found;
}

void ReadMatcher::note_repeating(Node n) {
  if (out_->repeating.empty() || out_->repeating.back() != n) out_->repeating.push_back(n);
}

// Whether the read saw what its transaction wrote last, or the absence that this left.
bool ReadMatcher::explained_by_own(const TxnKeys::State& own, VersionId version) const {
  return shows(h_, install_of(h_, own.op).state(), version);
}

// A write of the version by another transaction, whatever its outcome; kNone if there is none.
// Searches the whole history: called only to report a fault.
OpId ReadMatcher::other_writer(VersionId version, TxnId reader) const {
  for (OpId i = 0; i < h_.op_count(); ++i) {
    const Operation op = h_.op(i);
    const bool own = i >= h_.first_op(reader) && i < h_.end_op(reader);
    if (!own && op.version == version && installs_version(op)) return i;
  }
  return kNone;
}

// Checks that a read of a key that its transaction wrote before returns the transaction's last
// write.
void ReadMatcher::check_own(OpId op, const TxnKeys::State& own, VersionId version) {
  if (explained_by_own(own, version)) return;
  const OpId first = h_.first_op(h_.txn_of(op));
  for (OpId i = op; i-- > first;) {
    const Operation earlier = h_.op(i);
    if (installs_version(earlier) && earlier.version == version) {
      bad({Anomaly::not_my_last_write, op, i});
      return;
    }
  }
  bad({Anomaly::not_my_own_write, op, own.op});
}

void ReadMatcher::external_read(Node n, OpId op, KeyId key, VersionId version) {
  if (const BadRead dirty = stated_dirty_read(h_, op); dirty.anomaly != Anomaly::none)
    return bad(dirty);
  if (out_->non_repeatable.anomaly == Anomaly::none)
    out_->non_repeatable = stated_other_read(h_, op);
  if (origins_.is_ambiguous(key, version)) {
    out_->unresolved.push_back(op);
    return;
  }
  TxnKeys::State& state = keys_[key];
  if (state.read) {
    note_repeating(n);
    const bool assumed = !assumed_of(problem_.assumed, state.op, state.op + 1).empty();
    if (!assumed && state.version != version && out_->non_repeatable.anomaly == Anomaly::none) {
      out_->non_repeatable = {Anomaly::non_repeatable_read, op, state.op};
    }
  }
  const Origin& origin = origins_[version];
  const bool initial = origin.kind != Origin::Kind::final_write && h_.is_initial(version);
  if (!initial) {
    const bool own_later =
        origin.op != kNone && origin.op >= op && origin.op < h_.end_op(problem_.txn[n]);
    if (own_later) {
      const OpId other = origin.several ? other_writer(version, problem_.txn[n]) : kNone;
      if (other == kNone) return bad({Anomaly::future_read, op, origin.op});
      const bool aborted = h_.status(h_.txn_of(other)) == TxnStatus::aborted;
      return bad({aborted ? Anomaly::aborted_read : Anomaly::intermediate_read, op, other});
    }
    if (origin.kind == Origin::Kind::nobody) return bad({Anomaly::thin_air_read, op, kNone});
    if (origin.kind == Origin::Kind::aborted) return bad({Anomaly::aborted_read, op, origin.op});
    if (origin.kind == Origin::Kind::intermediate) {
      return bad({Anomaly::intermediate_read, op, origin.op});
    }
  }
  if (state.read) return;
  state.read = true;
  state.version = version;
  state.op = op;
  out_->reads.push_back({key, initial ? kNone : problem_.writes.of_version[version], op});
}

void ReadMatcher::match_read(Node n, OpId op, KeyId key, VersionId version) {
  const TxnKeys::State& state = keys_[key];
  if (state.written) {
    check_own(op, state, version);
  } else {
    external_read(n, op, key, version);
  }
}

// Reads from the sources that are assumed for the operation. False if none are.
bool ReadMatcher::follow_assumptions(Node n, OpId op) {
  const std::span<const Seen> assumed = assumed_of(problem_.assumed, op, op + 1);
  if (!assumed.empty() && assumed.front().element != kNone) {
    external_list(n, op, assumed.front().key, last_writer(problem_, assumed));
    return true;
  }
  for (const Seen& seen : assumed) {
    TxnKeys::State& state = keys_[seen.key];
    if (state.read) {
      note_repeating(n);
      continue;
    }
    const WriteId write =
        seen.source == kNone ? kNone : problem_.write_of(problem_.node[seen.source], seen.key);
    state.read = true;
    state.op = op;
    state.version = write == kNone ? kNone : problem_.writes.version[write];
    out_->reads.push_back({seen.key, write, op});
  }
  return !assumed.empty();
}

// An insert that took effect found the key absent: it read the initial null, unless the key may
// also be absent because of deletes.
void ReadMatcher::match_absent(Node n, OpId op, KeyId key) {
  TxnKeys::State& state = keys_[key];
  const bool assumed = state.read && !assumed_of(problem_.assumed, state.op, state.op + 1).empty();
  const bool clear = !state.written && (!state.read || assumed) &&
                     !origins_.deleted_somewhere(key) && h_.initial(key).is_null();
  if (!clear) {
    out_->unresolved.push_back(op);
    return;
  }
  if (assumed) {
    note_repeating(n);
    return;
  }
  state.read = true;
  state.op = op;
  out_->reads.push_back({key, kNone, op});
}

void ReadMatcher::match_list(Node n, OpId op, KeyId key) {
  const ListRead list = lists_.clean(problem_.txn[n], op, key);
  TxnKeys::State& state = keys_[key];
  if (list.kind == ListRead::Kind::bad) return bad(list.bad);
  if (list.kind == ListRead::Kind::read)
    return external_list(n, op, key,
                         list.last == kNone ? kNone : problem_.writes.of_version[list.last]);
  out_->unresolved.push_back(op);
  if (list.kind == ListRead::Kind::cut) return;
  if (state.list_op == kNone)
    state.list_op = op;
  else if (!origins_.mixed(key))
    check_repeated_list(op, state.list_op);
}

// Matches a list whose last element is from this write.
void ReadMatcher::external_list(Node n, OpId op, KeyId key, WriteId write) {
  TxnKeys::State& state = keys_[key];
  if (state.list_op != kNone) {
    note_repeating(n);
    return check_repeated_list(op, state.list_op);
  }
  state.list_op = op;
  out_->has_lists = true;
  out_->reads.push_back({key, write, op});
}

// Checks two reads of one list by one transaction.
void ReadMatcher::check_repeated_list(OpId op, OpId earlier) {
  const std::span<const VersionId> first = outside_list(h_, earlier).elements,
                                   second = outside_list(h_, op).elements;
  if (!std::equal(first.begin(), first.end(), second.begin(), second.end()) &&
      out_->non_repeatable.anomaly == Anomaly::none)
    out_->non_repeatable = {Anomaly::non_repeatable_read, op, earlier};
}

void ReadMatcher::match_dirty_list(Node n, OpId op, KeyId key) {
  const ListRead list = lists_.dirty(problem_.txn[n], op, key);
  if (list.kind == ListRead::Kind::bad) return bad(list.bad);
  if (list.kind == ListRead::Kind::open) return out_->unresolved.push_back(op);
  out_->has_lists = true;
  out_->reads.push_back(
      {key, list.last == kNone ? kNone : problem_.writes.of_version[list.last], op});
}

// Notes the versions that were read and stayed: their places have to be known.
void ReadMatcher::note_dirty_reads(OpId op) {
  const TxnId stated = h_.states_sources() ? stated_source(h_, op) : kNone;
  if (stated == kInitialTxn) return;
  for (const Observation& seen : dirty_->seen_by(op)) {
    const std::vector<OpId> writes = stated == kNone
                                         ? dirty_->explained_by(seen)
                                         : std::vector<OpId>{stated_write(h_, op, stated)};
    const auto is_gone = [this](OpId w) {
      return problem_.node[h_.txn_of(w)] == kNone || is_overwritten(h_, w);
    };
    if (writes.empty() || std::any_of(writes.begin(), writes.end(), is_gone)) continue;
    if (writes.size() > 1)
      out_->seen_openly.push_back(seen.key);
    else
      out_->reads.push_back(
          {seen.key, problem_.write_of(problem_.node[h_.txn_of(writes[0])], seen.key), op});
  }
}

// Matches a read at pl-1: any state that any transaction ever left explains it; only reads of the
// transaction's own writes must be right.
void ReadMatcher::match_dirty(Node n, OpId i) {
  const Observation seen = observation_of(h_, i);
  if (seen.accepts == Accepts::any) return;
  if (seen.accepts == Accepts::list) return match_dirty_list(n, i, seen.key);
  const bool equals = seen.accepts == Accepts::equals;
  if (equals && keys_[seen.key].written) return check_own(i, keys_[seen.key], seen.version);
  if (seen.accepts == Accepts::rows ? origins_.any_lists() && dirty_->covers_list(i)
                                    : origins_.mixed(seen.key)) {
    out_->unresolved.push_back(i);
    return;
  }
  const KeyId unexplained = dirty_->unexplained(i);
  if (unexplained == kNone) return note_dirty_reads(i);
  if (!equals || h_.version_value(seen.version).is_null()) {
    if (out_->unexplained == kNone) {
      out_->unexplained = i;
      out_->unexplained_key = unexplained;
    }
    return;
  }
  const OpId own = origins_[seen.version].op;
  if (own != kNone && own >= i && own < h_.end_op(problem_.txn[n]))
    return bad({Anomaly::future_read, i, own});
  bad({Anomaly::thin_air_read, i, kNone});
}

// Versions lie far apart: their cache misses are overlapped.
void ReadMatcher::fetch_ahead(OpId op) const {
  if (op + kAhead >= h_.op_count()) return;
  const VersionId version = h_.op(op + kAhead).version;
  if (version == kNone) return;
  __builtin_prefetch(&origins_[version]);
  if (!problem_.writes.of_version.empty()) __builtin_prefetch(&problem_.writes.of_version[version]);
}

void ReadMatcher::match_clean(Node n, OpId i) {
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
      out_->unresolved.push_back(i);
      break;
  }
}

void ReadMatcher::match(Node n, MatchedReads& out) {
  out_ = &out;
  const TxnId t = problem_.txn[n];
  if (problem_.is_possible(n)) {
    out_->ends.push_back(static_cast<uint32_t>(out_->reads.size()));
    return;
  }
  // One range may have read any number of keys.
  const size_t assumed = assumed_of(problem_.assumed, h_.first_op(t), h_.end_op(t)).size();
  keys_.start(h_.end_op(t) - h_.first_op(t) + static_cast<uint32_t>(assumed));
  for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
    fetch_ahead(i);
    const Operation op = h_.op(i);
    if (dirty_ != nullptr) {
      match_dirty(n, i);
    } else if (problem_.assumed.empty() || !follow_assumptions(n, i)) {
      match_clean(n, i);
    }
    if (!installs_version(op)) continue;
    TxnKeys::State& state = keys_[op.key];
    state.written = true;
    state.version = op.version;
    state.op = i;
  }
  out_->ends.push_back(static_cast<uint32_t>(out_->reads.size()));
}

}  // namespace assay::internal
