// The violation of a window: finding it, showing it with as few transactions as possible, and
// choosing a transaction to leave out.
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

// The message for a window with more violations than are reported one by one.
inline constexpr std::string_view kTooMany =
    "too many transactions contradict each other to be separated";
inline constexpr size_t kMostLeftOut = 256;

// The options with which a window is checked.
CheckOptions checking(const WatchOptions& options);

// The audit of a window; nullopt unless it shows a violation, with an explanation.
std::optional<Audit> audited(History&& window, const WatchOptions& options);

// The transaction of an explanation, or of its cycle if it has one, that ended last. No member of a
// cycle is more guilty than the others; this one comes last.
uint32_t last_of(const Explanation& e, const Window& w, std::span<const Member> members);

// The violation with only the transactions of its explanation, if these show it.
Audit smallest(Audit whole, const WatchOptions& options);

}  // namespace assay::internal::watch
