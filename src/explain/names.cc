#include "explain/names.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/printable.h"
#include "base/utf8.h"
#include "history/accesses.h"
#include "history/predicates.h"

namespace assay::internal {

std::string display(std::string_view text, size_t limit) {
  std::string out;
  while (!text.empty()) {
    if (out.size() >= limit) return out + "…";
    const size_t length = utf8_length(text), bytes = std::max<size_t>(1, length);
    const std::string instead = shown_instead(text, length);
    out += instead.empty() ? text.substr(0, bytes) : instead;
    text.remove_prefix(bytes);
  }
  return out;
}

std::string display(const ValueView& v) { return display(v.to_string()); }

std::string display_txn(const History& h, TxnId t) { return display(h.name(t)); }

std::string display_key(const History& h, KeyId k) { return display(h.key(k)); }

std::string key_in_words(const History& h, KeyId k) {
  const bool number = h.key(k).type == ValueView::Type::integer;
  return (number ? "key " : "") + display_key(h, k);
}

namespace {

constexpr std::string_view kWrittenBy = "written_by";  // a column that the recorder adds
constexpr size_t kMostWhole = 40, kMostOfRow = 120, kMostCompared = 4;
constexpr VersionId kNear = 1024;  // neighbouring accesses usually have versions with near numbers

Json row_of(const History& h, VersionId v) {
  const ValueView value = h.version_value(v);
  const bool row = value.type == ValueView::Type::row || value.text.starts_with('{');
  return row ? Json::parse(value.to_string()) : Json();
}

// Returns some other rows of the same key.
std::vector<Json> rows_near(const History& h, VersionId v) {
  std::vector<Json> rows;
  const auto look = [&](VersionId other) {
    if (other == v || h.version_key(other) != h.version_key(v) || rows.size() == kMostCompared)
      return;
    if (Json row = row_of(h, other); row.is_object()) rows.push_back(std::move(row));
  };
  for (VersionId i = 1; i <= kNear && rows.size() < kMostCompared; ++i) {
    if (v >= i) look(v - i);
    if (v + i < h.version_count()) look(v + i);
  }
  return rows;
}

}  // namespace

std::string display_value(const History& h, VersionId v) {
  const std::string text = h.version_value(v).to_string();
  if (text.size() <= kMostWhole) return display(text);
  const Json row = row_of(h, v);
  if (!row.is_object()) return display(text);
  const std::vector<Json> others = rows_near(h, v);
  std::string out;
  for (size_t i = 0; i < row.size(); ++i) {
    const auto differs = [&](const Json& other) { return other.value(row.name(i)) != row[i]; };
    if (row.name(i) == kWrittenBy || std::none_of(others.begin(), others.end(), differs)) continue;
    out += display(Json(row.name(i)).dump()) + ":" + display(row[i].dump()) + ",";
  }
  return out.empty() ? display(text) : display("{" + out + "…}", kMostOfRow);
}

std::string display_version(const History& h, VersionId v) {
  return key_in_words(h, h.version_key(v)) + " = " + display_value(h, v);
}

std::string display_session(const History& h, SessionId s) {
  const ValueView name = h.session_name(s);
  if (name.type == ValueView::Type::integer) return fmt::format("s{}", name.integer);
  return display(name);
}

std::string duration(uint64_t ns) {
  const auto v = static_cast<double>(ns);
  if (ns < 1000) return fmt::format("{} ns", ns);
  if (ns < 1'000'000) return fmt::format("{:.3g} µs", v / 1e3);
  if (ns < 1'000'000'000) return fmt::format("{:.3g} ms", v / 1e6);
  return fmt::format("{:.4g} s", v / 1e9);
}

std::string duration_between(int64_t earlier, int64_t later) {
  return duration(static_cast<uint64_t>(later) - static_cast<uint64_t>(earlier));
}

std::string display_bounds(const History& h, OpId range) {
  const KeyBounds keys = bounds_of(h, range);
  const std::string from = keys.from == kNone ? std::string() : display_key(h, keys.from);
  const std::string to = keys.to == kNone ? std::string() : display_key(h, keys.to);
  const std::string table = from.substr(0, from.size() - from.ends_with(':'));
  return table != from && to == table + ';' ? table : from + ".." + to;
}

namespace {

// The values of a list or range; long ones show both ends.
std::string display_values(const History& h, std::span<const uint32_t> versions, bool with_keys) {
  constexpr size_t kEnd = 4;
  std::string out;
  for (size_t i = 0; i < versions.size(); ++i) {
    if (versions.size() > 2 * kEnd + 1 && i == kEnd) {
      out += ",…";
      i = versions.size() - kEnd;
    }
    if (!out.empty()) out += ",";
    if (with_keys) out += display_key(h, h.version_key(versions[i])) + "=";
    out += display_value(h, versions[i]);
  }
  return out;
}

std::string display_range(const History& h, OpId i) {
  const Selected selected = h.selected(i);
  const std::string bounds = display_bounds(h, i);
  const std::string rows = display_values(h, selected.rows, true);
  if (selected.predicate == kNone) return fmt::format("range({},[{}])", bounds, rows);
  if (selected.aggregate != kNone) {
    const Aggregate& aggregate = h.predicates().aggregate(selected.aggregate);
    return fmt::format("agg({}{}{}, {}{},[{}])", aggregate_name(aggregate.function),
                       aggregate.column.empty() ? "" : " ", aggregate.column,
                       bounds == ".." ? "" : bounds + ": ", h.predicates().text(aggregate.where),
                       display(value_of(aggregate.value)));
  }
  std::string out = fmt::format("p({}{},[{}]", bounds == ".." ? "" : bounds + ": ",
                                h.predicates().text(selected.predicate), rows);
  if (!selected.passed.empty())
    out += fmt::format(",passed[{}]", display_values(h, selected.passed, true));
  std::string matched;
  for (const KeyId key : selected.matched)
    matched += (matched.empty() ? "" : ",") + display_key(h, key);
  if (!matched.empty()) out += fmt::format(",matched[{}]", matched);
  return out + (selected.complete ? ")" : ",found)");
}

}  // namespace

std::string display_op(const History& h, OpId i) {
  const Operation op = h.op(i);
  const auto operands = h.operands(i);
  const auto key_value = [&](std::string_view kind) {
    return fmt::format("{}({},{})", kind, display_key(h, op.key), display_value(h, op.version));
  };
  switch (op.kind) {
    case OpKind::read:
      return key_value("r");
    case OpKind::write:
      return key_value("w");
    case OpKind::remove:
      return key_value("d");
    case OpKind::append:
      return key_value("a");
    case OpKind::read_list:
      return fmt::format("r({},[{}])", display_key(h, op.key), display_values(h, operands, false));
    case OpKind::range:
      return display_range(h, i);
    case OpKind::cas:
      return fmt::format("cas({},{},{}){}", display_key(h, op.key), display_value(h, operands[0]),
                         display_value(h, op.version), op.effect ? "" : "!");
    case OpKind::insert:
      return key_value("ins") + (op.effect ? "" : "!");
  }
  return {};
}

std::string display_ops(const History& h, TxnId t, const std::vector<OpId>& telling) {
  constexpr OpId kShort = 8;
  constexpr int kMostShown = 16;
  const bool all = h.end_op(t) - h.first_op(t) <= kShort;
  std::string out = "{";
  bool gap = false;
  int shown = 0;
  for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
    const bool tell = all || std::binary_search(telling.begin(), telling.end(), i);
    if (!tell || shown == kMostShown) {
      if (!gap) out += " …";
      gap = true;
      if (shown == kMostShown) break;
      continue;
    }
    gap = false;
    ++shown;
    out += " " + display_op(h, i);
  }
  return out + " }";
}

}  // namespace assay::internal
