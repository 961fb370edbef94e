// The scan: whether a line has the usual shape, and its content if so.
//
//   {"session":1,"ops":[["r","x",7],["w","x",8]]}     read here
//   {"session":1,"ops":[["cas","x",7,8,true]]}        left to the parser
//
// The idea: one pass from left to right that looks at no byte twice and builds nothing in between.
// Numbers and texts are looked at eight bytes at a time, as words: a digit is a byte that is at
// most 9 after exclusive or with '0', and of eight digits neighbours are joined to numbers of two,
// four and eight digits by three multiplications (D. Lemire, "Number parsing at a gigabyte per
// second", 2021). Any other byte ends the scan, so it never reads past the end of the line.
//
// Cost: linear in the line; bench/results/2026-11-29-reading-and-values.md has figures.
#include "formats/assay_jsonl_scan.h"

#include <bit>
#include <cstring>
#include <iterator>

namespace assay::internal::formats {
namespace {

constexpr uint64_t kEach = 0x0101010101010101;  // times a byte: that byte, eight times
constexpr uint64_t kHighBits = 0x80 * kEach;

// The first byte is the lowest.
uint64_t load_word(const char* p) {
  uint64_t word;
  std::memcpy(&word, p, sizeof word);
  if constexpr (std::endian::native == std::endian::big) word = __builtin_bswap64(word);
  return word;
}

// The index of the first byte whose high bit is set; 8 if there is none. A bit that is set because
// of a carry has another one before it.
unsigned first_marked(uint64_t marks) { return static_cast<unsigned>(std::countr_zero(marks)) / 8; }

// Sets the high bits of the bytes that are zero.
uint64_t zero_bytes(uint64_t word) { return (word - kEach) & ~word & kHighBits; }

constexpr uint64_t kPowersOfTen[] = {1,       10,        100,        1000,       10000,
                                     100'000, 1'000'000, 10'000'000, 100'000'000};
// In the order of the cases of LineScan::field.
constexpr std::string_view kScannedFields[] = {"\"session\"",  "\"txn\"", "\"status\"",
                                               "\"begin\"",    "\"end\"", "\"start_ts\"",
                                               "\"commit_ts\""};

constexpr unsigned kMostDigits = 18;  // these fit into 64 bits whatever they are

// The number of digits at `p`, up to eight, and their value.
unsigned take_digits(const char* p, uint64_t& number) {
  uint64_t word = load_word(p) ^ '0' * kEach;
  const unsigned count = first_marked(((word + (0x7F - 9) * kEach) | word) & kHighBits);
  if (count == 0) return 0;
  word <<= 64 - 8 * count;  // puts zeros before the digits
  word = (word * 10 + (word >> 8)) & 0x00FF00FF00FF00FF;
  word = (word * 100 + (word >> 16)) & 0x0000FFFF0000FFFF;
  number = static_cast<uint32_t>(word * 10000 + (word >> 32));
  return count;
}

}  // namespace

bool LineScan::take(std::string_view word) {
  if (std::memcmp(at_, word.data(), word.size()) != 0) return false;
  at_ += word.size();
  return true;
}

// Takes the separator, and a blank that may follow.
bool LineScan::separator(char c) {
  if (*at_ != c) return false;
  ++at_;
  at_ += *at_ == ' ';
  return true;
}

bool LineScan::integer(int64_t& to) {
  const bool negative = *at_ == '-';
  at_ += negative;
  if (*at_ == '0') {
    ++at_;
    to = 0;
    return !negative && (*at_ < '0' || *at_ > '9');
  }
  uint64_t number = 0;
  unsigned digits = take_digits(at_, number);
  at_ += digits;
  for (unsigned more = digits; more == 8 && digits <= kMostDigits;) {
    uint64_t next = 0;
    more = take_digits(at_, next);
    if (more > 0) number = number * kPowersOfTen[more] + next;
    at_ += more;
    digits += more;
  }
  to = static_cast<int64_t>(negative ? 0 - number : number);
  return digits > 0 && digits <= kMostDigits + 1 && number <= uint64_t{1} << 63 &&
         (negative || number < uint64_t{1} << 63);
}

bool LineScan::text(std::string_view& to) {
  const char* const from = at_;
  for (;; at_ += 8) {
    const uint64_t word = load_word(at_);
    // A quote, a backslash, a byte below a blank, or one that is not ASCII.
    const uint64_t marks = zero_bytes(word ^ '"' * kEach) | zero_bytes(word ^ '\\' * kEach) |
                           ((word - ' ' * kEach) & kHighBits) | (word & kHighBits);
    if (marks == 0) continue;
    at_ += first_marked(marks);
    to = {from, static_cast<size_t>(at_ - from)};
    return *at_++ == '"';
  }
}

bool LineScan::value(ValueView& to) {
  if (*at_ == '"') {
    ++at_;
    to.type = ValueView::Type::string;
    return text(to.text);
  }
  to.type = ValueView::Type::integer;
  return integer(to.integer);
}

bool LineScan::time(Interval& to) {
  if (*at_ != '[') {
    if (!integer(to.request) || !to.known()) return false;
    to.response = to.request;
    return true;
  }
  ++at_;
  return integer(to.request) && to.known() && separator(',') && integer(to.response) &&
         *at_++ == ']' && to.request <= to.response;
}

bool LineScan::status(TxnHeader& to) {
  if (take("\"committed\"")) return true;
  to.pending = take("\"pending\"");
  if (to.pending) return true;
  to.status = TxnStatus::aborted;
  if (take("\"aborted\"")) return true;
  to.status = TxnStatus::unknown;
  return take("\"unknown\"");
}

// Reads a field. Each may occur only once: a second one is left to the parser, which refuses it.
bool LineScan::field(TxnHeader& to) {
  unsigned place = 0;
  while (place < std::size(kScannedFields) && !take(kScannedFields[place])) ++place;
  if (place == std::size(kScannedFields) || (seen_ >> place & 1) != 0 || !separator(':'))
    return false;
  seen_ |= 1u << place;
  switch (place) {
    case 0:
      return value(to.session);
    case 1:
      return take("\"") && text(to.name);
    case 2:
      return status(to);
    case 3:
      return time(to.begin);
    case 4:
      return time(to.end);
    case 5:
      return integer(to.start_ts);
    default:
      return integer(to.commit_ts);
  }
}

bool LineScan::header(std::string_view line, TxnHeader& to) {
  at_ = line.data();
  end_ = at_ + line.size();
  seen_ = 0;
  if (*at_++ != '{') return false;
  while (!take("\"ops\""))
    if (!field(to) || !separator(',')) return false;
  return !to.session.is_null() && separator(':') && *at_++ == '[';
}

bool LineScan::list(const ValueView& key, TxnBatch& to) {
  elements_.clear();
  ++at_;
  if (*at_ != ']') {
    do {
      if (!value(elements_.emplace_back())) return false;
    } while (separator(','));
  }
  return *at_++ == ']' && *at_++ == ']' && to.add(Op::read_list(key, elements_));
}

bool LineScan::operation(TxnBatch& to) {
  OpKind kind = OpKind::read;
  if (take("[\"w\""))
    kind = OpKind::write;
  else if (take("[\"append\""))
    kind = OpKind::append;
  else if (!take("[\"r\""))
    return false;
  Op op{.kind = kind};
  if (!separator(',') || !value(op.key) || !separator(',')) return false;
  if (*at_ == '[') return kind == OpKind::read && list(op.key, to);
  const bool null = kind == OpKind::read && take("null");
  return (null || value(op.value)) && *at_++ == ']' && to.add(op);
}

bool LineScan::operations(TxnBatch& to) {
  if (*at_ != ']') {
    do {
      if (!operation(to)) return false;
    } while (separator(','));
  }
  return *at_ == ']' && at_[1] == '}' && at_ + 2 == end_;
}

}  // namespace assay::internal::formats
