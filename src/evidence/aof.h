// Redis's append-only file: the commands that changed something, in the order in which they were
// executed, in the protocol's own spelling. A transaction is between MULTI and EXEC:
//
//   *1 $5 MULTI   *3 $3 SET $9 assay-txn $4 3-17   *3 $3 SET $11 assay:kv/1:7 $2 42   *1 $4 EXEC
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/log.h"
#include "evidence/rows.h"

namespace assay::internal::evidence {

class Aof {
 public:
  // Only transactions of this database are returned. `begin`: the byte of the file at which reading
  // begins.
  explicit Aof(std::string database, uint64_t begin = 0)
      : database_(std::move(database)), at_(begin) {}

  // Reads more of the file. False if this cannot read it.
  bool feed(std::string_view bytes, const std::function<void(LoggedTxn)>& take);
  // The value that was last set for the key kEnd.
  const std::string& end() const { return end_; }
  static constexpr std::string_view kEnd = "assay:end";

 private:
  // Takes the command off the beginning of the text. False if it is not complete; sets `broken_` if
  // it is not a command.
  bool command(std::string_view& text);
  void execute(const std::function<void(LoggedTxn)>& take);
  void set(const std::string& key, const std::string& value);
  void finish(const std::function<void(LoggedTxn)>& take);

  std::string database_;
  uint64_t at_;  // the byte of the file at which the command begins
  std::string selected_ = "0";
  std::string rest_;  // the beginning of a command
  std::vector<std::string> words_;
  bool broken_ = false;
  bool open_ = false;  // between MULTI and EXEC
  LoggedTxn txn_;
  Rows rows_;
  std::string end_;
};

}  // namespace assay::internal::evidence
