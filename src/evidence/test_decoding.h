// The text of PostgreSQL's output plugin test_decoding, one line at a time:
//
//   BEGIN 739
//   table public.assay_kv: INSERT: k[character varying]:'1:7' v[text]:'42'
//   table public.assay_kv: DELETE: k[character varying]:'1:7'
//   message: transactional: 1 prefix: assay, sz: 4 content:3-17
//   COMMIT 739
//
// Whole transactions come in the order of their commits, without operations that were rolled back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evidence/log.h"
#include "evidence/rows.h"

namespace assay::internal::evidence {

struct LoggedCell {
  std::string column;
  std::optional<std::string> text;  // nothing for NULL
  bool quoted = false;              // it is not a number or truth value
  bool unchanged = false;           // and stored elsewhere: the log lacks it
};

// The content of a line "table …" about a row.
struct LoggedRow {
  enum class Kind : uint8_t { insert, update, remove, truncate };
  Kind kind = Kind::insert;
  std::string_view table;  // public.assay_kv, as the log writes it
  std::vector<LoggedCell> old_key, cells;
};
std::optional<LoggedRow> logged_row(std::string_view line);
// The content of a message with our prefix.
std::optional<std::string_view> logged_message(std::string_view line);

class TestDecoding {
 public:
  // `tables`: the user's.
  explicit TestDecoding(std::vector<collect::RowTable> tables = {}) : tables_(std::move(tables)) {}

  // Returns a transaction if the line ends one; its server_id is the number in BEGIN, its name the
  // last message with assay's prefix. Lines about other tables are skipped.
  std::optional<LoggedTxn> line(std::string_view text, std::string_view position);
  // The content of the last message with assay's prefix. If a transaction does nothing else, the
  // message is logged without BEGIN and COMMIT.
  const std::string& message() const { return message_; }
  // A version was left out, because the log lacks a large value that did not change.
  bool lacks_versions() const { return lacks_versions_; }

 private:
  void row(const LoggedRow& row);
  void row_of(const collect::RowTable& table, const LoggedRow& row);

  std::vector<collect::RowTable> tables_;
  bool lacks_versions_ = false;
  Rows rows_;
  LoggedTxn txn_;
  std::string message_;
};

}  // namespace assay::internal::evidence
