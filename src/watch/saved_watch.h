// All that a watch has to keep to go on after its end, in one text: the promises about the lines,
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
  VerifiedChain* chain = nullptr;          // null: there is none
};

// Between a piece and the next one.
Result<std::string> save_watch(const WatchParts& parts);
// Into parts that are new. Not with other promises than it was saved with.
Status load_watch(std::string_view saved, const WatchParts& parts);

}  // namespace assay::internal::watch
