// A level in a file of TOML: a row as in src/history/level.cc.
//
//   name = "pram"
//   events = "weak"
//   session-order = true
//   seen = ["s", "rs", "sr"]
//
// Each line is a key and a string, a boolean or an array of strings, so a fault has a line and a
// column. A row may use whatever engines, verifier and brute force all know how to read:
//
//   weak            `seen`, words of session order and reads-from, in one commit order
//   adya            `forbidden`, cycles that no choice of the rest may leave: those of the table
//   split, single   an order of events, with session order, real time and write conflicts
//
// A forbidden cycle is written as the kinds that it consists of and, after a +, the kinds of which
// it has exactly one: "wr+ap". "w+a" is on one key. What a row implies is added to it: "wrap+a"
// holds the cycles of "w+a", and a level that forbids one read and one anti-dependency lets no key
// change while a transaction reads it.
//
// Cost: that of reading the file. The form of the words is that of Adya (1999) and of Biswas and
// Enea (2019), see assay/level.h.

#include "formats/level_definition.h"

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "formats/text_lines.h"
#include "history/level_words.h"

namespace assay::internal::formats {
namespace {

constexpr std::string_view kSteps[] = {"s", "r", "rs", "sr", "rr", "rsr"};

bool forbids(const LevelInfo& row, std::string_view cycle) {
  return std::ranges::any_of(row.forbidden,
                             [&](const ForbiddenCycle& f) { return cycle_word(f) == cycle; });
}
bool has_step(const LevelInfo& row, char step) {
  return std::ranges::any_of(row.seen.words,
                             [&](std::string_view word) { return word.find(step) != word.npos; });
}

// The row, and the text that it refers to.
struct Owned {
  std::string name, summary;
  LevelInfo row{};
};

class Definition {
 public:
  Definition() : owned_(std::make_shared<Owned>()) {
    LevelInfo& row = owned_->row;
    row.id = LevelId::defined;
    row.group = LevelGroup::declared;
    row.events = EventModel::mixed;
  }

  bool read_line(TextCursor& in) {
    if (in.peek() == '#') return true;
    const size_t at = in.at();
    const std::string_view key =
        in.take_while([](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '_'; });
    const auto known = std::ranges::find(kKeys, key, &Key::name);
    if (known == std::end(kKeys))
      return in.fail_at(at,
                        "unknown key '" + std::string(key) +
                            "'; expected name, summary, events, seen, repeated, earlier-reads, "
                            "forbidden, session-order, write-conflict, real-time or repeatable");
    if (std::exchange(given_[static_cast<size_t>(known - kKeys)], true))
      return in.fail_at(at, "the key '" + std::string(key) + "' appears twice");
    if (!in.expect("=")) return false;
    in.skip_blanks();
    if (!(this->*known->read)(in)) return false;
    in.skip_blanks();
    return in.done() || in.peek() == '#' || in.expected("the end of the line");
  }

  // Why this is not a level; empty if it is one.
  std::string fault() const {
    const LevelInfo& row = owned_->row;
    const bool weak = row.events == EventModel::weak, adya = row.events == EventModel::adya;
    if (row.name.empty()) return "expected a name = \"…\"";
    if (row.events == EventModel::mixed)
      return "expected events = \"weak\", \"adya\", \"split\" or \"single\"";
    if (weak != row.seen.any()) return "expected seen = […] where events = \"weak\", only there";
    if (adya == row.forbidden[0].any.empty())
      return "expected forbidden = […] where events = \"adya\", only there";
    if (adya && !forbids(row, "wr") && !forbids(row, "wrap"))
      return "expected \"wr\" or \"wrap\" among the forbidden cycles";
    if (adya && (row.session_order || given("repeatable")))
      return "expected neither session-order nor repeatable where events = \"adya\"";
    if (has_step(row, 's') && !row.session_order)
      return "expected session-order = true, because a word of seen has an s";
    const bool both = row.seen.words[0] == "s"
                          ? row.seen.words[1] == "r"
                          : row.seen.words[0] == "r" && row.seen.words[1] == "s";
    if (row.seen.repeated && !(both && row.seen.words[2].empty()))
      return "expected seen = [\"s\", \"r\"] where repeated = true";
    if (row.seen.repeated && !row.repeatable)
      return "expected repeatable = true where repeated = true";
    if (row.seen.earlier_reads && !(row.seen.words[0] == "r" && row.seen.words[1].empty()))
      return "expected seen = [\"r\"] where earlier-reads = true";
    if (row.seen.earlier_reads && row.repeatable)
      return "expected no repeatable where earlier-reads = true, which distinguishes reads of a "
             "key";
    if (row.write_conflict && row.events != EventModel::split)
      return "expected events = \"split\" where write-conflict = true";
    const bool whole = row.real_time == RealTime::transactions;
    if (row.real_time != RealTime::none &&
        row.events != (whole ? EventModel::single : EventModel::split))
      return "expected real-time = \"transactions\" only where events = \"single\", the others "
             "only where events = \"split\"";
    if (!weak && given("repeatable"))
      return "expected repeatable only where events = \"weak\"; it holds where one order decides";
    return "";
  }

  DefinedLevel take() {
    LevelInfo& row = owned_->row;
    if (row.events == EventModel::split || row.events == EventModel::single) row.repeatable = true;
    if (row.events == EventModel::adya) {
      row.repeatable = forbids(row, "wr+ap") || forbids(row, "wrap+a") || forbids(row, "wrap");
      // "wrap" includes all cycles.
      if (forbids(row, "wrap+a") && !forbids(row, "w+a") && !forbids(row, "wrap"))
        *std::ranges::find_if(row.forbidden, [](const auto& f) { return f.any.empty(); }) =
            kCycleWords[1].second;
    }
    return {owned_, &row};
  }

