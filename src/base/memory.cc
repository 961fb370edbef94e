#include "base/memory.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>

namespace assay::internal {

uint64_t resident_memory_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr) return 0;
  unsigned long long total = 0;
  unsigned long long resident = 0;
  const int fields = std::fscanf(file, "%llu %llu", &total, &resident);
  std::fclose(file);
  return fields == 2 ? resident * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) : 0;
}

uint64_t peak_resident_memory_bytes() {
  rusage usage{};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

namespace {

// The number after `label` in a file of the system; nullopt if there is none, or "max".
std::optional<uint64_t> number_in(const char* path, std::string_view label) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(label)) continue;
    std::istringstream rest(line.substr(label.size()));
    uint64_t number = 0;
    if (rest >> number) return number;
  }
  return std::nullopt;
}

}  // namespace

uint64_t available_memory_bytes() {
  uint64_t available = number_in("/proc/meminfo", "MemAvailable:").value_or(0) * 1024;
  const std::optional<uint64_t> most = number_in("/sys/fs/cgroup/memory.max", "");
  const std::optional<uint64_t> used = number_in("/sys/fs/cgroup/memory.current", "");
  if (most && used) available = std::min(available, *most - std::min(*most, *used));
  return available;
}

void release_free_memory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

void return_large_blocks() {
#ifdef __GLIBC__
  constexpr int kLargeBytes = 16 << 20;
  mallopt(M_MMAP_THRESHOLD, kLargeBytes);
#endif
}

}  // namespace assay::internal
