// EDN, Clojure's data notation, as far as histories use it: nil, booleans, numbers, strings,
// characters, keywords, symbols, lists, vectors, maps, sets, tagged values (the tag is dropped),
// comments and discards. The same parser reads JSON, once that has been found valid: its colons are
// blanks then.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "assay/history.h"
#include "formats/record_text.h"

namespace assay::internal::formats {

struct Datum {
  enum class Kind : uint8_t {
    nil,
    boolean,  // `integer` is 0 or 1
    integer,
    real,  // `text` as written; also for symbols
    string,
    keyword,  // `text` without the colon
    symbol,
    list,  // also for vectors
    map,   // its children are keys and values in turn
    set,
  };
  Kind kind = Kind::nil;
  int64_t integer = 0;
  std::string_view text;
  size_t at = 0;           // offset in the record
  size_t end = 0;          // offset after its end
  uint32_t child = kNone;  // index of the first child
  uint32_t next = kNone;   // index of the next one in the same collection
  uint32_t children = 0;
};

// One record as a tree. Views into it live until the next parse.
class DatumTree {
 public:
  // What may follow the value.
  enum class Rest : uint8_t { refused, ignored };
  // Returns false at a fault, which is then in message() and fault_at().
  bool parse(std::string_view text, bool json, Rest rest = Rest::refused);

  const Datum& root() const { return nodes_[0]; }
  const Datum& at(uint32_t i) const { return nodes_[i]; }
  // The first child of `d`, and the one after `d`; null if there is none.
  const Datum* first(const Datum& d) const { return d.child == kNone ? nullptr : &nodes_[d.child]; }
  const Datum* next(const Datum& d) const { return d.next == kNone ? nullptr : &nodes_[d.next]; }
  // The value for a key of a map that is a keyword or string; null if it is missing.
  const Datum* field(const Datum& map, std::string_view name) const;

  const std::string& message() const { return message_; }
  size_t fault_at() const { return at_; }

 private:
  bool fail(std::string message);
  bool done() const { return at_ >= text_.size(); }
  bool skip_blanks(int depth);
  bool value(uint32_t index, int depth);
  bool collection(uint32_t index, Datum::Kind kind, char close, int depth);
  bool hash(uint32_t index, int depth);
  bool string(Datum& d);
  bool escape(std::string& to);
  bool character(Datum& d);
  bool atom(Datum& d);
  bool number(Datum& d, std::string_view word);

  std::string_view text_;
  bool json_ = false;
  size_t at_ = 0;
  std::vector<Datum> nodes_;
  std::deque<std::string> strings_;
  std::string message_;
};

// The records of a file as trees.
class EdnRecords : public RecordText {
 public:
  using RecordText::RecordText;
  // Reads the next record; false at the end.
  Result<bool> next(DatumTree& tree);
};

}  // namespace assay::internal::formats
