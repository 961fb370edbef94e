#include "evidence/postgresql_snapshot.h"

#include <algorithm>
#include <charconv>

namespace assay::internal::evidence {
namespace {

constexpr uint64_t kFirstXid = 3;                  // the server uses smaller ones itself
constexpr uint64_t kMostXid = uint64_t{1} << 62;   // far above any that a server can assign
constexpr int64_t kNearEnough = int64_t{1} << 30;  // half of what 32 bits can distinguish

// Takes an unsigned number off the beginning of `text`.
std::optional<uint64_t> take_number(std::string_view& text) {
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

bool take(std::string_view& text, char sign) {
  if (!text.starts_with(sign)) return false;
  text.remove_prefix(1);
  return true;
}

}  // namespace

bool PostgresqlSnapshot::shows(uint64_t xid) const {
  return xid < end && !std::ranges::binary_search(running, xid);
}

std::optional<PostgresqlSnapshot> postgresql_snapshot(std::string_view text) {
  PostgresqlSnapshot snapshot;
  const auto least = take_number(text);
  if (!least || !take(text, ':')) return std::nullopt;
  const auto end = take_number(text);
  if (!end || !take(text, ':')) return std::nullopt;
  if (*least < kFirstXid || *least > *end || *end > kMostXid) return std::nullopt;
  snapshot.least = *least;
  snapshot.end = *end;
  while (!text.empty()) {
    const auto xid = take_number(text);
    const uint64_t from = snapshot.running.empty() ? *least : snapshot.running.back() + 1;
    if (!xid || *xid < from || *xid >= *end) return std::nullopt;
    snapshot.running.push_back(*xid);
    if (!text.empty() && (!take(text, ',') || text.empty())) return std::nullopt;
  }
  return snapshot;
}

std::optional<uint64_t> whole_xid(std::string_view logged, uint64_t near) {
  const auto lower = take_number(logged);
  if (!lower || !logged.empty() || *lower > UINT32_MAX || near > kMostXid) return std::nullopt;
  const auto away = static_cast<int32_t>(static_cast<uint32_t>(*lower - near));
  const int64_t whole = static_cast<int64_t>(near) + away;
  if (away > kNearEnough || away < -kNearEnough || whole < static_cast<int64_t>(kFirstXid))
    return std::nullopt;
  return static_cast<uint64_t>(whole);
}

}  // namespace assay::internal::evidence
