// A part of a problem is a problem like the whole, with less in it: the part's keys, the
// transactions that use them, the reads and writes of these keys, and sessions without the other
// transactions.
//
//   whole  s1: { w(x,1) w(y,1) } { w(z,1) }  s2: { r(x,1) }        part {x}  s1: { w(x,1) }  s2: {
//                                                                  r(x,1) }
//
// Nodes, writes and keys are numbered anew: tables over a part are as small as the part.
// Transactions, operations and versions keep their numbers: only the keys in a certificate need
// translation. Tables with an entry for each transaction or version are omitted, and Problem
// searches instead. Cost: linear in the part, apart from a binary search here and there, and once
// the tables of the whole.

#include "infer/projection.h"

#include <algorithm>
#include <numeric>

#include "base/invariants.h"
#include "base/sort_by.h"
#include "history/accesses.h"

namespace assay::internal {
Projector::Projector(const Problem& whole)
    : whole_(whole),
      key_(whole.keys(), kNone),
      node_(whole.nodes(), kNone),
      write_(whole.writes.size(), kNone) {
  if (whole.stated.empty()) return;
  stated_ = collect_rows<uint32_t>(whole.keys(), [&](auto add) {
    for (uint32_t i = 0; i < whole.stated.size(); ++i) add(whole.stated[i].key, i);
  });
}

Problem Projector::project(const Part& part) {
  Problem out;
  out.history = whole_.history;
  out.whole_key = part.keys;
  for (KeyId i = 0; i < part.keys.size(); ++i) key_[part.keys[i]] = i;
  for (Node i = 0; i < part.nodes.size(); ++i) node_[part.nodes[i]] = i;
  out.writes.begin.push_back(0);
  out.hint.by_reads = whole_.hint.by_reads;
  out.hint.by_order = whole_.hint.by_order;
  for (Node n : part.nodes) {
    out.txn.push_back(whole_.txn[n]);
    out.hint.read_time.push_back(whole_.hint.read_time[n]);
    out.hint.write_time.push_back(whole_.hint.write_time[n]);
    add_writes(n, out);
  }
  for (Node n : part.nodes) {
    add_reads(n, out);
    add_operations(n, out);
  }
  add_users(part, out);
  add_sessions(out);
  add_stated(part, out);
  for (KeyId key : part.keys) key_[key] = kNone;
  for (Node n : part.nodes) node_[n] = kNone;
  if constexpr (kInvariantsChecked) out.check_invariants();
  return out;
}

void Projector::add_writes(Node n, Problem& out) {
  for (const WriteId w : whole_.writes.of(n)) {
    const KeyId key = key_[whole_.writes.key[w]];
    if (key == kNone) continue;
    write_[w] = static_cast<WriteId>(out.writes.size());
    out.writes.key.push_back(key);
    out.writes.node.push_back(node_[n]);
    out.writes.version.push_back(whole_.writes.version[w]);
  }
  out.writes.begin.push_back(static_cast<uint32_t>(out.writes.size()));
}

void Projector::add_reads(Node n, Problem& out) const {
  for (const ExternalRead& read : whole_.reads[n]) {
    if (key_[read.key] == kNone) continue;
    if (read.write != kNone && node_[whole_.writes.node[read.write]] == kNone) continue;
    const WriteId write = read.write == kNone ? kNone : write_[read.write];
    out.reads.items.push_back({key_[read.key], write, read.op});
    if (whole_.has_lists && is_list_operation(whole_.history->op(read.op))) out.has_lists = true;
  }
  out.reads.close();
}

// Adds what the whole says about operations of the node.
void Projector::add_operations(Node n, Problem& out) const {
  if (std::binary_search(whole_.repeating.begin(), whole_.repeating.end(), n))
    out.repeating.push_back(node_[n]);
  const OpId first = whole_.history->first_op(whole_.txn[n]);
  const OpId end = whole_.history->end_op(whole_.txn[n]);
  const auto open = std::lower_bound(whole_.unresolved.begin(), whole_.unresolved.end(), first);
  for (auto op = open; op != whole_.unresolved.end() && *op < end; ++op)
    out.unresolved.push_back(*op);
  const auto assumed = std::lower_bound(whole_.assumed.begin(), whole_.assumed.end(), first,
                                        [](const Seen& seen, OpId op) { return seen.op < op; });
  for (auto seen = assumed; seen != whole_.assumed.end() && seen->op < end; ++seen)
    out.assumed.push_back(*seen);
}

void Projector::add_users(const Part& part, Problem& out) const {
  for (Node n : part.nodes) {
    for (const WriteId w : whole_.writes.of(n)) {
      if (key_[whole_.writes.key[w]] == kNone) continue;
      for (Node reader : whole_.readers[w])
        if (node_[reader] != kNone) out.readers.items.push_back(node_[reader]);
      out.readers.close();
    }
  }
  for (KeyId key : part.keys) {
    for (WriteId w : whole_.key_writers(key))
      if (node_[whole_.writes.node[w]] != kNone) out.writes.of_key.items.push_back(write_[w]);
    out.writes.of_key.close();
    for (Node n : whole_.initial_readers[key])
      if (node_[n] != kNone) out.initial_readers.items.push_back(node_[n]);
    out.initial_readers.close();
  }
}

void Projector::add_stated(const Part& part, Problem& out) const {
  if (stated_.rows() == 0) return;
  for (KeyId key : part.keys) {
    for (const uint32_t i : stated_[key]) {
      const StatedOrder& order = whole_.stated[i];
      if (node_[order.before] == kNone || node_[order.after] == kNone) continue;
      out.stated.push_back(
          {node_[order.before], node_[order.after], key_[key], order.source, order.source_is_op});
    }
  }
}

void Projector::add_sessions(Problem& out) const {
  const History& history = *out.history;
  std::vector<std::pair<SessionId, uint32_t>> places;
  for (const TxnId t : out.txn) places.emplace_back(history.session(t), history.position(t));
  std::vector<Node> nodes(out.nodes());
  std::iota(nodes.begin(), nodes.end(), 0);
  stable_sort_by(nodes, [&](Node n) { return pack(places[n].first, places[n].second); });
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i == 0 || places[nodes[i]].first != places[nodes[i - 1]].first) out.sessions.emplace_back();
    out.sessions.back().push_back(nodes[i]);
  }
}

}  // namespace assay::internal
