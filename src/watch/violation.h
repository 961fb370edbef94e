// The violation of a window: finding it, showing it with as few transactions as possible, and
// choosing one to leave out.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "assay/audit.h"
#include "assay/check.h"
#include "watch/member.h"
#include "watch/watch.h"
#include "watch/window.h"

namespace assay::internal::watch {

// More violations in one window than these are not reported one by one.
inline constexpr std::string_view kTooMany =
    "more transactions contradict each other than can be separated";
inline constexpr size_t kMostLeftOut = 256;

// How a window is decided.
CheckOptions checking(const WatchOptions& options);

// Nothing if the history is not shown to be violated, with an explanation.
std::optional<Audit> audited(History&& window, const WatchOptions& options);

// The transaction of an explanation that ended last, of its cycle if it has one. A cycle has no
// guilty member; this one comes last.
uint32_t last_of(const Explanation& e, const Window& w, std::span<const Member> members);

// The violation with the transactions of its explanation alone, where these show it.
Audit smallest(Audit whole, const WatchOptions& options);

}  // namespace assay::internal::watch
