// Jepsen's logs: lines "PROCESS :type :f value", the parts separated by tabs or blanks. In
// history.txt there are only such lines; in the console's log and in jepsen.log they follow
// "jepsen.util", among other lines.
#include "formats/jepsen_log.h"

#include <array>
#include <charconv>
#include <string>

#include "formats/jepsen_history.h"
#include "formats/text_lines.h"

namespace assay::internal::formats {
namespace {

constexpr std::string_view kMark = "jepsen.util";
constexpr std::string_view kBlanks = " \t";

std::string_view without_blanks(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
}

// Takes the next word from `rest`, and the blanks after it.
std::string_view take_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
  rest = without_blanks(rest.substr(word.size()));
  return word;
}

bool integer(std::string_view word, int64_t& to) {
  auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), to);
  return error == std::errc{} && end == word.data() + word.size();
}

// The part of a line that is an operation; empty if there is none.
std::string_view operation_of(std::string_view line) {
  const size_t mark = line.find(kMark);
  std::string_view operation = line;
  if (mark != line.npos) {
    // "jepsen.util - 0", "jepsen.util: 0" or "jepsen.util 0"
    operation.remove_prefix(mark + kMark.size());
    if (operation.starts_with(':')) operation.remove_prefix(1);
    operation = without_blanks(operation);
    if (operation.starts_with("- ")) operation.remove_prefix(1);
  }
  operation = without_blanks(operation);
  std::string_view rest = operation;
  int64_t process = 0;
  const std::string_view first = take_word(rest);
  const bool named = first.starts_with(':') || integer(first, process);
  return rest.starts_with(':') && named ? operation : std::string_view();
}

bool detect_jepsen_log(const Source& source) { return is_jepsen_log(source.head()); }

std::optional<JepsenType> type_of(std::string_view name) {
  return name.starts_with(':') ? jepsen_type(name.substr(1)) : std::nullopt;
}

Result<History> read_jepsen_log(Source& source, Notes& notes) {
  JepsenLogRecords records(*source.input);
  auto read = read_jepsen_history(records, source, notes);
  if (read.ok() && !records.any())
    return source.input->located(
        bad_input("no line is an operation, expected \"jepsen.util - 0 :invoke "
                  ":read nil\" or the like in some"));
  if (read.ok() && records.skipped() > 0)
    notes.push_back(
        {0, std::to_string(records.skipped()) + " lines are not operations and were skipped"});
  return read;
}

}  // namespace

bool is_jepsen_log(std::string_view head) {
  for (int lines = 0; lines < 100 && !head.empty(); ++lines) {
    const std::string_view line = head.substr(0, head.find('\n'));
    std::string_view rest = operation_of(line);
    take_word(rest);
    if (type_of(take_word(rest))) return true;
    head.remove_prefix(std::min(line.size() + 1, head.size()));
  }
  return false;
}

Result<bool> JepsenLogRecords::next(DatumTree& tree, JepsenRecord& to) {
  Input::Line line;
  for (;;) {
    auto more = input_.next_line(line);
    if (!more.ok()) return more.error();
    if (!*more) return false;
    const std::string_view operation = operation_of(line.text);
    any_ = any_ || !operation.empty();
    if (!operation.empty())
      return take_apart(operation, static_cast<size_t>(operation.data() - line.text.data()), tree,
                        to);
    if (!without_blanks(line.text).empty()) ++skipped_;
  }
}

// `line` begins `at` bytes into the log's line.
Result<bool> JepsenLogRecords::take_apart(std::string_view line, size_t at, DatumTree& tree,
                                          JepsenRecord& to) {
  // process, type, f, value
  std::array<std::string_view, 4> part;
  std::array<size_t, 4> column{};
  std::string_view rest = line;
  for (size_t i = 0; i < part.size(); ++i) {
    column[i] = at + static_cast<size_t>(rest.data() - line.data()) + 1;
    part[i] = i + 1 < part.size() ? take_word(rest) : rest;
  }
  to.line = input_.line();
  int64_t process = 0;
  if (integer(part[0], process))
    to.process = Value::of(process);
  else
    to.process = Value::of(std::string(part[0]));
  const auto type = type_of(part[1]);
  if (!type) return input_.error("expected one of :invoke, :ok, :fail, :info", column[1]);
  to.type = *type;
  if (!part[2].starts_with(':'))
    return input_.error("expected an operation, like :read", column[2]);
  to.f = part[2].substr(1);
  text_ = part[3];
  column_ = column[3];
  const bool valued = !without_blanks(text_).empty();
  if (!tree.parse(valued ? text_ : std::string_view("nil"), false, DatumTree::Rest::ignored))
    return error(tree.fault_at(), tree.message());
  if (valued) to.value = &tree.root();
  return true;
}

constexpr Format kJepsenLog = {
    .name = "jepsen-log",
    .summary = "Jepsen's logs and history.txt, the operations in them",
    .detect = detect_jepsen_log,
    .read = read_jepsen_log,
};

}  // namespace assay::internal::formats
