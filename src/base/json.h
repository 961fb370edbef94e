// JSON documents: parsed, or built to be printed. The members of an object keep their order.
//
// nlohmann's library reads and writes them, only in json.cc: when its templates were compiled in
// each room that prints JSON, they took an eighth of the time of a build.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::internal {

class Json {
 public:
  Json() = default;
  Json(std::nullptr_t) {}
  Json(const char* text) : Json(std::string_view(text)) {}
  Json(std::string_view text);
  Json(std::string text);
  Json(double number);
  template <std::integral T>
  Json(T number)
      : kind_(std::same_as<T, bool>     ? Kind::boolean
              : std::signed_integral<T> ? Kind::integer
                                        : Kind::natural),
        number_(static_cast<uint64_t>(number)) {}
  template <class List>
  requires requires(const List& list) {
    list.begin();
  } &&(!std::convertible_to<const List&, std::string_view>)&&(!std::same_as<List, Json>)
      Json(const List& list)
      : kind_(Kind::array) {
    for (const auto& element : list) elements_.emplace_back(element);
  }
  // Makes an object if each element is an array of a string and something else, otherwise an array.
  Json(std::initializer_list<Json> elements);
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  static Json array();
  static Json array(std::initializer_list<Json> elements);
  static Json object();
  static Json discarded();

  // Discarded if the text is not JSON, or nested deeper than 1,024.
  static Json parse(std::string_view text);

  // The document as text, in which bytes that are not UTF-8 are replaced. With an indent, each
  // element has a line.
  std::string dump(int indent = -1, bool ascii = false) const;

  bool is_discarded() const { return kind_ == Kind::discarded; }
  bool is_null() const { return kind_ == Kind::null; }
  bool is_boolean() const { return kind_ == Kind::boolean; }
  bool is_string() const { return kind_ == Kind::string; }
  bool is_array() const { return kind_ == Kind::array; }
  bool is_object() const { return kind_ == Kind::object; }
  bool is_integer() const { return kind_ == Kind::integer || kind_ == Kind::natural; }
  bool is_int64() const { return is_integer() && (kind_ == Kind::integer || number_ <= INT64_MAX); }

  // The value of a string, or of a 64-bit integer; empty and 0 for anything else.
  const std::string& text() const { return text_; }
  int64_t integer() const { return is_int64() ? static_cast<int64_t>(number_) : 0; }

  bool is_true() const { return kind_ == Kind::boolean && number_ != 0; }

  // The number of elements of an array or object.
  size_t size() const { return elements_.size(); }
  bool empty() const { return elements_.empty(); }
  const std::string& name(size_t i) const { return names_[i]; }
  const Json* begin() const { return elements_.data(); }
  const Json* end() const { return elements_.data() + elements_.size(); }
  template <std::integral T>
  const Json& operator[](T i) const {
    return elements_[static_cast<size_t>(i)];
  }
  void push_back(Json element);  // null becomes an array

  template <std::integral T>
  Json& operator[](T i) {
    return elements_[static_cast<size_t>(i)];
  }

  // A member of an object. A missing one is null; the non-const operator adds it.
  const Json* find(std::string_view name) const;
  bool contains(std::string_view name) const { return find(name) != nullptr; }
  const Json& operator[](const char* name) const;
  Json& operator[](std::string_view name);  // null becomes an object
  Json& operator[](const char* name) { return (*this)[std::string_view(name)]; }
  Json value(std::string_view name) const { return value(name, Json()); }
  Json value(std::string_view name, Json otherwise) const;

  std::string text(std::string_view name,
                   std::string_view otherwise = {}) const;  // the value of a string member
  void update(Json members);  // adds members, or replaces the values of those with the same name

  // Numbers are compared by value, objects without regard to the order of their members.
  friend bool operator==(const Json& a, const Json& b);

 private:
  enum class Kind { null, boolean, integer, natural, real, string, array, object, discarded };
  class Parser;

  explicit Json(Kind kind) : kind_(kind) {}
  bool is_number() const { return is_integer() || kind_ == Kind::real; }
  double real() const;  // the value of a number
  void drop_repeated_members();
  void append_to(std::string& out, int indent, bool ascii, size_t depth) const;

  Kind kind_ = Kind::null;
  union {
    uint64_t number_ = 0;  // for an integer, as two's complement
    double real_;
  };
  std::string text_;
  std::vector<Json> elements_;
  std::vector<std::string> names_;  // names of an object's elements
};

}  // namespace assay::internal
