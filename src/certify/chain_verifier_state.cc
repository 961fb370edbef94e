// What a verifier of a chain holds between two segments, written down so that another one goes on where it stood.
#include <algorithm>
#include <utility>

#include "certify/chain_verifier.h"
#include "history/value_bytes.h"

namespace assay::internal::certify {
namespace {

template <class Lines>
void put_all(StreamWriter& to, const Lines& lines) {
  to.number(lines.size());
  for (const uint64_t line : lines) to.number(line);
}

}  // namespace

void ChainVerifier::put(StreamWriter& to, const Version& v) {
  put_value(to, v.value.view());
  to.flag(v.removed);
}

ChainVerifier::Version ChainVerifier::take_version(StreamReader& from) {
  HeldValue value = take_value(from);
  const bool removed = from.flag();
  return {std::move(value), removed};
}

void ChainVerifier::save(StreamWriter& to, formats::TxnTableWriter& txns) const {
  to.number(lines_.last());
  to.number(read_);
  to.number(last_placed_);
  to.integer(latest_begin_);
  to.number(left_out_);
  to.number(gaps_);
  to.number(waiting_.size());
  for (const auto& [line, t] : waiting_) {
    txns.add(line, t.piece->history, t.txn);
    to.number(line);
  }
  to.number(sessions_.size());
  for (const auto& [name, session] : sessions_) {
    put_value(to, name.view());
    to.number(session.latest);
  }
  to.number(contents_.size());
  for (const auto& [key, content] : contents_) {
    put_value(to, key.view());
    put(to, content.last);
    to.number(content.writer);
    to.flag(content.looked);
    to.number(content.rivals ? content.rivals->size() : 0);
    if (content.rivals)
      for (const Version& v : *content.rivals) put(to, v);
  }
  put_all(to, parked_);
  to.number(parked_keys_.size());
  for (const auto& [key, lines] : parked_keys_) {
    put_value(to, key.view());
    put_all(to, lines);
  }
  to.number(excused_.size());
  for (const auto& [key, values] : excused_) {
    put_value(to, key.view());
    to.number(values.size());
    for (const HeldValue& value : values) put_value(to, value.view());
  }
}

// Of transactions that wait.
std::vector<uint64_t> ChainVerifier::take_held_lines(StreamReader& from) const {
  std::vector<uint64_t> lines;
  for (size_t n = from.count(); n > 0; --n) lines.push_back(from.number());
  if (!std::ranges::all_of(lines, [&](uint64_t line) { return holds(line); })) from.fail();
  return lines;
}

Status ChainVerifier::load(StreamReader& from, const formats::TxnTable& txns) {
  lines_ = LineNumbers(from.number());
  read_ = from.number();
  last_placed_ = from.number();
  latest_begin_ = from.integer();
  left_out_ = from.number();
  gaps_ = from.number();
  const auto piece = std::make_shared<Piece>();
  piece->history = txns.history();
  piece->keys.resize(piece->history->key_count());
  piece->gaps = gaps_;
  for (size_t n = from.count(); n > 0; --n) {
    const uint64_t line = from.number();
    const TxnId t = txns.find(line);
    if (t == kNone || !waiting_.emplace(line, Txn{piece, t}).second) {
      from.fail();
      break;
    }
    sessions_[HeldValue(piece->history->session_name(piece->history->session(t)))].waiting.insert(
        line);
  }
  for (size_t n = from.count(); n > 0; --n) {
    const HeldValue name = take_value(from);
    sessions_[name].latest = from.number();
  }
  for (size_t n = from.count(); n > 0; --n) {
    HeldValue key = take_value(from);
    Content content{take_version(from)};
    content.writer = from.number();
    content.looked = from.flag();
    for (size_t rivals = from.count(); rivals > 0; --rivals) {
      if (!content.rivals) content.rivals = std::make_unique<std::vector<Version>>();
      content.rivals->push_back(take_version(from));
    }
    contents_.emplace(std::move(key), std::move(content));
  }
  for (const uint64_t line : take_held_lines(from)) parked_.insert(line);
  for (size_t n = from.count(); n > 0; --n) {
    const HeldValue key = take_value(from);
    std::vector<uint64_t>& lines = parked_keys_[key] = take_held_lines(from);
    const auto parked = [&](uint64_t line) { return parked_.contains(line); };
    if (!std::ranges::all_of(lines, parked)) from.fail();
  }
  for (size_t n = from.count(); n > 0; --n) {
    auto& values = excused_[take_value(from)];
    for (size_t m = from.count(); m > 0; --m) values.insert(take_value(from));
  }
  if (!from.ok()) return bad_input("what is kept of the chain makes no sense");
  return Ok{};
}

}  // namespace assay::internal::certify
