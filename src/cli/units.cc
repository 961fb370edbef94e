#include "cli/units.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <span>
#include <string>

namespace assay::internal::cli {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// Parses an amount with one of `units`: a positive one, or 0 if it `may_be_zero`.
Result<double> parse(std::string_view text, std::span<const Unit> units, std::string_view expected,
                     bool may_be_zero = false) {
  const size_t digits = text.find_first_not_of("0123456789.");
  const std::string number(text.substr(0, digits));
  const std::string_view unit = digits == std::string_view::npos ? "" : text.substr(digits);
  const Error error = usage_error(fmt::format("invalid amount '{}'; expected {}", text, expected));
  char* end = nullptr;
  const double amount = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != '\0' || !std::isfinite(amount) || (amount <= 0 && !may_be_zero))
    return error;
  for (const Unit& u : units)
    if (u.name == unit) return amount * u.factor;
  return error;
}

}  // namespace

Result<double> parse_seconds(std::string_view text) {
  static constexpr Unit kUnits[] = {{"", 1},      {"s", 1},  {"ms", 1e-3}, {"us", 1e-6},
                                    {"ns", 1e-9}, {"m", 60}, {"min", 60},  {"h", 3600}};
  return parse(text, kUnits, "a time such as 60s, 500ms, 2m or 1h");
}

Result<double> parse_share(std::string_view text) {
  static constexpr Unit kUnits[] = {{"", 1}, {"%", 0.01}};
  Result<double> share = parse(text, kUnits, "a share such as 50% or 0.5", true);
  if (share.ok() && *share > 1)
    return usage_error(fmt::format("'{}' is out of range; expected at most 100%", text));
  return share;
}

Result<uint64_t> parse_bytes(std::string_view text) {
  constexpr double k = 1024;
  static constexpr Unit kUnits[] = {{"B", 1},
                                    {"K", k},
                                    {"KB", k},
                                    {"KiB", k},
                                    {"M", k * k},
                                    {"MB", k * k},
                                    {"MiB", k * k},
                                    {"G", k * k * k},
                                    {"GB", k * k * k},
                                    {"GiB", k * k * k},
                                    {"T", k * k * k * k},
                                    {"TiB", k * k * k * k}};
  const Result<double> amount =
      parse(text, kUnits, "a size with its unit, such as 4G, 512M or 64K");
  if (!amount.ok()) return amount.error();
  if (*amount < 1 || *amount > 1e18)
    return usage_error(fmt::format("'{}' is out of range; expected a size such as 4G", text));
  return static_cast<uint64_t>(*amount);
}

}  // namespace assay::internal::cli
