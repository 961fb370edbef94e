// What a trace has in place of values that must not leave the database.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.h"
#include "record/rewriting.h"

namespace assay::internal::record {

class Veil {
 public:
  using Secret = std::array<uint64_t, 2>;
  explicit Veil(const Secret& secret) : secret_(secret) {}
  // With a secret that is drawn now and written down nowhere.
  static Veil drawn();

  std::string value(std::string_view text) const;
  // Of an array or object each value.
  Json values(const Json& of) const;
  // Without comments and constants.
  static std::string sql(const Part& part);
  // A statement's result about versions: the values of keys.
  std::string versions(const Part& part, std::string_view told) const;
  // A line of the log.
  std::string logged(std::string_view line) const;

 private:
  std::string version(const Part& part, std::string_view row) const;

  Secret secret_;
};

}  // namespace assay::internal::record
