// A store of texts with get, put and append, as Porcupine's histories have it. Appends are pieces
// "x … y", which allow a text that was read to be taken apart.
//
// A key to which pieces are only appended is a list. A key with both puts and appends is a
// register, whose value is the last piece of the text, or the text that was put:
//
//   put p     write p
//   append a  compare-and-set from b to a, if some get showed a right after b; a piece that no get
//             saw leaves a text that no get saw: a write of a
//   get       read of the last piece; "" at first
//
// This is exact as long as no piece is written twice. A piece then follows the same text wherever
// it is seen, and a get that shows it after another text read a value that was never written: its
// value is the whole text. And if anything followed an unseen piece on the same text, it would show
// the piece, so only a put can come next, as after a write.
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "assay/history.h"
#include "formats/owned_op.h"

namespace assay::internal::formats {

class KeyValueStore {
 public:
  static constexpr const char* kWantPieces =
      "expected pieces like \"x 0 1 y\", each beginning with \"x \" and ending with \" y\"";

  static bool is_piece(std::string_view text);
  // Turns what a get returned into a read of the text and of its pieces; false if it starts with a
  // piece and cannot be taken apart.
  static bool read(std::string_view text, OwnedOp& to);

  using AddTxn = std::function<bool(const TxnHeader&, const std::vector<OwnedOp>&)>;

  void add(const Value& session, const TxnHeader& header, std::vector<OwnedOp> ops);
  // Passes on all transactions in the order in which they were added, with operations on lists and
  // registers instead of gets, puts and appends.
  Status finish(const AddTxn& add_txn);

 private:
  struct Txn {
    Value session;
    TxnHeader header;
    std::vector<OwnedOp> ops;
  };
  struct Key {
    std::unordered_set<std::string> put, appended;
    bool unclear = false;  // a text was put that does not divide into pieces
    std::unordered_map<std::string, std::string>
        before;  // per piece: what came before it when it was first seen
    bool is_list() const { return !appended.empty() && put.empty(); }
  };

  Key& key(const Value& name);
  Status look_at(const Txn& txn);
  static std::string last_piece(Key& key, std::string_view text);
  static void translate(Key& key, OwnedOp& op);

  std::deque<Txn> txns_;
  std::unordered_map<std::string, Key> keys_;
};

}  // namespace assay::internal::formats
