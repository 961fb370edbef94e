// A line of progress on a terminal, rewritten in place; silent if standard error is not a terminal.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace assay::internal {

// Whether standard error is a terminal that can rewrite a line.
bool terminal_on_stderr();

// Estimates how long a stage of the work will still take, if it continues as it did since it began.
// A fraction that is smaller than the one before begins a new stage.
class Remaining {
 public:
  // `now` in seconds, `fraction` in 0…1, negative if unknown. nullopt until two seconds and a
  // fiftieth of the stage have passed.
  std::optional<double> seconds(double now, double fraction);

 private:
  double began_ = 0, from_ = -1,
         last_ = -1;  // of the stage: its begin, the fraction then, and the last fraction
};

class ProgressLine {
 public:
  explicit ProgressLine(std::string label, bool enabled = terminal_on_stderr());
  ~ProgressLine();  // clears the line
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `fraction` in 0…1, negative if unknown. Draws at most ten times a second, so it can be called
  // freely.
  void update(double fraction, std::string_view text);
  // Removes the line before other output.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;
  std::string label_;
  bool enabled_;
  bool drawn_ = false;
  Clock::time_point next_{};
  Remaining remaining_;
};

// Returns what `update` shows: "label [####----] 42 % about 40 s left text", cut to `width`
// columns.
//                                          For tests.
std::string progress_text(std::string_view label, double fraction, std::optional<double> left,
                          std::string_view text, int width);

}  // namespace assay::internal
