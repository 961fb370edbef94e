// Reads PostgreSQL's isolation specifications:
//
//   setup { CREATE TABLE t (id int); }
//   teardown { DROP TABLE t; }
//   session s1
//   setup { BEGIN; }
//   step r1 { SELECT * FROM t; }
//   step c1 { COMMIT; }
//   session s2
//   step w2 { INSERT INTO t VALUES (1); }
//   permutation r1 w2(c1) c1(*)
//
// Names are words, or anything between double quotes; a # begins a comment. A permutation may leave
// steps out or repeat them. `w2(c1)`: w2 is not reported as done before c1 is; `(*)`: it is
// reported as waiting at once; `(c1 notices 2)`: it is not reported as done before the session of
// c1 has had that many notices. SQL cannot contain braces, as in PostgreSQL's tester. Cost: one
// pass. Source: src/test/isolation/README of PostgreSQL.
#include "collect/schedule/specification.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <unordered_map>

namespace assay::internal::collect::schedule {
namespace {

struct Piece {
  enum class Kind : uint8_t { keyword, name, number, block, sign, end };
  Kind kind = Kind::end;
  std::string text;
  int line = 1, column = 1;
};

bool begins_name(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool is_keyword(std::string_view word) {
  return word == "setup" || word == "teardown" || word == "session" || word == "step" ||
         word == "permutation" || word == "notices";
}
// Line ends stay, as in PostgreSQL's tester.
std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\f");
  if (begin == text.npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\f") + 1 - begin));
}

class SpecificationReader {
 public:
  explicit SpecificationReader(std::string_view text) : text_(text) {}

  Result<File> run() {
    if (Status s = advance(); !s.ok()) return s.error();
    if (Status s = read_all(); !s.ok()) return s.error();
    if (Status s = name_steps(); !s.ok()) return s.error();
    return std::move(file_);
  }

 private:
  struct Named {  // in a permutation
    Piece step;
    size_t permutation, turn;
    std::optional<size_t> marker;
  };

  Status read_all() {
    while (now_.kind == Piece::Kind::keyword && now_.text == "setup") {
      std::string block;
      if (Status s = labelled_block(block); !s.ok()) return s;
      file_.setup.push_back(std::move(block));
    }
    if (Status s = optional_block("teardown", file_.teardown); !s.ok()) return s;
    while (is("session"))
      if (Status s = session(); !s.ok()) return s;
    if (file_.sessions.empty()) return unexpected("'session'");
    while (is("permutation"))
      if (Status s = permutation(); !s.ok()) return s;
    if (now_.kind != Piece::Kind::end) return unexpected("'permutation' or the end");
    return Ok{};
  }

  Status session() {
    if (Status s = advance(); !s.ok()) return s;
    if (now_.kind != Piece::Kind::name) return unexpected("the name of a session");
    file_.sessions.push_back({.name = now_.text});
    Session& session = file_.sessions.back();
    if (Status s = advance(); !s.ok()) return s;
    if (Status s = optional_block("setup", session.setup); !s.ok()) return s;
    if (!is("step")) return unexpected("'step'");
    while (is("step"))
      if (Status s = step(session); !s.ok()) return s;
    return optional_block("teardown", session.teardown);
  }

  Status step(Session& session) {
    if (Status s = advance(); !s.ok()) return s;
    if (now_.kind != Piece::Kind::name) return unexpected("the name of a step");
    const Piece name = now_;
    if (!by_name_.emplace(name.text, file_.steps.size()).second)
      return bad_input(fmt::format("a second step '{}'; expected a different name", name.text),
                       name.line, name.column);
    if (Status s = advance(); !s.ok()) return s;
    if (now_.kind != Piece::Kind::block) return unexpected("'{'");
    session.steps.push_back(file_.steps.size());
    file_.steps.push_back({.name = name.text,
                           .session = file_.sessions.size() - 1,
                           .sql = now_.text,
                           .line = now_.line});
    return advance();
  }

  Status permutation() {
    if (Status s = advance(); !s.ok()) return s;
    if (now_.kind != Piece::Kind::name) return unexpected("the name of a step");
    file_.permutations.emplace_back();
    while (now_.kind == Piece::Kind::name) {
      auto& turns = file_.permutations.back().turns;
      named_.push_back({now_, file_.permutations.size() - 1, turns.size(), std::nullopt});
      turns.emplace_back();
      if (Status s = advance(); !s.ok()) return s;
      if (now_.kind != Piece::Kind::sign || now_.text != "(") continue;
      do {
        if (Status s = advance(); !s.ok()) return s;
        if (Status s = marker(turns); !s.ok()) return s;
      } while (now_.text == "," && now_.kind == Piece::Kind::sign);
      if (now_.kind != Piece::Kind::sign || now_.text != ")") return unexpected("',' or ')'");
      if (Status s = advance(); !s.ok()) return s;
    }
    return Ok{};
  }

  Status marker(std::vector<Turn>& turns) {
    Marker& marker = turns.back().markers.emplace_back();
    if (now_.kind == Piece::Kind::sign && now_.text == "*") return advance();
    if (now_.kind != Piece::Kind::name) return unexpected("'*' or the name of a step");
    marker.kind = Marker::Kind::step;
    named_.push_back(
        {now_, file_.permutations.size() - 1, turns.size() - 1, turns.back().markers.size() - 1});
    if (Status s = advance(); !s.ok()) return s;
    if (!is("notices")) return Ok{};
    marker.kind = Marker::Kind::notices;
    if (Status s = advance(); !s.ok()) return s;
    const auto [end, error] =
        std::from_chars(now_.text.data(), now_.text.data() + now_.text.size(), marker.notices);
    if (now_.kind != Piece::Kind::number || error != std::errc()) return unexpected("a number");
    return advance();
  }

  // Finds the named steps, which may be defined before or after the place that names them.
  Status name_steps() {
    for (const Named& n : named_) {
      const auto found = by_name_.find(n.step.text);
      if (found == by_name_.end())
        return bad_input(fmt::format("unknown step '{}'; expected one of a session", n.step.text),
                         n.step.line, n.step.column);
      Turn& turn = file_.permutations[n.permutation].turns[n.turn];
      (n.marker ? turn.markers[*n.marker].step : turn.step) = found->second;
    }
    return Ok{};
  }

  Status optional_block(std::string_view keyword, std::string& to) {
    return is(keyword) ? labelled_block(to) : Status(Ok{});
  }
  Status labelled_block(std::string& to) {
    if (Status s = advance(); !s.ok()) return s;
    if (now_.kind != Piece::Kind::block) return unexpected("'{'");
    to = now_.text;
    return advance();
  }

  bool is(std::string_view keyword) const {
    return now_.kind == Piece::Kind::keyword && now_.text == keyword;
  }
  Error unexpected(std::string_view wanted) const {
    const std::string shown = now_.kind == Piece::Kind::end     ? "the end of the file"
                              : now_.kind == Piece::Kind::block ? "a block of SQL"
                                                                : "'" + now_.text + "'";
    return bad_input(fmt::format("{}; expected {}", shown, wanted), now_.line, now_.column);
  }

  char at(size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  bool over() const { return at_ >= text_.size(); }
  void pass() {
    if (text_[at_++] == '\n') {
      ++line_;
      column_ = 1;
    } else {
      ++column_;
    }
  }

  // Takes the next piece into now_.
  Status advance() {
    while (!over() && (std::isspace(static_cast<unsigned char>(at())) != 0 || at() == '#'))
      if (at() == '#')
        while (!over() && at() != '\n') pass();
      else
        pass();
    now_ = {Piece::Kind::end, {}, line_, column_};
    if (over()) return Ok{};
    if (at() == '{') return block();
    if (at() == '"') return quoted();
    if (at() == '(' || at() == ')' || at() == ',' || at() == '*') {
      now_.kind = Piece::Kind::sign;
      take(1);
    } else if (at() >= '0' && at() <= '9') {
      now_.kind = Piece::Kind::number;
      while (at() >= '0' && at() <= '9') take(1);
    } else if (begins_name(at())) {
      while (begins_name(at()) || at() == '$' || (at() >= '0' && at() <= '9')) take(1);
      now_.kind = is_keyword(now_.text) ? Piece::Kind::keyword : Piece::Kind::name;
    } else {
      return bad_input(fmt::format("unexpected byte {:#04x}; expected a name or '{{'",
                                   static_cast<unsigned char>(at())),
                       line_, column_);
    }
    return Ok{};
  }
  void take(size_t n) {
    for (; n > 0; --n) {
      now_.text += at();
      pass();
    }
  }
  Status block() {
    now_.kind = Piece::Kind::block;
    for (pass(); !over() && at() != '}';) take(1);
    if (over()) return bad_input("unterminated SQL; expected '}'", now_.line, now_.column);
    pass();
    now_.text = trimmed(now_.text);
    return Ok{};
  }
  Status quoted() {
    now_.kind = Piece::Kind::name;
    for (pass(); !over(); take(1)) {
      if (at() == '"' && at(1) != '"') {
        pass();
        return Ok{};
      }
      if (at() == '"') pass();
      if (at() == '\n') break;
    }
    return bad_input("unterminated name; expected '\"'", now_.line, now_.column);
  }

  std::string_view text_;
  size_t at_ = 0;
  int line_ = 1, column_ = 1;
  Piece now_;
  File file_;
  std::unordered_map<std::string, size_t> by_name_;
  std::vector<Named> named_;
};

}  // namespace

bool is_specification(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = trimmed(text.substr(at, end - at));
    at = end + 1;
    if (line.empty() || line.starts_with('#')) continue;
    const std::string_view word = std::string_view(line).substr(0, line.find_first_of(" \t{"));
    return word == "setup" || word == "teardown" || word == "session";
  }
  return false;
}

Result<File> parse_specification(std::string_view text) { return SpecificationReader(text).run(); }

}  // namespace assay::internal::collect::schedule
