// Speed-ups: how a verdict is found sooner. Each has a name and can be left out; verdicts are the same without it.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace assay {

enum class SpeedUp : uint8_t {
  replay,
  stated_replay,
  stated_first,
  clock_faults,
  saturation,
  anti_dependency_rule,
  write_dependency_rule,
  begin_rule,
  combined_writes,
  early_search,
  local_search,
  update_facts,
  assumed_sessions,
  zones,
  decomposition,
  narrowing,
  late_rows,
  rows_in_search,
  carry,
};
inline constexpr size_t kSpeedUpCount = 19;

struct SpeedUpInfo {
  SpeedUp id;
  std::string_view name;  // "early-search", as --without takes it
  std::string_view summary;
};

// In the order of SpeedUp.
std::span<const SpeedUpInfo> all_speed_ups();
std::optional<SpeedUp> find_speed_up(std::string_view name);

// A set of them; at first all.
class SpeedUps {
 public:
  bool has(SpeedUp s) const { return !left_out_[static_cast<size_t>(s)]; }
  void set(SpeedUp s, bool used) { left_out_[static_cast<size_t>(s)] = !used; }
  void leave_out(SpeedUp s) { set(s, false); }

 private:
  std::bitset<kSpeedUpCount> left_out_;
};

}  // namespace assay
