// Reading and writing history files. One registry; formats are detected by content.
#pragma once

#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/budget.h"
#include "assay/history.h"
#include "assay/result.h"

namespace assay {

struct ReadOptions {
  std::string from;          // name of a format; empty: detect
  Budget* budget = nullptr;  // reading ends with an error of kind budget once it is exhausted
  // The initial value of every key, for formats that cannot state it.
  std::optional<ValueView> initial = {};
  // Reject two writes of the same value to a key as bad input: then the writing program is at
  // fault, not a database.
  bool unique_values = false;
  // The share of the entries of stated orders to use; see History::keep_stated_orders.
  double order_share = 1;
  unsigned threads = 0;  // for formats that are read in parallel; 0: one per core
};

// Something the reader tolerated and the user should know ("line 812 is cut off and was ignored").
struct ReadNote {
  uint64_t line = 0;
  std::string message;
};

struct ReadResult {
  History history;
  std::string format;  // the format that the file was read as
  std::vector<ReadNote> notes;
};

// The histories at `path`, each to be read by read_history: `path` itself, if it is a file, "-" or
// a directory that some format reads as one history; otherwise every history below the directory,
// by name. Hidden files and files that no format recognises are left out; `skipped` counts the
// latter.
struct HistoryPaths {
  std::vector<std::string> paths;
  uint64_t skipped = 0;
};
Result<HistoryPaths> find_histories(const std::string& path, const ReadOptions& options = {});

// One history in several files, recorded by several processes of one run: each session is in one
// file, and one initial value holds for all.
Result<ReadResult> read_together(std::span<const std::string> paths,
                                 const ReadOptions& options = {});

// `path` is a file, a directory (formats that use one), or "-" for standard input; gzip and zstd
// are decompressed.
Result<ReadResult> read_history(const std::string& path, const ReadOptions& options = {});
// The same from memory; `name` is used in messages.
Result<ReadResult> read_history_text(std::string_view text, const std::string& name,
                                     const ReadOptions& options = {});

// A kind of data that a format cannot hold, counted ("metadata of 12 transactions").
struct Loss {
  std::string what;
  uint64_t count = 0;
};

// Writes to `path`; "-" is standard output; ".gz" and ".zst" compress.
Result<std::vector<Loss>> write_history(const History& history, const std::string& path,
                                        std::string_view format);
Result<std::vector<Loss>> write_history_text(const History& history, std::string_view format,
                                             std::string& out);

struct FormatInfo {
  std::string_view name;  // "assay", "hist"
  std::string_view summary;
  bool reads = true;
  bool writes = false;
  bool directory = false;  // a history is a directory of files
};
std::span<const FormatInfo> all_formats();

}  // namespace assay
