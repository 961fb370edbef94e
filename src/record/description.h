// The history's description of a recorded transaction, without its operations: its program, its
// statements, and its unrecorded operations.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "record/seen.h"

namespace assay::internal::record {

std::string without_comments(std::string_view sql);

// Why not all that it read is in the history; empty: it is.
std::string_view missed_of(const Statement& statement, const SeenStatement& s);

// Transactions that send the same statements, whatever the constants, are one program. It is called
// by the places in the code, if the statements say theirs, or else by what they do with which
// tables: "select accounts, update accounts".
class ProgramNames {
 public:
  // `statements`: each once, without constants; `words`: its readable name.
  const std::string& name(const std::string& statements, const std::string& words);

 private:
  std::map<std::string, std::string> names_;  // by statements
  std::map<std::string, size_t> taken_;       // by words: how many are called so
};

class Description {
 public:
  // `closed`: whatever was committed by then is in the log.
  Description(const SeenTxn& txn, bool closed) : txn_(txn), closed_(closed) {}

  // `finds_all`: the history has the value of everything that the statement examined.
  void look_at(const SeenStatement& s, bool finds_all);
  // It is not known which statement made which of its changes.
  void miss_origins();
  // After all statements. `logged`: the log has its changes, if there were any.
  void end(bool logged);
  std::string meta(ProgramNames& programs) const;

 private:
  void miss(const SeenStatement& s, std::string_view why, const std::vector<std::string>& tables);

  const SeenTxn& txn_;
  bool closed_;
  std::set<std::string> reads_,
      changes_;  // of these tables something is not in the history; "*": of any
  std::vector<std::string> why_;
};

}  // namespace assay::internal::record