 private:
  struct Key {
    std::string_view name;
    bool (Definition::*read)(TextCursor&);
  };
  static const Key kKeys[11];

  bool given(std::string_view key) const {
    return given_[static_cast<size_t>(std::ranges::find(kKeys, key, &Key::name) - kKeys)];
  }

  static bool text(TextCursor& in, std::string& to) {
    if (!in.expect("\"")) return false;
    to = in.take_while([](char c) { return c != '"' && c != '\\'; });
    return in.accept("\"") || in.expected("the closing \" of a text without \\");
  }
  static bool boolean(TextCursor& in, bool& to) {
    to = in.accept("true");
    return to || in.accept("false") || in.expected("true or false");
  }
  // Reads `"a", "b"` in brackets; `take` returns whether it knows the word.
  template <class Take>
  static bool list(TextCursor& in, std::string_view expected, size_t most, Take take) {
    if (!in.expect("[")) return false;
    for (size_t count = 0;; ++count) {
      in.skip_blanks();
      const size_t at = in.at();
      std::string one;
      if (!text(in, one)) return false;
      if (count == most || !take(count, one))
        return in.fail_at(at, "expected " + std::string(expected) + ", none of them twice");
      in.skip_blanks();
      if (in.accept("]")) return true;
      if (!in.expect(",")) return false;
    }
  }

  bool name(TextCursor& in) {
    const size_t at = in.at();
    if (!text(in, owned_->name)) return false;
    const bool plain = std::ranges::all_of(owned_->name, [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.';
    });
    if (!plain || owned_->name.empty() || owned_->name.size() > 60 || find_level(owned_->name))
      return in.fail_at(at,
                        "expected a name of small letters, digits and hyphens that no level has");
    owned_->row.name = owned_->name;
    return true;
  }
  bool summary(TextCursor& in) {
    if (!text(in, owned_->summary)) return false;
    owned_->row.summary = owned_->summary;
    return true;
  }
  template <class Table, class To>
  static bool one_of(TextCursor& in, const Table& table, std::string_view expected, To& to) {
    const size_t at = in.at();
    std::string written;
    if (!text(in, written)) return false;
    for (const auto& [name, value] : table)
      if (name == written) return to = value, true;
    return in.fail_at(at, "expected " + std::string(expected));
  }
  bool events(TextCursor& in) {
    return one_of(in, kModelWords, "\"weak\", \"adya\", \"split\" or \"single\"",
                  owned_->row.events);
  }
  bool real_time(TextCursor& in) {
    return one_of(in, kTimeWords, "\"into-commits\", \"all-but-begins\" or \"transactions\"",
                  owned_->row.real_time);
  }
  bool seen(TextCursor& in) {
    auto& words = owned_->row.seen.words;
    return list(in, "one to four of \"s\", \"r\", \"rs\", \"sr\", \"rr\" and \"rsr\"",
                std::size(words), [&](size_t at, const std::string& one) {
                  const auto known = std::ranges::find(kSteps, one);
                  if (known == std::end(kSteps) || std::ranges::count(words, one) > 0) return false;
                  words[at] = *known;
                  return true;
                });
  }
  bool forbidden(TextCursor& in) {
    auto& cycles = owned_->row.forbidden;
    return list(in, "some of \"wr\", \"w+a\", \"wr+ap\", \"wrap+a\" and \"wrap\"",
                std::size(cycles), [&](size_t at, const std::string& one) {
                  const auto known =
                      std::ranges::find(kCycleWords, one, [](const auto& k) { return k.first; });
                  if (known == std::end(kCycleWords) || forbids(owned_->row, one)) return false;
                  cycles[at] = known->second;
                  return true;
                });
  }
  bool repeated(TextCursor& in) { return boolean(in, owned_->row.seen.repeated); }
  bool earlier_reads(TextCursor& in) { return boolean(in, owned_->row.seen.earlier_reads); }
  bool session_order(TextCursor& in) { return boolean(in, owned_->row.session_order); }
  bool write_conflict(TextCursor& in) { return boolean(in, owned_->row.write_conflict); }
  bool repeatable(TextCursor& in) { return boolean(in, owned_->row.repeatable); }

  std::shared_ptr<Owned> owned_;
  bool given_[11] = {};
};

const Definition::Key Definition::kKeys[11] = {{"name", &Definition::name},
                                               {"summary", &Definition::summary},
                                               {"events", &Definition::events},
                                               {"seen", &Definition::seen},
                                               {"repeated", &Definition::repeated},
                                               {"earlier-reads", &Definition::earlier_reads},
                                               {"forbidden", &Definition::forbidden},
                                               {"session-order", &Definition::session_order},
                                               {"write-conflict", &Definition::write_conflict},
                                               {"real-time", &Definition::real_time},
                                               {"repeatable", &Definition::repeatable}};

Result<DefinedLevel> read_row(Input& input) {
  Definition definition;
  Status s = for_each_line(input, [&](TextCursor& line) { return definition.read_line(line); });
  if (!s.ok()) return s.error();
  if (const std::string fault = definition.fault(); !fault.empty()) return input.error(fault, 1);
  return definition.take();
}

}  // namespace

Result<DefinedLevel> read_level_definition(const std::string& path) {
  auto input = Input::open(path, nullptr);
  if (!input.ok()) return input.error();
  return read_row(*input);
}

Result<DefinedLevel> parse_level_definition(std::string_view text, const std::string& name) {
  auto input = Input::memory(text, name, nullptr);
  if (!input.ok()) return input.error();
  return read_row(*input);
}

}  // namespace assay::internal::formats
