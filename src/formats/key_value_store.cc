#include "formats/key_value_store.h"

#include <utility>

namespace assay::internal::formats {
namespace {

constexpr std::string_view kPieceBegin = "x ";
constexpr std::string_view kPieceEnd = " y";

// The length of the text before the first piece: a text that was put, or 0.
size_t head_length(std::string_view text) {
  if (text.starts_with(kPieceBegin)) return 0;
  const size_t piece = text.find(kPieceBegin);
  return piece == text.npos ? text.size() : piece;
}

// The length of the piece at the beginning of the text; 0 if there is none.
size_t piece_length(std::string_view text) {
  const size_t end = text.starts_with(kPieceBegin) ? text.find(kPieceEnd) : text.npos;
  return end == text.npos ? 0 : end + kPieceEnd.size();
}

}  // namespace

bool KeyValueStore::is_piece(std::string_view text) {
  return !text.empty() && piece_length(text) == text.size();
}

bool KeyValueStore::read(std::string_view text, OwnedOp& to) {
  to.kind = OpKind::read;
  to.value = Value::of(std::string(text));
  if (!text.empty() &&
      !text.starts_with(kPieceBegin)) {  // as a list it has an element that was never appended
    to.list.push_back(to.value);
    return true;
  }
  while (!text.empty()) {
    const size_t length = piece_length(text);
    if (length == 0) return false;
    to.list.push_back(Value::of(std::string(text.substr(0, length))));
    text.remove_prefix(length);
  }
  return true;
}

KeyValueStore::Key& KeyValueStore::key(const Value& name) {
  return keys_[std::to_string(static_cast<int>(name.type)) + name.view().to_string()];
}

void KeyValueStore::add(const Value& session, const TxnHeader& header, std::vector<OwnedOp> ops) {
  txns_.push_back({session, header, std::move(ops)});
}

// The value of the text: its last piece, if every piece follows the same one as where it was first
// seen; otherwise the whole text.
std::string KeyValueStore::last_piece(Key& key, std::string_view text) {
  size_t at = head_length(text);
  std::string last(text.substr(0, at));
  while (at < text.size()) {
    const size_t length = piece_length(text.substr(at));
    if (length == 0) return std::string(text);
    std::string piece(text.substr(at, length));
    const auto [seen, fresh] = key.before.try_emplace(piece, last);
    if (seen->second != last) return std::string(text);
    last = std::move(piece);
    at += length;
  }
  return last;
}

Status KeyValueStore::look_at(const Txn& txn) {
  for (const OwnedOp& op : txn.ops) {
    Key& k = key(op.key);
    const std::string& text = op.value.text;
    if (op.kind == OpKind::read) continue;
    if (op.kind == OpKind::write) {
      k.put.insert(text);
      k.unclear = k.unclear || (!is_piece(text) && text.find(kPieceBegin) != text.npos);
    } else if (!k.appended.insert(text).second) {
      return bad_input(
          "the piece \"" + text +
              "\" is appended twice, expected unique pieces, which show which append a get saw",
          txn.header.line);
    }
    if (!k.appended.empty() && k.unclear)
      return bad_input(
          "a value that contains \"x \" is put where pieces are appended, expected a piece "
          "or a value without it",
          txn.header.line);
    if (k.put.contains(text) && k.appended.contains(text))
      return bad_input("the piece \"" + text +
                           "\" is both put and appended, expected unique pieces, which show which "
                           "of the two a get saw",
                       txn.header.line);
  }
  return Ok{};
}

void KeyValueStore::translate(Key& key, OwnedOp& op) {
  if (key.is_list()) {
    if (op.kind == OpKind::read) op.kind = OpKind::read_list;
    return;
  }
  if (key.appended.empty()) return;
  if (op.kind == OpKind::read) op.value.text = last_piece(key, op.value.text);
  if (op.kind != OpKind::append) return;
  const auto seen = key.before.find(op.value.text);
  op.kind = seen == key.before.end() ? OpKind::write : OpKind::cas;
  if (op.kind == OpKind::cas) op.expected = Value::of(seen->second);
}

Status KeyValueStore::finish(const AddTxn& add_txn) {
  for (const Txn& txn : txns_)
    if (auto s = look_at(txn); !s.ok()) return s;
  // Gets come first: they show what each piece was appended to.
  for (const OpKind kind : {OpKind::read, OpKind::append})
    for (Txn& txn : txns_)
      for (OwnedOp& op : txn.ops)
        if (op.kind == kind) translate(key(op.key), op);
  for (Txn& txn : txns_) {
    txn.header.session = txn.session.view();
    if (!add_txn(txn.header, txn.ops))
      return bad_input("the history is too large", txn.header.line);
    txn.ops = {};
  }
  return Ok{};
}

}  // namespace assay::internal::formats
