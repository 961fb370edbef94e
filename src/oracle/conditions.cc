#include "oracle/conditions.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

namespace assay::internal::oracle {
namespace {

// The possible results of a condition.
struct Answers {
  bool yes = false, no = false, null = false;

  Answers negated() const { return {no, yes, null}; }
};
constexpr Answers kNullAlone{false, false, true}, kAnyAnswer{true, true, true};

Answers certainly(bool yes) { return {yes, !yes, false}; }

// Returns -1, 0 or 1: how two cells of one type compare.
int order_of_cells(const Cell& a, const Cell& b) {
  if (a.type == Cell::Type::integer)
    return a.integer == b.integer ? 0 : a.integer < b.integer ? -1 : 1;
  const auto byte = [](char x, char y) {
    return static_cast<unsigned char>(x) < static_cast<unsigned char>(y);
  };
  const auto less = [&](const std::string& x, const std::string& y) {
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(), byte);
  };
  return less(a.text, b.text) ? -1 : less(b.text, a.text) ? 1 : 0;
}

// `holds` receives the order of the two.
template <class Holds>
Answers compared(const Cell& cell, const Cell& constant, Holds holds) {
  using Type = Cell::Type;
  if (cell.type == Type::null || constant.type == Type::null) return kNullAlone;
  const bool integers = cell.type == Type::integer && constant.type == Type::integer;
  const bool texts = cell.type == Type::string && constant.type == Type::string;
  if (!integers && !texts) return kAnyAnswer;
  return certainly(holds(order_of_cells(cell, constant)));
}

// Whether the pattern matches the whole text. `reached` has every place in the text up to which the
// pattern so far may reach.
bool reaches_end(const std::string& text, const std::string& pattern) {
  std::vector<bool> reached(text.size() + 1, false);
  reached[0] = true;
  for (const char c : pattern) {
    std::vector<bool> next(text.size() + 1, false);
    for (size_t at = 0; at <= text.size(); ++at) {
      if (!reached[at]) continue;
      if (c == '%')
        std::fill(next.begin() + static_cast<ptrdiff_t>(at), next.end(), true);
      else if (at < text.size() && (c == '_' || c == text[at]))
        next[at + 1] = true;
    }
    reached = next;
  }
  return reached.back();
}

// Databases agree on which characters ASCII texts have, but not on backslashes.
bool means_one_thing(const std::string& text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return c == '\\' || (c & 0x80) != 0; });
}

Answers like(const Cell& cell, const Cell& pattern) {
  if (cell.type == Cell::Type::null) return kNullAlone;
  const bool certain = cell.type == Cell::Type::string && means_one_thing(cell.text) &&
                       means_one_thing(pattern.text);
  return certain ? certainly(reaches_end(cell.text, pattern.text)) : kAnyAnswer;
}

// True if all parts are, false if one is, and null if one is and none of the others is false.
Answers all_of(const std::vector<Answers>& parts) {
  size_t yes = 0, null = 0, not_no = 0;
  Answers whole;
  for (const Answers& part : parts) {
    yes += part.yes;
    null += part.null;
    not_no += part.yes || part.null;
    whole.no = whole.no || part.no;
  }
  whole.yes = yes == parts.size();
  whole.null = null > 0 && not_no == parts.size();
  return whole;
}

// False if all parts are, and so on: as all_of(), with yes and no exchanged.
Answers any_of(std::vector<Answers> parts) {
  for (Answers& part : parts) part = part.negated();
  return all_of(parts).negated();
}

class Evaluation {
 public:
  explicit Evaluation(const ValueView& value) : value_(value) {
    if (value.type == ValueView::Type::row) row_ = Json::parse(value.text);
  }

  Answers of(const Condition& c) const {
    using Kind = Condition::Kind;
    std::vector<Answers> parts;
    for (const Condition& part : c.parts) parts.push_back(of(part));
    if (c.kind == Kind::negation) return parts[0].negated();
    if (c.kind == Kind::all) return all_of(parts);
    if (c.kind == Kind::any) return any_of(std::move(parts));
    const std::optional<Cell> cell = column(c.column);
    if (!cell) return kAnyAnswer;
    const auto with = [&](size_t i, auto holds) { return compared(*cell, c.constants[i], holds); };
    switch (c.kind) {
      case Kind::is_null:
        return certainly(cell->type == Cell::Type::null);
      case Kind::like:
        return like(*cell, c.constants[0]);
      case Kind::less:
        return with(0, [](int order) { return order < 0; });
      case Kind::at_most:
        return with(0, [](int order) { return order <= 0; });
      case Kind::between:
        return all_of({with(0, [](int order) { return order >= 0; }),
                       with(1, [](int order) { return order <= 0; })});
      default:  // equal to the only constant, or to one of several
        break;
    }
    for (size_t i = 0; i < c.constants.size(); ++i)
      parts.push_back(with(i, [](int order) { return order == 0; }));
    return any_of(std::move(parts));
  }

 private:
  // Returns the value of a column; nullopt if it was not recorded.
  std::optional<Cell> column(const std::string& name) const {
    using Type = ValueView::Type;
    if (value_.type != Type::row && name != "value") return std::nullopt;
    if (value_.type == Type::integer) return Cell{Cell::Type::integer, value_.integer, {}};
    if (value_.type == Type::string) return Cell{Cell::Type::string, 0, std::string(value_.text)};
    const Json* cell = row_.is_object() ? row_.find(name) : nullptr;
    if (cell == nullptr) return std::nullopt;
    if (cell->is_null()) return Cell{};
    if (cell->is_string()) return Cell{Cell::Type::string, 0, cell->text()};
    if (cell->is_int64()) return Cell{Cell::Type::integer, cell->integer(), {}};
    return Cell{Cell::Type::other, 0, {}};
  }

  const ValueView& value_;
  Json row_;
};

}  // namespace

Match condition_match(const Condition& condition, const ValueView& value) {
  if (value.is_null()) return Match::no;  // the key is absent
  const Answers answers = Evaluation(value).of(condition);
  if (!answers.yes) return Match::no;
  return answers.no || answers.null ? Match::open : Match::yes;
}

}  // namespace assay::internal::oracle
