// What docs/formats/exec-protocol.md asks of a program that speaks for a database, tried on the
// program itself: each check opens sessions of its own, uses keys of its own, and says what was
// expected and what came.
#pragma once

#include <chrono>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "assay/result.h"

namespace assay::internal::collect {

enum class Kept : uint8_t { yes, skipped, no };

struct ContractResult {
  std::string_view name;
  Kept kept = Kept::yes;
  std::string why;  // unless kept
};

struct ContractOptions {
  std::string url;  // exec:… or exec+unix:…
  std::string isolation;
  std::chrono::milliseconds timeout{1000};  // that the program is told
};

struct ContractCheck {
  std::string_view name;
  std::string_view summary;
};
std::span<const ContractCheck> contract_checks();

// Tells each result as soon as it is there, in the order of contract_checks(), as long as `tell`
// returns true. `prepare` empties the program's tables. An error if the program cannot be started
// or does not say hello, so that nothing could be tried.
Status check_exec_contract(const ContractOptions& options,
                           const std::function<bool(const ContractResult&)>& tell);

}  // namespace assay::internal::collect
