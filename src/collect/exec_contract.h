// The rules of docs/formats/exec-protocol.md for a program that represents a database, tested on
// the program itself: each check opens new sessions, uses new keys, and reports the expected and
// the actual answer.
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
  std::string why;  // empty if the rule is kept
};

struct ContractOptions {
  std::string url;  // exec:… or exec+unix:…
  std::string isolation;
  std::chrono::milliseconds timeout{1000};  // passed on to the program
};

struct ContractCheck {
  std::string_view name;
  std::string_view summary;
};
std::span<const ContractCheck> contract_checks();

// Tests the rules and reports each result at once, in the order of contract_checks(), as long as
// `tell` returns true. `prepare` empties the program's tables. An error if the program cannot be
// started or does not say hello: then nothing could be tested.
Status check_exec_contract(const ContractOptions& options,
                           const std::function<bool(const ContractResult&)>& tell);

}  // namespace assay::internal::collect
