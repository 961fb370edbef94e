#include "record/trace.h"

#include <array>
#include <tuple>

#include "collect/write_all.h"

namespace assay::internal::record {
namespace {

constexpr std::array<std::string_view, 16> kKinds = {
    "other",    "select",      "insert",  "update",     "delete", "merge",   "begin", "commit",
    "rollback", "rollback_to", "prepare", "definition", "name",   "execute", "fetch", "forget"};

constexpr size_t kMostSqlBytes = 1 << 20;
constexpr size_t kMostDescribed = 10'000;  // that are remembered; others are described again

}  // namespace

void Trace::write_text(std::string_view line) {
  ++written_;
  append(line);
}

void Trace::append(std::string_view line) {
  const std::lock_guard lock(mutex_);
  lines_ += line;
  lines_ += '\n';
}

uint64_t Trace::statement(const Plan& plan, size_t part, const std::string& untouched) {
  if (statements_.size() >= kMostDescribed) {
    statements_.clear();
    Json forgotten = Json::object();
    forgotten["forgotten"] = described_;
    write(forgotten);
  }
  const auto [at, fresh] = statements_.try_emplace({plan.number, part, untouched}, described_ + 1);
  if (!fresh) return at->second;
  ++described_;
  const Part& p = plan.parts[part];
  Json line = Json::object();
  line["q"] = at->second;
  line["kind"] = kKinds[static_cast<size_t>(p.kind)];
  const std::string sql = veil_ ? Veil::sql(p) : p.sql;
  line["sql"] = sql.size() > kMostSqlBytes ? sql.substr(0, kMostSqlBytes) + " …" : sql;
  if (p.reads) line["reads"] = true;
  if (p.may_write) line["writes"] = true;
  if (p.aggregated) line["aggregated"] = true;
  if (p.tells && untouched.empty())
    for (const auto& [name, values] : p.from) line["from"].push_back(Json::array({name, values}));
  // With a veil, only the absence of a condition is known.
  if (p.where.is_array() && line.contains("from") && (!veil_ || p.where.empty()))
    line["where"] = p.where;
  if (p.reads && (!p.missed.empty() || (p.tells && !untouched.empty())))
    line["missed"] = p.missed.empty() ? untouched : p.missed;
  if (!p.changed.empty()) line["changed"] = p.changed;
  if (!p.tables.empty()) line["tables"] = p.tables;
  if (p.keyed) line["keyed"] = true;
  if (!p.locks.empty()) line["locks"] = p.locks;
  if (p.fires) line["fires"] = true;
  if (p.depends_on_rows) line["depends"] = true;
  if (!p.isolation.empty()) line[p.for_session ? "session_isolation" : "isolation"] = p.isolation;
  if (const std::string place = place_in_code(p.sql); !place.empty()) line["place"] = place;
  write(line);
  return at->second;
}

void Trace::answered(int64_t before, int64_t since) {
  int64_t logged = logged_;
  if (logged >= before) return;
  Json line = Json::object();
  line["answered"] = before;
  line["since"] = since;
  append(line.dump());
  logged_.compare_exchange_strong(logged, Interval::kUnknown);
}

size_t Trace::pending() const {
  const std::lock_guard lock(mutex_);
  return lines_.size();
}

Status Trace::flush() {
  std::string lines;
  {
    const std::lock_guard lock(mutex_);
    lines.swap(lines_);
  }
  return lines.empty() ? Status(Ok{}) : collect::write_all(fd_, lines);
}

}  // namespace assay::internal::record
