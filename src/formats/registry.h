// The formats that assay knows, as one table. A format is a file that defines a `Format`, which is
// declared here, and a line in registry.cc.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/format.h"
#include "formats/input.h"
#include "formats/output.h"

namespace assay::internal::formats {

// What a history is read from: a stream, or a directory of files.
struct Source {
  std::string name;                // for messages; the path if there is one
  std::vector<std::string> files;  // names of the directory's files, sorted; empty for a stream
  std::optional<Input> input;      // the stream; nullopt for a directory
  Budget* budget = nullptr;        // for every input that a reader opens itself
  unsigned threads = 1;            // for formats that are read in parallel

  bool is_directory() const { return !input.has_value(); }
  // The first bytes of a stream; empty for a directory.
  std::string_view head() const { return input ? input->window() : std::string_view{}; }
};

using Notes = std::vector<ReadNote>;

// Counts what a format cannot hold, by kind.
class Losses {
 public:
  void add(std::string_view what, uint64_t count = 1) {
    if (count > 0) counts_[std::string(what)] += count;
  }
  std::vector<Loss> list() const;

  // Counts what formats of plain reads and writes cannot hold: stated orders and sources, times of
  // operations, events, metadata, snapshots and levels.
  void add_annotations(const History& h);
  // Counts names of transactions that do not follow from their places.
  void add_names(const History& h);
  // Counts an operation that is written as reads and writes, or left out.
  void add_translated(const Operation& op);

  // Counts operations that are written; formats that hold every operation do not call this.
  void keep(uint64_t operations) { kept_ = kept_.value_or(0) + operations; }
  bool nothing_kept() const { return kept_ == 0u; }

 private:
  std::optional<uint64_t> kept_;
  std::map<std::string, uint64_t> counts_;
};

struct Format {
  std::string_view name;  // "assay", "hist"
  std::string_view summary;
  bool appended =
      // whether it is written line by line as things happen, so that a truncated file is the
      // beginning of a history
      false;
  // Whether the source looks like this format. Looks at Source::head (kHeadBytes or all), or at
  // files.
  bool (*detect)(const Source& source);
  Result<History> (*read)(Source& source, Notes& notes);
  // One of these two is set, or neither.
  void (*write)(const History& history, Output& out, Losses& losses) = nullptr;
  Status (*write_directory)(const History& history, const std::string& path,
                            Losses& losses) = nullptr;

  bool is_directory() const { return write_directory != nullptr; }
  bool writes() const { return write != nullptr || is_directory(); }
};

// The name of History::absent_is_never_written in the native formats.
inline constexpr std::string_view kNeverWritten = "never-written";
// In the header if entries of stated orders name transactions.
inline constexpr std::string_view kNamedVersions = "named-versions";
// In the header if reads have a stated source.
inline constexpr std::string_view kSources = "sources";
// In the header if values are rows of columns.
inline constexpr std::string_view kRows = "rows";
// In the header if ranges have a condition.
inline constexpr std::string_view kPredicates = "pred", kAggregates = "agg";
inline constexpr std::string_view kUndoneParts = "undone";
inline constexpr std::string_view kInitialValues = "initial";
// The event that says how far stated orders are complete.
inline constexpr std::string_view kCompleteEvent = "complete";

// How much of a stream detection looks at.
inline constexpr size_t kHeadBytes = size_t{1} << 16;

// Each is defined in the file of its name; the format is described in docs/formats.
extern const Format kAssayJsonl, kAwdit, kCobra, kCsv, kDbcop, kDbcopJson, kDbcopText, kElleJson,
    kEtcd, kFacts, kHist, kJepsen, kJepsenLog, kJsonTrace, kPolysi, kS2, kTimekiller, kVeristrong,
    kViper, kViperEdn;
std::span<const Format* const> registry();
const Format* find_format(std::string_view name);
// "assay, hist, …", for messages.
std::string format_names();
// The first format of the table whose `detect` accepts the source.
const Format* detect(const Source& source);

}  // namespace assay::internal::formats
