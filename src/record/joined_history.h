// A joined trace with its history in memory, for tests.
#pragma once

#include <utility>

#include "assay/history.h"
#include "record/join.h"

namespace assay::internal::record {

struct JoinedHistory : Joined {
  History history;
};

inline Result<JoinedHistory> join_in_memory(formats::Input& trace,
                                            JoinListener* listener = nullptr) {
  collect::schedule::RowHistory rows;
  auto joined = join(trace, rows, listener);
  if (!joined.ok()) return joined.error();
  auto history = rows.finish();
  if (!history.ok()) return history.error();
  return JoinedHistory{std::move(*joined), std::move(*history)};
}

}  // namespace assay::internal::record
