// What the process holds in memory, as the system counts it.
#pragma once

#include <cstdint>

namespace assay::internal {

uint64_t resident_memory_bytes();       // the present amount; 0 if the system does not report it
uint64_t peak_resident_memory_bytes();  // the most since the process started
// The memory that the machine, or the container, could still give to the process without taking it
// from others; 0 if the system does not report it.
uint64_t available_memory_bytes();

// Returns freed memory that is held for reuse to the system.
void release_free_memory();
// Makes large blocks go back to the system when they are freed, so the resident size is the memory
// in use.
void return_large_blocks();

// Whether a sanitizer's memory is counted, too, and freed memory is kept back: then none of these
// functions measures what the program needs.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitizerMemory = true;
#elif defined(__has_feature)
inline constexpr bool kSanitizerMemory =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitizerMemory = false;
#endif

}  // namespace assay::internal
