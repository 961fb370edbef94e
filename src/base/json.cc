#include "base/json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

namespace assay::internal {
namespace {

constexpr size_t kMostNested = 1024;

std::string quoted(const std::string& text, bool ascii) {
  return nlohmann::json(text).dump(-1, ' ', ascii, nlohmann::json::error_handler_t::replace);
}

}  // namespace

Json::Json(std::string_view text) : Json(std::string(text)) {}
Json::Json(std::string text) : kind_(Kind::string), text_(std::move(text)) {}
Json::Json(double number) : kind_(Kind::real), real_(number) {}
Json::Json(std::initializer_list<Json> elements) : Json(array(elements)) {
  const bool members = std::all_of(begin(), end(), [](const Json& e) {
    return e.is_array() && e.size() == 2 && e[0].is_string();
  });
  if (!members) return;
  Json members_of = object();
  for (Json& e : elements_) {
    members_of.names_.push_back(std::move(e.elements_[0].text_));
    members_of.elements_.push_back(std::move(e.elements_[1]));
  }
  *this = std::move(members_of);
}
Json::Json(const Json& other) = default;
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) = default;
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;

Json Json::array() { return Json(Kind::array); }
Json Json::array(std::initializer_list<Json> elements) {
  Json made(Kind::array);
  made.elements_ = elements;
  return made;
}
Json Json::object() { return Json(Kind::object); }
Json Json::discarded() { return Json(Kind::discarded); }

double Json::real() const {
  if (kind_ == Kind::real) return real_;
  return kind_ == Kind::integer ? static_cast<double>(static_cast<int64_t>(number_))
                                : static_cast<double>(number_);
}

void Json::push_back(Json element) {
  if (is_null()) kind_ = Kind::array;
  elements_.push_back(std::move(element));
}

const Json* Json::find(std::string_view name) const {
  const auto found = std::find(names_.begin(), names_.end(), name);
  return found == names_.end() ? nullptr : &elements_[size_t(found - names_.begin())];
}

const Json& Json::operator[](const char* name) const {
  static const Json nothing = Json();
  const Json* found = find(name);
  return found == nullptr ? nothing : *found;
}

Json& Json::operator[](std::string_view name) {
  if (is_null()) kind_ = Kind::object;
  if (const Json* found = find(name)) return elements_[size_t(found - begin())];
  names_.emplace_back(name);
  return elements_.emplace_back();
}

Json Json::value(std::string_view name, Json otherwise) const {
  const Json* found = find(name);
  if (found != nullptr) return *found;
  return otherwise;
}

std::string Json::text(std::string_view name, std::string_view otherwise) const {
  const Json* found = find(name);
  return found != nullptr && found->is_string() ? found->text_ : std::string(otherwise);
}

void Json::update(Json members) {
  for (size_t i = 0; i < members.size(); ++i)
    (*this)[std::string_view(members.names_[i])] = std::move(members.elements_[i]);
}

bool operator==(const Json& a, const Json& b) {
  using Kind = Json::Kind;
  if (a.kind_ == Kind::discarded || b.kind_ == Kind::discarded) return false;
  if (a.is_integer() && b.is_integer())
    return a.number_ == b.number_ && a.is_int64() == b.is_int64();
  if (a.is_number() && b.is_number()) return a.real() == b.real();
  if (a.kind_ != b.kind_) return false;
  if (a.kind_ != Kind::object)
    return a.number_ == b.number_ && a.text_ == b.text_ && a.elements_ == b.elements_;
  return a.size() == b.size() && std::equal(a.begin(), a.end(), a.names_.begin(),
                                            [&](const Json& e, const std::string& name) {
                                              const Json* other = b.find(name);
                                              return other != nullptr && *other == e;
                                            });
}

// ---- Parsing ----

// Receives the parts of a text one after another. Of members with the same name the last counts.
class Json::Parser : public nlohmann::json_sax<nlohmann::json> {
 public:
  Json take() { return std::move(whole_); }

  bool null() override { return put({}); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(Json(std::move(value))); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(Kind::object); }
  bool key(string_t& name) override {
    open_.back().names_.push_back(std::move(name));
    return true;
  }
  bool end_object() override {
    open_.back().drop_repeated_members();
    return close();
  }
  bool start_array(size_t) override { return open(Kind::array); }
  bool end_array() override { return close(); }
  bool parse_error(size_t, const std::string&, const nlohmann::detail::exception&) override {
    return false;
  }

 private:
  bool put(Json value) {
    (open_.empty() ? whole_ : open_.back().elements_.emplace_back()) = std::move(value);
    return true;
  }
  bool open(Kind kind) {
    open_.push_back(Json(kind));
    return open_.size() <= kMostNested;
  }
  bool close() {
    Json closed = std::move(open_.back());
    open_.pop_back();
    return put(std::move(closed));
  }

  Json whole_;
  std::vector<Json> open_;  // the open arrays and objects, the outermost first
};

Json Json::parse(std::string_view text) {
  Parser parser;
  return nlohmann::json::sax_parse(text, &parser) ? parser.take() : discarded();
}

// Drops all but the last of members with the same name.
void Json::drop_repeated_members() {
  std::vector<size_t> order(size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return names_[a] < names_[b]; });
  std::vector<bool> hidden(size());
  bool any = false;
  for (size_t i = 1; i < order.size(); ++i)
    if (names_[order[i - 1]] == names_[order[i]]) any = hidden[order[i - 1]] = true;
  if (!any) return;
  Json kept = object();
  for (size_t i = 0; i < size(); ++i) {
    if (hidden[i]) continue;
    kept.names_.push_back(std::move(names_[i]));
    kept.elements_.push_back(std::move(elements_[i]));
  }
  *this = std::move(kept);
}

// ---- Printing ----

std::string Json::dump(int indent, bool ascii) const {
  std::string out;
  append_to(out, indent, ascii, 0);
  return out;
}

void Json::append_to(std::string& out, int indent, bool ascii, size_t depth) const {
  const auto line = [&](size_t level) {
    if (indent >= 0) out += '\n' + std::string(level * static_cast<size_t>(indent), ' ');
  };
  switch (kind_) {
    case Kind::null:
      out += "null";
      return;
    case Kind::boolean:
      out += number_ ? "true" : "false";
      return;
    case Kind::integer:
      out += std::to_string(static_cast<int64_t>(number_));
      return;
    case Kind::natural:
      out += std::to_string(number_);
      return;
    case Kind::real:
      out += nlohmann::json(real_).dump();
      return;
    case Kind::string:
      out += quoted(text_, ascii);
      return;
    case Kind::discarded:
      out += "<discarded>";
      return;
    case Kind::array:
    case Kind::object:
      break;
  }
  out += is_object() ? '{' : '[';
  for (size_t i = 0; i < size(); ++i) {
    if (i > 0) out += ',';
    line(depth + 1);
    if (is_object()) out += quoted(names_[i], ascii) + (indent >= 0 ? ": " : ":");
    elements_[i].append_to(out, indent, ascii, depth + 1);
  }
  if (!empty()) line(depth);
  out += is_object() ? '}' : ']';
}

}  // namespace assay::internal
