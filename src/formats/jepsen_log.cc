// Jepsen's console log: lines "INFO  jepsen.util - PROCESS :type :f value" among others, the parts
// separated by tabs or blanks.
#include "formats/jepsen_log.h"

#include <array>
#include <charconv>
#include <string>

#include "formats/edn.h"
#include "formats/jepsen_history.h"
#include "formats/text_lines.h"

namespace assay::internal::formats {
namespace {

constexpr std::string_view kMark = "jepsen.util - ";

constexpr std::string_view kBlanks = " \t";

// Takes the next word off `rest`, and the blanks behind it.
std::string_view take_word(std::string_view& rest) {
  const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
  rest.remove_prefix(word.size());
  rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
  return word;
}

// The part behind the mark, empty if the line is no operation.
std::string_view operation_of(std::string_view line) {
  const size_t at = line.find(kMark);
  if (at == line.npos) return {};
  line.remove_prefix(at + kMark.size());
  std::string_view rest = line;
  take_word(rest);
  return rest.starts_with(':') ? line : std::string_view();
}

bool detect_jepsen_log(const Source& source) {
  std::string_view head = source.head();
  for (int lines = 0; lines < 100 && !head.empty(); ++lines) {
    const std::string_view line = head.substr(0, head.find('\n'));
    if (!operation_of(line).empty()) return true;
    head.remove_prefix(std::min(line.size() + 1, head.size()));
  }
  return false;
}

class JepsenLogReader {
 public:
  JepsenLogReader(Source& source, Notes& notes)
      : input_(*source.input), notes_(notes), history_(input_.budget(), source.threads) {}

  Result<History> run() {
    auto read = for_each_line(input_, [&](TextCursor& c) { return read_line(c); });
    if (!read.ok()) return read.error();
    if (operations_ == 0)
      return input_.located(
          bad_input("no line is an operation, expected \"jepsen.util - 0 :invoke "
                    ":read nil\" or the like in some"));
    if (others_ > 0)
      notes_.push_back({0, std::to_string(others_) + " lines are no operations and were skipped"});
    auto history = std::move(history_).finish(notes_);
    if (!history.ok()) return input_.located(history.error());
    return history;
  }

 private:
  bool read_line(TextCursor& c) {
    std::string_view rest = operation_of(c.line());
    if (rest.empty()) {
      ++others_;
      return true;
    }
    ++operations_;
    // process, type, f, value
    std::array<std::string_view, 4> part;
    std::array<size_t, 4> at{};
    for (size_t i = 0; i < part.size(); ++i) {
      at[i] = static_cast<size_t>(rest.data() - c.line().data());
      part[i] = i + 1 < part.size() ? take_word(rest) : rest;
    }
    JepsenRecord record;
    record.line = input_.line();
    int64_t process = 0;
    auto [end, error] = std::from_chars(part[0].data(), part[0].data() + part[0].size(), process);
    if (error == std::errc{} && end == part[0].data() + part[0].size())
      record.process = OwnedValue{ValueView::Type::integer, process, {}};
    else
      record.process = OwnedValue{ValueView::Type::string, 0, std::string(part[0])};
    if (!type_of(part[1], record.type))
      return c.fail_at(at[1], "expected one of :invoke, :ok, :fail, :info");
    if (!part[2].starts_with(':')) return c.fail_at(at[2], "expected what was done, like :read");
    record.f = part[2].substr(1);
    const bool valued = part[3].find_first_not_of(kBlanks) != part[3].npos;
    if (!tree_.parse(valued ? part[3] : std::string_view("nil"), false))
      return c.fail_at(at[3] + tree_.fault_at(), tree_.message());
    if (valued) record.value = &tree_.root();
    return history_.add(record, tree_, part[3]) ||
           c.fail_at(at[3] + history_.fault().at, history_.fault().message);
  }

  static bool type_of(std::string_view name, JepsenType& to) {
    if (name == ":invoke") return to = JepsenType::invoke, true;
    if (name == ":ok") return to = JepsenType::ok, true;
    if (name == ":fail") return to = JepsenType::fail, true;
    if (name == ":info") return to = JepsenType::info, true;
    return false;
  }

  Input& input_;
  Notes& notes_;
  JepsenHistory history_;
  DatumTree tree_;
  uint64_t operations_ = 0;
  uint64_t others_ = 0;
};

Result<History> read_jepsen_log(Source& source, Notes& notes) {
  return JepsenLogReader(source, notes).run();
}

}  // namespace

constexpr Format kJepsenLog = {
    .info = {.name = "jepsen-log",
             .summary = "Jepsen's console log, the operations in it",
             .reads = true,
             .writes = false},
    .detect = detect_jepsen_log,
    .read = read_jepsen_log,
};

}  // namespace assay::internal::formats
