// A line of progress on a terminal, rewritten in place; silent when standard error is none.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace assay::internal {

// True if standard error is a terminal that can rewrite a line.
bool terminal_on_stderr();

// How long a stage of the work will take still, if it goes on as it did since it began. A share
// that is smaller than the one before begins a new stage.
class Remaining {
 public:
  // `now` in seconds, `fraction` in 0…1, negative if unknown. None before two seconds and a
  // fiftieth of the stage went by.
  std::optional<double> seconds(double now, double fraction);

 private:
  double began_ = 0, from_ = -1,
         last_ = -1;  // of the stage: when, at which fraction, and the last one seen
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

// What `update` shows: "label  [####----]  42 %  about 40 s left  text", cut to `width` columns.
//                                          For tests.
std::string progress_text(std::string_view label, double fraction, std::optional<double> left,
                          std::string_view text, int width);

}  // namespace assay::internal
