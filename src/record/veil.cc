// A value becomes a number that depends on it and on a secret of the recording: equal values stay
// equal, and a reader of the recording cannot find a value by trying all possible ones:
//
//   (16385,731,7)                            (16385,731,#5f0c91d2a7e3b846)
//   UPDATE t SET v = 5 WHERE id = 7          UPDATE t SET v = ? WHERE id = ?
//
// Two values of one column have the same number once in 2^64: two keys would then be one. Names of
// tables, columns, users and programs stay, and so do numbers of transactions, counts and times.
//
// Cost: the bytes. Source: Aumasson, Bernstein: SipHash, a fast short-input PRF (2012), with 2 and
// 4 rounds.
#include "record/veil.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <random>

#include "evidence/test_decoding.h"
#include "record/composite.h"
#include "record/description.h"
#include "record/shape.h"

namespace assay::internal::record {
namespace {

struct SipState {
  uint64_t a, b, c, d;

  void rounds(int n) {
    for (; n > 0; --n) {
      a += b, c += d;
      b = std::rotl(b, 13) ^ a, d = std::rotl(d, 16) ^ c;
      a = std::rotl(a, 32);
      c += b, a += d;
      b = std::rotl(b, 17) ^ c, d = std::rotl(d, 21) ^ a;
      c = std::rotl(c, 32);
    }
  }
  void take(uint64_t word) {
    d ^= word;
    rounds(2);
    a ^= word;
  }
};

uint64_t sip_hash(std::string_view text, const Veil::Secret& key) {
  SipState s{key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d, key[0] ^ 0x6c7967656e657261,
             key[1] ^ 0x7465646279746573};
  uint64_t word = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    word |= uint64_t{static_cast<unsigned char>(text[i])} << (8 * (i % 8));
    if (i % 8 != 7) continue;
    s.take(word);
    word = 0;
  }
  s.take(word | uint64_t{text.size()} << 56);
  s.c ^= 0xff;
  s.rounds(4);
  return s.a ^ s.b ^ s.c ^ s.d;
}

// One that the shape has in place of a constant.
size_t placeholder_at(std::string_view text, size_t at) {
  size_t end = at + 1;
  if (text[at] != '$') return 0;
  while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
  return end - at == std::to_string(Shape::kFirst).size() + 1 && text[at + 1] == '6' ? end - at : 0;
}

}  // namespace

Veil Veil::drawn() {
  std::random_device random;
  const auto word = [&] { return uint64_t{random()} << 32 | random(); };
  return Veil({word(), word()});
}

std::string Veil::value(std::string_view text) const {
  return fmt::format("#{:016x}", sip_hash(text, secret_));
}

Json Veil::values(const Json& of) const {
  Json veiled = of.is_object() ? Json::object() : Json::array();
  for (size_t i = 0; i < of.size(); ++i) {
    const Json& v = of[i];
    const Json to = v.is_null() || (v.is_boolean() && !of.is_object())
                        ? v  // null, or a value that was not recorded
                        : Json(value(v.is_string() ? v.text() : v.dump()));
    if (of.is_object())
      veiled[of.name(i)] = to;
    else
      veiled.push_back(to);
  }
  return veiled;
}

std::string Veil::sql(const Part& part) {
  const auto shape = shape_of(without_comments(part.sql));
  if (!shape) return "…";  // its constants are unknown
  std::string text;
  for (size_t i = 0; i < shape->text.size();) {
    const size_t constant = placeholder_at(shape->text, i);
    text += constant > 0 ? '?' : shape->text[i];
    i += std::max<size_t>(constant, 1);
  }
  return text;
}

std::string Veil::version(const Part& part, std::string_view row) const {
  const auto cells = cells_of_row(row);
  if (!cells) return "";
  std::string veiled;
  size_t at = 0;
  for (const auto& [table, values] : part.from)
    for (size_t n = 0; n < values && at < cells->size(); ++n, ++at) {
      const auto& cell = (*cells)[at];
      veiled += at == 0 ? "(" : ",";
      if (cell) veiled += n < 2 ? *cell : value(*cell);  // its table, and its writer
    }
  return veiled + ")";
}

std::string Veil::versions(const Part& part, std::string_view told) const {
  if (!part.aggregated) return version(part, told);
  std::string veiled;
  for (const std::string& row : elements_of_array(told).value_or(std::vector<std::string>()))
    veiled += fmt::format("{}\"{}\"", veiled.empty() ? "" : ",", version(part, row));
  return "{" + veiled + "}";
}

std::string Veil::logged(std::string_view line) const {
  using Kind = evidence::LoggedRow::Kind;
  const auto row = evidence::logged_row(line);
  if (!row || row->kind == Kind::truncate)
    return line.starts_with("table ") && !row ? "" : std::string(line);
  const auto cells = [this](const std::vector<evidence::LoggedCell>& all) {
    std::string text;
    for (const evidence::LoggedCell& cell : all) {
      std::string column;
      for (const char c : cell.column) column += c == '"' ? "\"\"" : std::string(1, c);
      text += fmt::format("{}\"{}\"[text]:", text.empty() ? "" : " ", column);
      text += cell.unchanged ? "unchanged-toast-datum"
              : cell.text    ? fmt::format("'{}'", value(*cell.text))
                             : "null";
    }
    return text;
  };
  const std::string_view kind = row->kind == Kind::insert   ? "INSERT"
                                : row->kind == Kind::update ? "UPDATE"
                                                            : "DELETE";
  std::string veiled = fmt::format("table {}: {}: ", row->table, kind);
  if (!row->old_key.empty()) veiled += fmt::format("old-key: {} new-tuple: ", cells(row->old_key));
  return veiled + cells(row->cells);
}

}  // namespace assay::internal::record
