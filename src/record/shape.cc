#include "record/shape.h"

#include <cctype>

namespace assay::internal::record {
namespace {

bool is_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '.' ||
         (static_cast<unsigned char>(c) & 0x80) != 0;
}

class Shaping {
 public:
  explicit Shaping(std::string_view sql) : sql_(sql) {}

  std::optional<Shape> run() {
    while (at_ < sql_.size())
      if (!step()) return std::nullopt;
    return std::move(shape_);
  }

 private:
  char ahead(size_t n) const { return at_ + n < sql_.size() ? sql_[at_ + n] : '\0'; }
  bool follows_name() const {
    return at_ > 0 && (is_of_name(sql_[at_ - 1]) || sql_[at_ - 1] == '&');
  }

  bool step() {
    const char c = sql_[at_];
    if (c == '\'') return !follows_name() && constant(end_of_quoted('\''));  // E'…' has backslashes
    if (c == '"') return copy(end_of_quoted('"'));
    if (c == '-' && ahead(1) == '-') return copy(std::min(sql_.find('\n', at_), sql_.size()));
    if (c == '/' && ahead(1) == '*') {
      const size_t end = sql_.find("*/", at_ + 2);
      return end != std::string_view::npos &&
             sql_.substr(at_ + 2, end - at_ - 2).find("/*") == std::string_view::npos &&
             copy(end + 2);
    }
    if (c == '$') {  // a value of the client, or a text between $tag$
      size_t end = at_ + 1;
      while (end < sql_.size() && std::isdigit(static_cast<unsigned char>(sql_[end])) != 0) ++end;
      return end > at_ + 1 && end - at_ < 6 && copy(end);
    }
    if (std::isdigit(static_cast<unsigned char>(c)) != 0 && !follows_name()) {
      size_t end = at_;
      while (end < sql_.size() && is_of_name(sql_[end])) ++end;
      // Nothing but digits and a point.
      return sql_.substr(at_, end - at_).find_first_not_of("0123456789.") ==
                 std::string_view::npos &&
             constant(end);
    }
    return copy(at_ + 1);
  }

  size_t end_of_quoted(char quote) const {
    size_t end = at_ + 1;
    for (; end < sql_.size(); ++end) {
      if (sql_[end] != quote) continue;
      if (end + 1 >= sql_.size() || sql_[end + 1] != quote) return end + 1;
      ++end;
    }
    return std::string_view::npos;
  }

  bool copy(size_t end) {
    if (end == std::string_view::npos) return false;
    shape_.text += sql_.substr(at_, end - at_);
    at_ = end;
    return true;
  }
  bool constant(size_t end) {
    if (end == std::string_view::npos) return false;
    shape_.text += '$' + std::to_string(Shape::kFirst + shape_.constants.size());
    shape_.constants.emplace_back(sql_.substr(at_, end - at_));
    shape_.ends.emplace_back(shape_.text.size(), end);
    at_ = end;
    return true;
  }

  std::string_view sql_;
  size_t at_ = 0;
  Shape shape_;
};

}  // namespace

std::optional<size_t> Shape::place(size_t in_shape) const {
  size_t behind = 0, in_sql = 0;
  for (size_t i = 0; i < ends.size(); ++i) {
    if (ends[i].first > in_shape) {
      const size_t begin = ends[i].first - std::to_string(kFirst + i).size() - 1;
      if (begin < in_shape) return std::nullopt;
      break;
    }
    behind = ends[i].first;
    in_sql = ends[i].second;
  }
  return in_sql + (in_shape - behind);
}

std::optional<Shape> shape_of(std::string_view sql) { return Shaping(sql).run(); }

}  // namespace assay::internal::record
