#include "certify/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/hash.h"
#include "certify/json_cursor.h"

namespace assay::internal::certify {
namespace {

constexpr std::string_view kFirst = R"({"assay_chain":)";

std::string digest_of(std::string_view line) {
  Digest digest;
  digest.add(line.data(), line.size());
  return digest.hex();
}

void add_numbers(std::string& out, std::string_view name, const std::vector<uint64_t>& numbers) {
  out += fmt::format(",\"{}\":[", name);
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) out += ',';
    const fmt::format_int text(numbers[i]);
    out.append(text.data(), text.size());
  }
  out += ']';
}

template <class Pairs, class Members>
void add_pairs(std::string& out, std::string_view name, const Pairs& pairs, Members members) {
  if (pairs.empty()) return;
  out += fmt::format(",\"{}\":[", name);
  for (const auto& p : pairs) {
    const auto [first, second] = members(p);
    out += fmt::format("[{},{}],", first, second);
  }
  out.back() = ']';
}

uint64_t line_number(JsonCursor& json) {
  const int64_t n = json.integer();
  if (json.ok() && n < 1) json.fail("expected the number of a line");
  return static_cast<uint64_t>(n);
}

// Two numbers; the second may be 0.
std::pair<uint64_t, uint64_t> pair_of_lines(JsonCursor& json) {
  std::vector<int64_t> pair;
  json.array([&] { pair.push_back(json.integer()); });
  if (json.ok() && (pair.size() != 2 || pair[0] < 1 || pair[1] < 0))
    json.fail("expected the numbers of two lines");
  return json.ok() ? std::pair<uint64_t, uint64_t>(pair[0], pair[1])
                   : std::pair<uint64_t, uint64_t>();
}

}  // namespace

uint64_t LineNumbers::of(uint32_t line) {
  constexpr uint64_t kRound = uint64_t{1} << 32;
  uint64_t at = (last_ & ~(kRound - 1)) | line;
  if (at + kRound / 2 < last_) at += kRound;
  if (at > last_ + kRound / 2 && at >= kRound) at -= kRound;
  last_ = std::max(last_, at);
  return at;
}

// --- writing

std::string ChainWriter::sealed(const std::string& line) {
  previous_ = digest_of(line);
  return line + "\n";
}

std::string ChainWriter::header() {
  return sealed(fmt::format(R"({}1,"level":"{}"}})", kFirst, level_info(level_).name));
}

std::string ChainWriter::segment(const Segment& s) {
  std::string line = fmt::format(R"({{"segment":{},"previous":"{}")", ++number_, previous_);
  if (s.gap) line += R"(,"gap":true)";
  add_numbers(line, "order", s.order);
  add_pairs(line, "rivals", s.rivals,
            [](const Segment::Rival& r) { return std::pair(r.writer, r.last); });
  add_pairs(line, "late", s.late,
            [](const Segment::Late& l) { return std::pair(l.txn, l.behind); });
  if (!s.took_effect.empty()) add_numbers(line, "took_effect", s.took_effect);
  if (!s.left_out.empty()) add_numbers(line, "left_out", s.left_out);
  if (!s.without_effect.empty()) add_numbers(line, "without_effect", s.without_effect);
  return sealed(line + "}");
}

std::string ChainWriter::end(uint64_t transactions) {
  return sealed(fmt::format(R"({{"end":{},"previous":"{}","transactions":{}}})", ++number_,
                            previous_, transactions));
}

void ChainWriter::save(StreamWriter& to) const {
  to.number(number_);
  to.text(previous_);
}

void ChainWriter::load(StreamReader& from) {
  number_ = from.number();
  previous_ = from.text();
}

// --- reading

bool ChainReader::is_chain(std::string_view beginning) { return beginning.starts_with(kFirst); }

Result<LevelId> ChainReader::header(std::string_view line) {
  JsonCursor json(line);
  std::string level;
  const auto version = [&] {
    if (json.index() != 1) json.fail("expected version 1");
  };
  const uint32_t fields =
      json.object(Field{"assay_chain", version}, Field{"level", [&] { level = json.string(); }});
  json.end();
  const std::optional<LevelId> id = find_level(level);
  if (json.ok() && fields != 0b11) json.fail("expected \"assay_chain\" and \"level\"");
  if (json.ok() && !id) json.fail("expected the name of a level");
  if (!json.ok()) return json.error();
  previous_ = digest_of(line);
  return *id;
}

Result<std::variant<Segment, ChainEnd>> ChainReader::next(std::string_view line) {
  enum : uint32_t { segment, end, previous, order, transactions, optional };
  JsonCursor json(line);
  Segment s;
  ChainEnd closing;
  std::string digest;
  uint64_t number = 0;
  const auto count = [&] { number = line_number(json); };
  const auto lines = [&](std::vector<uint64_t>& to) {
    return [&json, &to] { json.array([&] { to.push_back(line_number(json)); }); };
  };
  const auto pairs = [&]<class Pair>(std::vector<Pair>& to) {
    return [&json, &to] {
      json.array([&] {
        const auto [first, second] = pair_of_lines(json);
        to.push_back({first, second});
      });
    };
  };
  const uint32_t fields = json.object(
      Field{"segment", count}, Field{"end", count},
      Field{"previous", [&] { digest = json.string(); }}, Field{"order", lines(s.order)},
      Field{"transactions", [&] { closing.transactions = static_cast<uint64_t>(json.integer()); }},
      Field{"rivals", pairs(s.rivals)}, Field{"late", pairs(s.late)},
      Field{"took_effect", lines(s.took_effect)}, Field{"left_out", lines(s.left_out)},
      Field{"without_effect", lines(s.without_effect)},
      Field{"gap", [&] { s.gap = json.boolean(); }});
  json.end();
  constexpr uint32_t kEnd = 1u << end | 1u << previous | 1u << transactions;
  constexpr uint32_t kSegment = 1u << segment | 1u << previous | 1u << order;
  const bool ends = fields == kEnd;
  if (json.ok() && !ends && (fields & ((1u << optional) - 1)) != kSegment)
    json.fail("expected the fields of a segment, or \"end\", \"previous\" and \"transactions\"");
  if (json.ok() && number != number_ + 1) json.fail(fmt::format("expected number {}", number_ + 1));
  if (json.ok() && digest != previous_) json.fail("the digest is not that of the line before");
  if (!json.ok()) return json.error();
  ++number_;
  previous_ = digest_of(line);
  if (ends) return std::variant<Segment, ChainEnd>(closing);
  return std::variant<Segment, ChainEnd>(std::move(s));
}

}  // namespace assay::internal::certify
