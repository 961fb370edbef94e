#include "formats/viper_records.h"

#include <algorithm>

namespace assay::internal::formats {
namespace {

using Kind = Datum::Kind;

// Whether the first map of a log has a keyword as its first key.
bool is_edn(std::string_view head) {
  const size_t open = head.find('{');
  if (open == head.npos) return false;
  const size_t key = head.find_first_not_of(" \t\r\n,", open + 1);
  return key != head.npos && head[key] == ':';
}

// Viper's logger writes the name of a field with a second colon: {:value: […]}.
std::string_view field_name(const Datum& key) {
  std::string_view name = key.text;
  if (key.kind == Kind::keyword && name.ends_with(':')) name.remove_suffix(1);
  return name;
}

// The recursion is as deep as the tree, which is bounded.
void append_json(const DatumTree& tree, const Datum& d, std::string& to) {
  switch (d.kind) {
    case Kind::nil:
      to += "null";
      break;
    case Kind::boolean:
      to += d.integer != 0 ? "true" : "false";
      break;
    case Kind::integer:
      append_json_value(to, ValueView::of(d.integer));
      break;
    case Kind::map:
      to += '{';
      for (const Datum* key = tree.first(d); key; key = tree.next(*tree.next(*key))) {
        if (to.back() != '{') to += ',';
        append_json_string(to, field_name(*key));
        to += ':';
        append_json(tree, *tree.next(*key), to);
      }
      to += '}';
      break;
    case Kind::list:
    case Kind::set:
      to += '[';
      for (const Datum* e = tree.first(d); e; e = tree.next(*e)) {
        if (e != tree.first(d)) to += ',';
        append_json(tree, *e, to);
      }
      to += ']';
      break;
    default:  // a real is not a value here; its text is refused by the reader, or is a value
      append_json_string(to, d.text);
  }
}

}  // namespace

Result<bool> ViperRecords::next(simdjson::dom::element& record) {
  if (!json_ && !edn_) {
    if (auto s = input_.fill(kHeadBytes); !s.ok()) return s.error();
    if (is_edn(input_.window()))
      edn_.emplace(input_, false);
    else
      json_.emplace(input_);
  }
  return json_ ? json_->next(record) : next_edn(record);
}

Result<bool> ViperRecords::next_edn(simdjson::dom::element& record) {
  auto more = edn_->next(tree_);
  if (!more.ok() || !*more) return more;
  text_.clear();
  append_json(tree_, tree_.root(), text_);
  if (parser_.parse(text_).get(record) != simdjson::SUCCESS)
    return edn_->error(0, "expected a transaction, a map with :value");
  return true;
}

size_t ViperRecords::locate(std::span<const JsonStep> path) const {
  const Datum* d = &tree_.root();
  for (const JsonStep& step : path) {
    const Datum* e = nullptr;
    if (step.is_index && d->kind == Kind::list) {
      e = tree_.first(*d);
      for (size_t i = 0; e && i < step.index; ++i) e = tree_.next(*e);
    } else if (!step.is_index && d->kind == Kind::map) {
      const Datum* key = tree_.first(*d);
      while (key && field_name(*key) != step.field) key = tree_.next(*tree_.next(*key));
      if (key) e = tree_.next(*key);
    }
    if (!e) break;
    d = e;
  }
  return d->at;
}

Error ViperRecords::expected(std::span<const JsonStep> path, std::string_view what) const {
  const std::string message = "expected " + std::string(what);
  return json_ ? json_->error(path, message) : edn_->error(locate(path), message);
}

}  // namespace assay::internal::formats
