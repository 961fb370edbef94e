// What the process holds in memory, as the system counts it.
#pragma once

#include <cstdint>

namespace assay {

uint64_t resident_memory_bytes();       // now; 0 where the system does not tell
uint64_t peak_resident_memory_bytes();  // since the process started

// Returns to the system what was freed and is still held for reuse.
void release_free_memory();

}  // namespace assay
