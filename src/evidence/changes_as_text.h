// For tests: transactions of a log as text, "3-17: 7=42 9=null".
#pragma once

#include <string>

#include "evidence/log.h"

namespace assay::internal::evidence {

inline std::string as_text(const LoggedTxn& txn) {
  std::string text = (txn.name.empty() ? txn.server_id : txn.name) + ":";
  for (const Change& change : txn.changes)
    text += " " + change.key.view().to_string() + "=" + change.value.view().to_string();
  return text;
}

}  // namespace assay::internal::evidence
