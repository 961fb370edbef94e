// The records of a file in JSON or EDN as texts: its values, or the elements of the single array
// around them, in EDN a vector or list. They are read one at a time, so a file of any size needs
// memory for its longest record only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "formats/input.h"

namespace assay::internal::formats {

class RecordText {
 public:
  // No record may be longer than `most`.
  RecordText(Input& input, bool json, size_t most = kMaxLineBytes)
      : input_(input), json_(json), most_(most) {}

  // Goes to the next record; false at the end.
  Result<bool> next();
  // The current record, valid until the next call, and its place.
  std::string_view text() const { return text_; }
  uint64_t line() const { return line_; }
  bool is_json() const { return json_; }
  // An error at an offset of the current record.
  Error error(size_t offset, std::string message) const;
  // An error in a result that was built from the current record.
  template <class Built>
  auto located(Built built) const {
    return input_.located(std::move(built));
  }

 private:
  Result<char> peek();
  Result<char> step();
  void consume(size_t size);
  Result<size_t> length();
  Error too_long() const;

  Input& input_;
  bool json_;
  size_t most_;
  std::string_view text_;
  size_t unconsumed_ = 0;  // length of the record that the caller is using
  char close_ = '\0';      // closes the array around the records; '\0' if there is none
  bool started_ = false;
  uint64_t line_ = 1;  // line of the window's first byte
  uint64_t column_ = 1;
};

}  // namespace assay::internal::formats
