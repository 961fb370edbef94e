#include "watch/state_bytes.h"

#include <algorithm>
#include <utility>

#include "history/value_bytes.h"

namespace assay::internal::watch {
namespace {

bool writes_key(const Member& m, KeyId key) {
  const History& h = *m.piece;
  for (OpId i = h.first_op(m.txn); i < h.end_op(m.txn); ++i)
    if (installs_version(h.op(i)) && h.op(i).key == key) return true;
  return false;
}

}  // namespace

// --- to bytes

void StateWriter::member(const Member& m) {
  txns_.add(m.line, m.piece, m.txn);
  to.number(m.line);
  to.number(m.number);
  to.integer(m.begin);
  to.integer(m.end);
  to.integer(m.last_look);
  to.flag(m.left_out);
}

void StateWriter::members(const std::vector<Member>& all) {
  each(all, [this](const Member& m) { member(m); });
}

void StateWriter::late(const LateTxn& p) {
  member(p.member);
  were_late_.try_emplace(p.member.number, p.member);
  to.number(p.behind);
  each(p.masked, [&](KeyId key) { put_value(to, p.member.piece->key(key)); });
  to.flag(p.in_chain);
  to.number(p.place);
  to.flag(p.moved);
}

void StateWriter::late(const std::vector<LateTxn>& all) {
  each(all, [this](const LateTxn& p) { late(p); });
}

void StateWriter::version(const LiveState::Version& v) {
  put_value(to, v.value.view());
  to.flag(v.removed);
}

void StateWriter::entry(const LiveState::Entry& e) {
  version(e.last);
  each(e.rivals, [this](const LiveState::Version& v) { version(v); });
}

void StateWriter::changes(const std::vector<LiveState::Change>& all) {
  each(all, [this](const LiveState::Change& change) {
    put_value(to, change.first.view());
    to.flag(change.second.has_value());
    if (change.second) entry(*change.second);
  });
}

void StateWriter::masked_writes(const std::vector<LateWrite>& all) {
  std::vector<LateWrite> known = all;
  std::erase_if(known, [this](const LateWrite& m) { return !were_late_.contains(m.number); });
  each(known, [this](const LateWrite& m) {
    to.number(m.number);
    put_value(to, were_late_.find(m.number)->second.piece->key(m.key));
  });
}

// --- and back

Member StateReader::member() {
  Member m;
  m.line = from.number();
  m.number = from.number();
  if (m.number == ~uint64_t{0}) from.fail();
  next_number_ = std::max(next_number_, m.number + 1);
  m.begin = from.integer();
  m.end = from.integer();
  m.last_look = from.integer();
  m.left_out = from.flag();
  m.piece = txns_.history();
  m.txn = txns_.find(m.line);
  if (m.txn == kNone) {
    from.fail();
    m.piece = std::make_shared<const History>();
    return m;
  }
  m.status = m.piece->status(m.txn);
  if (lines_.try_emplace(m.number, m.line).first->second != m.line) from.fail();
  return m;
}

std::vector<Member> StateReader::members() {
  std::vector<Member> all;
  each([&] { all.push_back(member()); });
  return all;
}

KeyId StateReader::written_key(const Member& m) {
  const KeyId key = txns_.key(take_value_view(from));
  if (m.txn != kNone && key != kNone && writes_key(m, key)) return key;
  from.fail();
  return kNone;
}

LateTxn StateReader::late() {
  LateTxn p;
  p.member = member();
  if (p.member.status != TxnStatus::unknown) from.fail();
  were_late_.try_emplace(p.member.number, p.member);
  p.behind = from.number();
  each([&] { p.masked.push_back(written_key(p.member)); });
  p.in_chain = from.flag();
  p.place = from.number();
  p.moved = from.flag();
  return p;
}

std::vector<LateTxn> StateReader::late_txns() {
  std::vector<LateTxn> all;
  each([&] { all.push_back(late()); });
  return all;
}

LiveState::Version StateReader::version() {
  HeldValue value = take_value(from);
  const bool removed = from.flag();
  return {std::move(value), removed};
}

LiveState::Entry StateReader::entry() {
  LiveState::Entry e{version()};
  each([&] { e.rivals.push_back(version()); });
  return e;
}

std::vector<LiveState::Change> StateReader::changes() {
  std::vector<LiveState::Change> all;
  each([&] {
    HeldValue key = take_value(from);
    if (from.flag())
      all.emplace_back(std::move(key), entry());
    else
      all.emplace_back(std::move(key), std::nullopt);
  });
  return all;
}

std::vector<LateWrite> StateReader::masked_writes() {
  std::vector<LateWrite> all;
  each([&] {
    const uint64_t number = from.number();
    const auto it = were_late_.find(number);
    if (it == were_late_.end()) return from.fail();
    all.push_back({number, written_key(it->second)});
  });
  return all;
}

}  // namespace assay::internal::watch
