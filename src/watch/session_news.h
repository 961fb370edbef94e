// What an event says about a session: {"event":"heartbeat","session":3,"at":9},
// {"event":"end","session":3}.
#pragma once

#include <cstdint>
#include <optional>

#include "assay/history.h"
#include "assay/result.h"
#include "history/held_value.h"

namespace assay::internal::watch {

struct SessionNews {
  HeldValue session;
  bool ends = false;  // whether it reports nothing more
  // The session reports nothing that began before this or, by the database's time, started before
  // this; kUnknown: not given.
  int64_t at = Interval::kUnknown;
  int64_t start_ts = Interval::kUnknown;
};

// nullopt if the event is about something else.
Result<std::optional<SessionNews>> session_news(const Event& event);

}  // namespace assay::internal::watch
