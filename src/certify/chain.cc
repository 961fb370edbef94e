#include "certify/chain.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
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

// What both kinds of lines have in common.
struct Line {
  bool ends = false;
  uint64_t number = 0;
  std::string previous = {};  // digest of the previous line
  Segment segment = {};
  uint64_t transactions = 0;
};

// The fields of a line, read or written.
template <class Json>
class LineFields {
 public:
  LineFields(Json& json, auto& line) : json_(json) {
    auto& s = line.segment;
    json.object(
        line.ends,
        "expected the fields of a segment, or \"end\", \"previous\" and \"transactions\"",
        Field("segment", number(line, false)).needed_by(false),
        Field("end", number(line, true)).needed_by(true),
        Field("previous", [&] { json.string(line.previous); }),
        Field("gap", [&] { json.flag(s.gap); }).allowed_in(s.gap, false),
        Field("order", lines(s.order)).needed_by(false),
        Field("rivals", pairs(s.rivals, &Segment::Rival::writer, &Segment::Rival::last))
            .allowed_in(!s.rivals.empty(), false),
        Field("late", pairs(s.late, &Segment::Late::txn, &Segment::Late::behind))
            .allowed_in(!s.late.empty(), false),
        Field("took_effect", lines(s.took_effect)).allowed_in(!s.took_effect.empty(), false),
        Field("left_out", lines(s.left_out)).allowed_in(!s.left_out.empty(), false),
        Field("without_effect", lines(s.without_effect))
            .allowed_in(!s.without_effect.empty(), false),
        Field("transactions", [&] { count(line.transactions, kNoLimit, ""); }).needed_by(true));
  }

 private:
  void count(auto& n, int64_t least, const char* expected) {
    auto number = static_cast<int64_t>(n);
    json_.integer(number);
    if (number < least) json_.fail(expected);
    json_.set(n, static_cast<uint64_t>(number));
  }
  auto number(auto& line, bool ends) {
    return [this, &line, ends] {
      json_.set(line.ends, ends);
      count(line.number, 1, kLine);
    };
  }
  auto lines(auto& all) {
    return [this, &all] { json_.array(all, [&](auto& line) { count(line, 1, kLine); }); };
  }
  // Two numbers; the second may be 0.
  auto pairs(auto& all, auto first, auto second) {
    return [this, &all, first, second] {
      json_.array(all, [&](auto& pair) {
        json_.pair([&] { count(pair.*first, 1, kTwoLines); },
                   [&] { count(pair.*second, 0, kTwoLines); }, kTwoLines);
      });
    };
  }

  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::min();
  static constexpr const char* kLine = "expected a line number";
  static constexpr const char* kTwoLines = "expected two line numbers";
  Json& json_;
};

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

std::string ChainWriter::segment(const Segment& s) { return next(false, s, 0); }

std::string ChainWriter::end(uint64_t transactions) { return next(true, {}, transactions); }

std::string ChainWriter::next(bool ends, const Segment& s, uint64_t transactions) {
  const Line line{ends, ++number_, previous_, s, transactions};
  JsonWriter json;
  LineFields(json, line);
  return sealed(json.take());
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
    uint32_t number = 0;
    json.index(number);
    if (number != 1) json.fail("expected version 1");
  };
  json.object(kOneKind, "expected \"assay_chain\" and \"level\"", Field("assay_chain", version),
              Field("level", [&] { json.string(level); }));
  json.end();
  const std::optional<LevelId> id = find_level(level);
  if (!id) json.fail("expected the name of a level");
  if (!json.ok()) return json.error();
  previous_ = digest_of(line);
  return *id;
}

Result<std::variant<Segment, ChainEnd>> ChainReader::next(std::string_view text) {
  JsonCursor json(text);
  Line line;
  LineFields(json, line);
  json.end();
  if (line.number != number_ + 1) json.fail(fmt::format("expected number {}", number_ + 1));
  if (line.previous != previous_) json.fail("the digest is not that of the previous line");
  if (!json.ok()) return json.error();
  ++number_;
  previous_ = digest_of(text);
  if (line.ends) return std::variant<Segment, ChainEnd>(ChainEnd{line.transactions});
  return std::variant<Segment, ChainEnd>(std::move(line.segment));
}

}  // namespace assay::internal::certify
