#include "infer/reads_from.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "history/accesses.h"
#include "infer/dirty_states.h"
#include "infer/origins.h"
#include "infer/read_matcher.h"
#include "infer/slices.h"
#include "infer/stated_orders.h"
#include "infer/stated_sources.h"

namespace assay::internal {
namespace {

// Moves the parts into one vector, one after the other, and leaves them empty.
template <class T, class Part>
std::vector<T> joined(std::vector<Part>& parts, std::vector<T> Part::*member) {
  std::vector<T> all = std::move(parts[0].*member);
  size_t size = all.size();
  for (size_t i = 1; i < parts.size(); ++i) size += (parts[i].*member).size();
  all.reserve(size);
  for (size_t i = 1; i < parts.size(); ++i) {
    const std::vector<T> part = std::exchange(parts[i].*member, {});
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

// Turns the ends of rows, counted from the first row of their part, into the begins of rows of the
// whole.
template <class Part>
std::vector<uint32_t> joined_begins(const std::vector<Part>& parts,
                                    std::vector<uint32_t> Part::*ends) {
  std::vector<uint32_t> begins{0};
  for (const Part& part : parts)
    for (const uint32_t before = begins.back(); const uint32_t end : part.*ends)
      begins.push_back(before + end);
  return begins;
}

class ProblemMaker {
 public:
  ProblemMaker(const History& h, std::span<const Seen> assumed, Budget& budget, const Matching& how)
      : h_(h), budget_(budget), how_(how), threads_(threads_for(h.txn_count(), how.threads)) {
    out_.assumed.assign(assumed.begin(), assumed.end());
    out_.found.known = read_known_orders(h);
    std::string& contradiction = out_.found.known.contradiction;
    if (contradiction.empty()) contradiction = contradicted_source(h);
  }

  Problem run() {
    const Origins origins(h_, threads_, budget_);
    out_.found.mixed = origins.first_mixed();
    choose_nodes(origins);
    number_writes();
    if (budget_.exhausted_now()) return {};
    match(origins);
    if (budget_.exhausted_now()) return {};
    index_readers();
    note_duplicates(origins);
    index_sessions();
    return std::move(out_);
  }

 private:
  // The final writes of adjacent nodes.
  struct NumberedWrites {
    std::vector<uint32_t> ends;  // indexed by node: the number of writes up to its last
    std::vector<KeyId> key;
    std::vector<VersionId> version;
  };

  void choose_nodes(const Origins& origins);
  void keep_sources(const Origins& origins);
  void sources_of(TxnId t, const Origins& origins, WrittenKeys& written,
                  std::vector<TxnId>& found) const;
  void number_writes();
  void match(const Origins& origins);
  void index_readers();
  void note_duplicates(const Origins& origins);
  void index_sessions();

  const History& h_;
  Budget& budget_;
  const Matching& how_;
  const unsigned threads_;
  Problem out_;
};

void ProblemMaker::choose_nodes(const Origins& origins) {
  out_.node.assign(h_.txn_count(), kNone);
  bool any_unknown = false;
  for (TxnId t = 0; t < h_.txn_count(); ++t) {
    if (h_.status(t) == TxnStatus::committed) out_.node[t] = 0;
    any_unknown |= h_.status(t) == TxnStatus::unknown;
  }
  for (const std::vector<TxnId>& named : out_.found.known.named) {
    for (const TxnId t : named)
      if (t != kNone) out_.node[t] = 0;
  }
  if (any_unknown && how_.reads == Reads::clean) keep_sources(origins);
  std::vector<uint8_t> only_possible(how_.possible.empty() ? 0 : h_.txn_count());
  for (const TxnId t : how_.possible) only_possible[t] = out_.node[t] == kNone;
  for (TxnId t = 0; t < h_.txn_count(); ++t) {
    const bool possible = !only_possible.empty() && only_possible[t] != 0;
    if (out_.node[t] == kNone && !possible) continue;
    out_.node[t] = static_cast<Node>(out_.txn.size());
    if (possible) out_.possible.push_back(out_.node[t]);
    out_.txn.push_back(t);
  }
}

// Marks the transactions of unknown outcome that counting transactions read from; they count as
// well.
void ProblemMaker::keep_sources(const Origins& origins) {
  std::vector<std::vector<TxnId>> found(slice_count(threads_));
  in_slices(threads_, h_.txn_count(), budget_, [&] {
    return [&, written = WrittenKeys()](size_t slice, TxnId t) mutable {
      if (out_.node[t] != kNone) sources_of(t, origins, written, found[slice]);
    };
  });
  WrittenKeys written;
  std::vector<TxnId> reached;
  for (const std::vector<TxnId>& some : found)
    reached.insert(reached.end(), some.begin(), some.end());
  while (!reached.empty()) {
    const TxnId t = reached.back();
    reached.pop_back();
    if (out_.node[t] != kNone) continue;
    out_.node[t] = 0;
    sources_of(t, origins, written, reached);
  }
}

// Whether the read is stated to be from another transaction than the one that explains it best.
bool stated_to_be_of_another(const History& h, const Observation& seen, const Origin& best) {
  if (h.stated_source(seen.op) == kNone) return false;
  const TxnId source = stated_source(h, seen.op);
  return source != kNone && (best.op == kNone || source != h.txn_of(best.op));
}

// Appends the transactions of unknown outcome that `t` read from.
void ProblemMaker::sources_of(TxnId t, const Origins& origins, WrittenKeys& written,
                              std::vector<TxnId>& found) const {
  const auto keep = [&](VersionId version) {
    const Origin& origin = origins[version];
    if (!origin.unknown || origin.ambiguous || origin.kind != Origin::Kind::final_write) return;
    if (const TxnId source = h_.txn_of(origin.op); source != t) found.push_back(source);
  };
  for (const Seen& seen : assumed_of(out_.assumed, h_.first_op(t), h_.end_op(t)))
    if (seen.source != kNone && h_.status(seen.source) == TxnStatus::unknown)
      found.push_back(seen.source);
  const auto look = [&](const Observation& seen) {
    if (seen.accepts == Accepts::equals && !seen.own &&
        !stated_to_be_of_another(h_, seen, origins[seen.version]))
      keep(seen.version);
    if (seen.accepts == Accepts::list)  // if several transactions appended an element, its writer
                                        // is open
      for (const VersionId element : elements_of(h_, seen.op))
        if (!origins[element].several) keep(element);
    if (seen.accepts == Accepts::rows)
      each_row(h_, seen.op, [&](VersionId row) {
        if (!written.contains(h_.version_key(row))) keep(row);
      });
  };
  walk_accesses(h_, t, written, look, [](const Install&) {});
}

void ProblemMaker::number_writes() {
  std::vector<NumberedWrites> numbered(slice_count(threads_));
  in_slices(threads_, out_.nodes(), budget_, [&] {
    return [&, written = WrittenKeys(), own = std::vector<std::pair<KeyId, VersionId>>()](
               size_t slice, Node n) mutable {
      own.clear();
      if (!out_.is_possible(n))
        each_install(h_, out_.txn[n], written, [&](const Install& install) {
          if (install.final) own.push_back({install.key, install.version});
        });
      std::sort(own.begin(), own.end());  // sorted by key, for write_of
      NumberedWrites& to = numbered[slice];
      for (const auto& [key, version] : own) {
        to.key.push_back(key);
        to.version.push_back(version);
      }
      to.ends.push_back(static_cast<uint32_t>(to.key.size()));
    };
  });
  if (budget_.exhausted_now()) return;
  Writes& writes = out_.writes;
  writes.begin = joined_begins(numbered, &NumberedWrites::ends);
  writes.key = joined(numbered, &NumberedWrites::key);
  writes.version = joined(numbered, &NumberedWrites::version);
  writes.node.resize(writes.size());
  for (Node n = 0; n < out_.nodes(); ++n)
    std::fill(writes.node.begin() + writes.begin[n], writes.node.begin() + writes.begin[n + 1], n);
  writes.of_version.resize(h_.version_count(), kNone);
  for (WriteId w = 0; w < writes.size(); ++w) writes.of_version[writes.version[w]] = w;
}

void ProblemMaker::match(const Origins& origins) {
  std::optional<DirtyStates> dirty;
  if (how_.reads == Reads::dirty) dirty.emplace(h_);
  std::vector<MatchedReads> matched(slice_count(threads_));
  in_slices(threads_, out_.nodes(), budget_, [&] {
    return [&, matcher = ReadMatcher(h_, out_, origins, dirty ? &*dirty : nullptr)](
               size_t slice, Node n) mutable { matcher.match(n, matched[slice]); };
  });
  if (budget_.exhausted_now()) return;
  out_.reads.begin = joined_begins(matched, &MatchedReads::ends);
  out_.reads.items = joined(matched, &MatchedReads::reads);
  out_.repeating = joined(matched, &MatchedReads::repeating);
  out_.seen_openly = joined(matched, &MatchedReads::seen_openly);
  out_.unresolved = joined(matched, &MatchedReads::unresolved);
  for (const MatchedReads& part : matched) {
    Findings& found = out_.found;
    out_.has_lists |= part.has_lists;
    if (teaches_more(part.bad_read, found.bad_read)) found.bad_read = part.bad_read;
    if (found.non_repeatable.anomaly == Anomaly::none) found.non_repeatable = part.non_repeatable;
    if (found.unexplained != kNone) continue;
    found.unexplained = part.unexplained;
    found.unexplained_key = part.unexplained_key;
  }
}

void ProblemMaker::index_readers() {
  const auto each_read = [&](auto take) {
    for (Node n = 0; n < out_.nodes(); ++n) {
      for (const ExternalRead& read : out_.reads[n]) take(n, read);
    }
  };
  const auto readers = [&] {
    out_.readers = collect_rows<Node>(out_.writes.size(), [&](auto add) {
      each_read([&](Node n, const ExternalRead& read) {
        if (read.write != kNone) add(read.write, n);
      });
    });
  };
  const auto initial_readers = [&] {
    out_.initial_readers = collect_rows<Node>(h_.key_count(), [&](auto add) {
      each_read([&](Node n, const ExternalRead& read) {
        if (read.write == kNone) add(read.key, n);
      });
    });
  };
  const auto of_key = [&] {
    out_.writes.of_key = collect_rows<WriteId>(h_.key_count(), [&](auto add) {
      for (WriteId w = 0; w < out_.writes.size(); ++w) add(out_.writes.key[w], w);
    });
  };
  call_all(threads_, readers, initial_readers, of_key);
}

void ProblemMaker::note_duplicates(const Origins& origins) {
  std::vector<VersionId> read;
  for (const OpId op : out_.unresolved)
    if (h_.stated_source(op) == kNone) read.push_back(h_.op(op).version);
  std::sort(read.begin(), read.end());
  out_.found.duplicates = origins.duplicates();
  for (DuplicateWrite& duplicate : out_.found.duplicates)
    duplicate.read = std::binary_search(read.begin(), read.end(), h_.op(duplicate.second).version);
}

void ProblemMaker::index_sessions() {
  out_.sessions.resize(h_.session_count());
  for (SessionId s = 0; s < h_.session_count(); ++s) {
    for (TxnId t : h_.session_txns(s)) {
      if (out_.node[t] != kNone) out_.sessions[s].push_back(out_.node[t]);
    }
  }
}

}  // namespace

Problem match_reads(const History& history, std::span<const Seen> assumed, Budget& budget,
                    const Matching& how) {
  Problem problem = ProblemMaker(history, assumed, budget, how).run();
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

WriteId last_writer(const Problem& problem, std::span<const Seen> blocks) {
  const auto last =
      std::max_element(blocks.begin(), blocks.end(),
                       [](const Seen& a, const Seen& b) { return a.element < b.element; });
  return problem.write_of(problem.node_of(last->source), problem.key_of(last->key));
}

void external_reads(const Problem& problem, Node n, std::vector<ExternalRead>& out) {
  out.assign(problem.reads[n].begin(), problem.reads[n].end());
  if (!std::binary_search(problem.repeating.begin(), problem.repeating.end(), n)) return;
  // Rare, so the operations are walked again and the writers looked up.
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
