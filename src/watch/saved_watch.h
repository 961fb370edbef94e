// All that a watch needs to continue after it has ended, as one text: the promises about the lines,
// the reader, the watcher and the chain. It includes the lines that were read and are not yet
// forgotten, so nothing before the place where reading stopped is read again.
#pragma once

#include <string>
#include <string_view>

#include "assay/result.h"
#include "formats/assay_jsonl_chunks.h"
#include "watch/verified_chain.h"
#include "watch/watcher.h"

namespace assay::internal::watch {

struct WatchParts {
  const WatchOptions& options;
  Watcher& watcher;
  formats::JsonlChunks* chunks = nullptr;  // null: nothing of the lines themselves is kept
  VerifiedChain* chain = nullptr;          // null: there is no chain
};

// To be called between two pieces.
Result<std::string> save_watch(const WatchParts& parts);
// Loads into new parts. Fails if their promises are not those with which the watch was saved.
Status load_watch(std::string_view saved, const WatchParts& parts);

}  // namespace assay::internal::watch
