// The text of PostgreSQL's output plugin test_decoding, one line at a time:
//
//   BEGIN 739
//   table public.assay_kv: INSERT: k[character varying]:'1:7' v[text]:'42'
//   table public.assay_kv: DELETE: k[character varying]:'1:7'
//   message: transactional: 1 prefix: assay, sz: 4 content:3-17
//   COMMIT 739
//
// Whole transactions come in the order of their commits, without what was rolled back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "evidence/log.h"
#include "evidence/rows.h"

namespace assay::internal::evidence {

class TestDecoding {
 public:
  // A transaction when the line ends one; its server_id is the number that BEGIN has, its name the last message with our
  // prefix in it. Lines that say nothing of our tables are passed over.
  std::optional<LoggedTxn> line(std::string_view text, std::string_view position);
  // Content of the last message with our prefix. One of a transaction that does nothing else comes without BEGIN and COMMIT.
  const std::string& message() const { return message_; }

 private:
  void row(std::string_view text);

  Rows rows_;
  LoggedTxn txn_;
  std::string message_;
};

}  // namespace assay::internal::evidence
