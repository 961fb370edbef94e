// The answers of etcd's watch, one JSON object per line, each with events of one or more revisions:
//
//   {"result":{"header":{…},"events":[{"kv":{"key":"…","mod_revision":"7","value":"…"}},{"type":"DELETE","kv":{…}}]}}
//
// A transaction has one revision, and its sessions also set the key assay-txn to its name.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "evidence/log.h"
#include "evidence/rows.h"

namespace assay::internal::evidence {

class WatchEvents {
 public:
  // Reads more of the answer. False if etcd has ended the watch; `why` holds the reason.
  bool feed(std::string_view bytes, const std::function<void(LoggedTxn)>& take);
  // The last transaction, which may not be complete yet; `finish` treats it as complete.
  int64_t revision() const { return revision_; }
  void finish(const std::function<void(LoggedTxn)>& take);
  const std::string& why() const { return why_; }

 private:
  bool line(std::string_view text, const std::function<void(LoggedTxn)>& take);

  std::string rest_;  // the beginning of a line
  int64_t revision_ = 0;
  LoggedTxn txn_;
  Rows rows_;
  std::string why_;
};

}  // namespace assay::internal::evidence
