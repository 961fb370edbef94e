// A part of a history is a reads-from relation like that of the whole, with less in it: the part's keys, the
// transactions that use them, of each the reads and writes of these keys, and sessions without the others.
//
//   whole  s1: { w(x,1) w(y,1) } { w(z,1) }  s2: { r(x,1) }        part {x}  s1: { w(x,1) }  s2: { r(x,1) }
//
// Everything is numbered anew, so that tables over a part are as small as the part. Transactions and operations keep
// their numbers: what is said of them in a certificate needs no translation, only keys do. Cost: linear in the part,
// and once the tables of the whole.

#include "infer/projection.h"

#include <algorithm>
#include <numeric>

namespace assay::internal {

Projector::Projector(const ReadsFrom& rf, const Hint& hint, std::span<const StatedOrder> stated)
    : rf_(rf),
      hint_(hint),
      key_(rf.writers.rows(), kNone),
      node_(rf.nodes(), kNone),
      write_(rf.writes(), kNone) {
  if (stated.empty()) return;
  std::vector<uint32_t>& begin = stated_.begin;
  begin.assign(rf.writers.rows() + 1, 0);
  for (const StatedOrder& order : stated) ++begin[order.key + 1];
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  stated_.items.resize(stated.size());
  std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
  for (const StatedOrder& order : stated) stated_.items[next[order.key]++] = order;
}

Projection Projector::project(const History& history, const Part& part) {
  Projection out;
  for (KeyId i = 0; i < part.keys.size(); ++i) key_[part.keys[i]] = i;
  for (Node i = 0; i < part.nodes.size(); ++i) node_[part.nodes[i]] = i;
  out.rf.write_begin.push_back(0);
  for (Node n : part.nodes) add_writes(n, out);
  for (Node n : part.nodes) add_reads(n, out.rf);
  add_users(part, out.rf);
  add_sessions(history, part, out.rf);
  add_stated(part, out.rf);
  for (KeyId key : part.keys) key_[key] = kNone;
  for (Node n : part.nodes) node_[n] = kNone;
  return out;
}

void Projector::add_writes(Node n, Projection& out) {
  out.rf.txn.push_back(rf_.txn[n]);
  out.hint.read_time.push_back(hint_.read_time[n]);
  out.hint.write_time.push_back(hint_.write_time[n]);
  for (WriteId w = rf_.write_begin[n]; w < rf_.write_begin[n + 1]; ++w) {
    if (key_[rf_.write_key[w]] == kNone) continue;
    write_[w] = static_cast<WriteId>(out.rf.writes());
    out.rf.write_key.push_back(key_[rf_.write_key[w]]);
    out.rf.write_node.push_back(node_[n]);
    out.rf.write_version.push_back(rf_.write_version[w]);
  }
  out.rf.write_begin.push_back(static_cast<uint32_t>(out.rf.writes()));
}

void Projector::add_reads(Node n, ReadsFrom& rf) {
  for (const ExternalRead& read : rf_.reads[n]) {
    if (key_[read.key] == kNone) continue;
    const WriteId write = read.write == kNone ? kNone : write_[read.write];
    rf.reads.items.push_back({key_[read.key], write, read.op});
  }
  rf.reads.begin.push_back(static_cast<uint32_t>(rf.reads.items.size()));
}

void Projector::add_users(const Part& part, ReadsFrom& rf) {
  for (Node n : part.nodes) {
    for (WriteId w = rf_.write_begin[n]; w < rf_.write_begin[n + 1]; ++w) {
      if (key_[rf_.write_key[w]] == kNone) continue;
      for (Node reader : rf_.readers[w]) rf.readers.items.push_back(node_[reader]);
      rf.readers.begin.push_back(static_cast<uint32_t>(rf.readers.items.size()));
    }
  }
  for (KeyId key : part.keys) {
    for (WriteId w : rf_.key_writers(key)) rf.writers.items.push_back(write_[w]);
    rf.writers.begin.push_back(static_cast<uint32_t>(rf.writers.items.size()));
    for (Node n : rf_.initial_readers[key]) rf.initial_readers.items.push_back(node_[n]);
    rf.initial_readers.begin.push_back(static_cast<uint32_t>(rf.initial_readers.items.size()));
  }
}

void Projector::add_stated(const Part& part, ReadsFrom& rf) const {
  rf.stated.emplace();
  if (stated_.rows() == 0) return;
  for (KeyId key : part.keys) {
    for (const StatedOrder& order : stated_[key])
      rf.stated->push_back(
          {node_[order.before], node_[order.after], key_[key], order.source, order.source_is_op});
  }
}

void Projector::add_sessions(const History& history, const Part& part, ReadsFrom& rf) {
  std::vector<std::pair<SessionId, uint32_t>> places;
  for (Node n : part.nodes) {
    places.emplace_back(history.session(rf_.txn[n]), history.position(rf_.txn[n]));
  }
  std::vector<Node> nodes(part.nodes.size());
  std::iota(nodes.begin(), nodes.end(), 0);
  std::sort(nodes.begin(), nodes.end(), [&](Node a, Node b) { return places[a] < places[b]; });
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (i == 0 || places[nodes[i]].first != places[nodes[i - 1]].first) rf.sessions.emplace_back();
    rf.sessions.back().push_back(nodes[i]);
  }
}

}  // namespace assay::internal
