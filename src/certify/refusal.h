// How the verifier refuses a certificate.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>

#include "assay/history.h"
#include "assay/result.h"

namespace assay::internal::certify {

template <class... Args>
Error refuse(fmt::format_string<Args...> text, Args&&... args) {
  return bad_input(fmt::format(text, std::forward<Args>(args)...));
}

// Refuses to do more work than the limit: the question stays open.
inline Error too_much(std::string text) { return {ErrorKind::budget, std::move(text), {}, 0, 0}; }

// "x = 3", for messages.
inline std::string show_version(const History& history, VersionId v) {
  return history.key(history.version_key(v)).to_string() + " = " +
         history.version_value(v).to_string();
}

// "operation 2 of transaction T", in the same way.
inline std::string show_operation(const History& history, OpId i) {
  const TxnId t = history.txn_of(i);
  return fmt::format("operation {} of transaction {}", i - history.first_op(t), history.name(t));
}

}  // namespace assay::internal::certify
