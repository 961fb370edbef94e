// The transactions of one of Viper's logs, in either notation: JSON, or EDN as Viper's Jepsen
// logger writes it. An EDN record is turned into the equivalent JSON, keywords into strings, so one
// reader suffices. Include from sources only: simdjson.h is large.
#pragma once

#include <optional>

#include "formats/edn.h"
#include "formats/json_records.h"
#include "formats/registry.h"

namespace assay::internal::formats {

class ViperRecords {
 public:
  explicit ViperRecords(Input& input) : input_(input) {}

  // The next record, valid until the next call; false at the end.
  Result<bool> next(simdjson::dom::element& record);
  uint64_t line() const { return json_ ? json_->line() : edn_->line(); }
  // An error at the value of the current record that `path` leads to.
  Error expected(std::span<const JsonStep> path, std::string_view what) const;
  Error expected(std::initializer_list<JsonStep> path, std::string_view what) const {
    return expected(std::span(path.begin(), path.size()), what);
  }
  Error located(Error e) const { return input_.located(std::move(e)); }

 private:
  Result<bool> next_edn(simdjson::dom::element& record);
  size_t locate(std::span<const JsonStep> path) const;

  Input& input_;
  std::optional<JsonRecords> json_;
  std::optional<EdnRecords> edn_;
  DatumTree tree_;
  std::string text_;  // the EDN record in JSON
  simdjson::dom::parser parser_;
};

}  // namespace assay::internal::formats
