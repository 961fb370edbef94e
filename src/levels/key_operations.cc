#include "levels/key_operations.h"

#include <algorithm>
#include <compare>
#include <map>
#include <tuple>

#include "infer/stated_sources.h"

namespace assay::internal {

KeyOperations::KeyOperations(const History& history, const OperationTimes& times,
                             std::span<const TxnId> certain, std::span<const TxnId> possible)
    : history_(history), times_(times) {
  collect(certain, possible);
  enter_times();
}

void KeyOperations::collect(std::span<const TxnId> certain, std::span<const TxnId> possible) {
  for (const TxnId t : certain) add(t, true);
  for (const TxnId t : possible) add(t, false);
  contents_.push_back({});
  if (!ops_.empty()) contents_[0] = initial_state(history_, key());
  for (const Op& op : ops_)
    if (op.seen.accepts == Accepts::equals || op.seen.accepts == Accepts::differs)
      looked_for_.insert(op.seen.version);
  for (const Op& op : ops_)
    if (op.stated != kNone && op.stated != kInitialTxn) state_of_writer_.emplace(op.stated, kNone);
  std::unordered_map<uint64_t, uint32_t> states;
  std::map<std::tuple<Accepts, VersionId, uint32_t>, uint32_t> twins;
  for (Op& op : ops_) {
    if (!installs_version(history_.op(op.seen.op))) continue;
    op.state = state_of(op.txn, install_of(history_, op.seen.op).state(), states);
    const auto what = std::tuple(op.seen.accepts, op.seen.version, op.state);
    op.twins = twins.emplace(what, static_cast<uint32_t>(twins.size())).first->second;
  }
  twins_ = twins.size();
}

void KeyOperations::add(TxnId t, bool certain) {
  Op op{};
  op.txn = t;
  op.certain = certain;
  op.seen = observation_of(history_, history_.first_op(t));
  if (history_.states_sources()) op.stated = stated_source(history_, op.seen.op);
  ops_.push_back(op);
  certain_ += certain;
  left_ += certain;
}

// All values that are never read or compared with are one state.
uint32_t KeyOperations::state_of(TxnId writer, const KeyState& left,
                                 std::unordered_map<uint64_t, uint32_t>& states) {
  if (const auto own = state_of_writer_.find(writer); own != state_of_writer_.end()) {
    own->second = static_cast<uint32_t>(contents_.size());
    contents_.push_back(left);
    return own->second;
  }
  const bool null = history_.version_value(left.version).is_null();
  const bool plain = !left.removed && !null && !looked_for_.contains(left.version);
  const uint64_t name = plain ? ~uint64_t{0} : uint64_t{left.version} << 1 | left.removed;
  const auto [it, fresh] = states.emplace(name, contents_.size());
  if (!plain && !left.removed) state_of_version_.emplace(left.version, it->second);
  if (fresh) contents_.push_back(left);
  return it->second;
}

// Requests come first at equal times.
void KeyOperations::enter_times() {
  struct Moment {
    int64_t time;
    bool reply;
    uint32_t op;
    auto operator<=>(const Moment&) const = default;
  };
  std::vector<Moment> moments;
  for (uint32_t i = 0; i < ops_.size(); ++i) {
    moments.push_back({times_[ops_[i].txn].begin, false, i});
    if (ops_[i].certain) moments.push_back({times_[ops_[i].txn].end, true, i});
  }
  std::sort(moments.begin(), moments.end());
  entry_op_.assign(1, kNone);
  is_reply_.assign(1, 0);
  for (const Moment& m : moments) {
    const auto entry = static_cast<uint32_t>(entry_op_.size());
    Op& op = ops_[m.op];
    (m.reply ? op.reply : op.call) = entry;
    entry_op_.push_back(m.op);
    is_reply_.push_back(m.reply);
  }
  next_.resize(entry_op_.size());
  previous_.resize(entry_op_.size());
  for (uint32_t e = 0; e < next_.size(); ++e) {
    next_[e] = e + 1 < next_.size() ? e + 1 : kNone;
    previous_[e] = e - 1;
  }
}

bool KeyOperations::fits(const Op& op, uint32_t state) const {
  if (op.stated == kInitialTxn && state != 0) return false;
  if (op.stated != kNone && op.stated != kInitialTxn && state_of_writer_.at(op.stated) != state)
    return false;
  return assay::internal::fits(history_, op.seen, contents_[state]);
}

uint32_t KeyOperations::wanted_by(const Op& op) const {
  if (op.seen.accepts != Accepts::equals || op.stated == kInitialTxn) return kNone;
  if (op.stated != kNone) return state_of_writer_.at(op.stated);
  const auto found = state_of_version_.find(op.seen.version);
  return found == state_of_version_.end() ? kNone : found->second;
}

std::string KeyOperations::progress(uint32_t stuck_at) const {
  const Op& stuck = ops_[stuck_at];
  const auto responded = std::count(is_reply_.begin(), is_reply_.begin() + stuck.reply, 1);
  return "the first " + std::to_string(responded) + " of " + std::to_string(certain_) +
         " responses on key " + history_.key(stuck.seen.key).to_string() +
         " can be explained, but not yet that of transaction " + history_.name(stuck.txn);
}

void KeyOperations::take(uint32_t op) {
  const Op& o = ops_[op];
  unlink(o.call);
  if (o.certain) unlink(o.reply);
  left_ -= o.certain;
  toggle(op);
}

void KeyOperations::take_back(uint32_t op) {
  const Op& o = ops_[op];
  toggle(op);
  left_ += o.certain;
  if (o.certain) link(o.reply);
  link(o.call);
}

void KeyOperations::unlink(uint32_t e) {
  next_[previous_[e]] = next_[e];
  if (next_[e] != kNone) previous_[next_[e]] = previous_[e];
}
void KeyOperations::link(uint32_t e) {
  next_[previous_[e]] = e;
  if (next_[e] != kNone) previous_[next_[e]] = e;
}

void KeyOperations::toggle(uint32_t op) {
  taken_hash_.a ^= mix64(2 * uint64_t{op});
  taken_hash_.b ^= mix64(2 * uint64_t{op} + 1);
}

}  // namespace assay::internal
