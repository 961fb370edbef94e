// The loop of every line-by-line reader, and a look at the first line for detection.
#pragma once

#include <algorithm>
#include <string_view>

#include "formats/input.h"
#include "formats/text_cursor.h"

namespace assay::internal::formats {

// Calls `read_line(cursor)` for every line that is not blank; if it fails, the loop ends with the
// cursor's message.
template <class ReadLine>
Status for_each_line(Input& input, ReadLine read_line) {
  Input::Line line;
  for (;;) {
    auto more = input.next_line(line);
    if (!more.ok()) return more.error();
    if (!*more) return Ok{};
    TextCursor cursor(line.text);
    cursor.skip_blanks();
    if (cursor.done()) continue;
    if (!read_line(cursor)) return input.error(cursor.message(), cursor.column());
  }
}

// The first line of `head` that is not blank.
inline std::string_view first_line(std::string_view head) {
  head.remove_prefix(std::min(head.find_first_not_of(" \t\r\n"), head.size()));
  head = head.substr(0, head.find('\n'));
  while (head.ends_with('\r') || head.ends_with(' ')) head.remove_suffix(1);
  return head;
}

}  // namespace assay::internal::formats
