#include "evidence/test_decoding.h"

#include <utility>

namespace assay::internal::evidence {
namespace {

constexpr std::string_view kMessage = "message: transactional: 1 prefix: assay,";
constexpr std::string_view kContent = " content:";
constexpr std::string_view kTable = "table public.";

bool take(std::string_view& text, std::string_view start) {
  if (!text.starts_with(start)) return false;
  text.remove_prefix(start.size());
  return true;
}

// name[type]:'value' or name[type]:null, and the blank behind it. A value that did not change may be left out of the
// log if it is stored elsewhere.
bool take_column(std::string_view& text, std::string_view& name, std::optional<std::string>& value,
                 bool& unchanged) {
  const size_t type = text.find('[');
  if (type == std::string_view::npos) return false;
  name = text.substr(0, type);
  size_t depth = 0, at = type;
  for (; at < text.size(); ++at) {  // types may have brackets of their own
    if (text[at] == '[') ++depth;
    if (text[at] == ']' && --depth == 0) break;
  }
  text.remove_prefix(std::min(at + 1, text.size()));
  if (!take(text, ":")) return false;
  unchanged = take(text, "unchanged-toast-datum");
  value.reset();
  if (take(text, "'")) {
    value.emplace();
    for (; !text.empty(); text.remove_prefix(1)) {
      if (text[0] == '\'' && !text.starts_with("''")) break;
      if (text[0] == '\'') text.remove_prefix(1);
      *value += text[0];
    }
    take(text, "'");
  } else if (!unchanged) {
    text.remove_prefix(std::min(text.find(' '), text.size()));  // null, a number
  }
  take(text, " ");
  return true;
}

}  // namespace

// TABLE: INSERT: COLUMN COLUMN…
void TestDecoding::row(std::string_view text) {
  const size_t colon = text.find(": ");
  if (colon == std::string_view::npos) return;
  const std::string_view table = text.substr(0, colon);
  text.remove_prefix(colon + 2);
  const bool deletes = take(text, "DELETE: ");
  if (!deletes && !take(text, "INSERT: ") && !take(text, "UPDATE: ")) return;
  if (const size_t tuple = text.find("new-tuple: "); text.starts_with("old-key: "))
    text.remove_prefix(tuple == std::string_view::npos ? text.size() : tuple + 11);
  std::string key;
  Cells cells;
  std::string_view name;
  std::optional<std::string> value;
  bool unchanged = false;
  while (take_column(text, name, value, unchanged)) {
    if (name == "k")
      key = value.value_or("");
    else if (!unchanged)
      cells.emplace_back(name, std::move(value));
  }
  if (deletes)
    rows_.erase(table, key, txn_.changes);
  else
    rows_.put(table, key, cells, txn_.changes);
}

std::optional<LoggedTxn> TestDecoding::line(std::string_view text, std::string_view position) {
  if (take(text, "BEGIN")) {
    take(text, " ");
    txn_ = {};
    txn_.server_id = text;
  } else if (take(text, kTable)) {
    row(text);
  } else if (take(text, kMessage)) {
    const size_t content = text.find(kContent);
    if (content != std::string_view::npos)
      txn_.name = message_ = text.substr(content + kContent.size());
  } else if (take(text, "COMMIT")) {
    txn_.position = position;
    return std::exchange(txn_, {});
  }
  return std::nullopt;
}

}  // namespace assay::internal::evidence
