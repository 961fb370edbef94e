// Prints alarms and undecided parts as they occur.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "assay/audit.h"
#include "assay/level.h"
#include "assay/result.h"
#include "base/json.h"
#include "watch/watcher.h"

namespace assay::internal::cli {

struct WatchOutput {
  bool json = false;
  bool fail_fast = false;
  std::string alarms;   // a folder
  std::string metrics;  // a file
};

Status print_json(const Json& line);

class Announcer : public watch::WatchListener {
 public:
  Announcer(LevelId level, const WatchOutput& output) : level_(level), output_(output) {}

  void on_alarm(std::function<void(const Audit&)> f) { on_alarm_ = std::move(f); }
  // `f` is called for a left-out transaction, after its report.
  void on_left_out(std::function<Status(const watch::Omission&)> f) { on_left_out_ = std::move(f); }
  void on_sealed(std::function<void(const certify::Segment&)> f) { on_sealed_ = std::move(f); }
  // Says that another process has reported this many alarms before.
  void count_from(uint64_t alarms) { before_ = alarms_ = alarms; }
  void alarm(Audit&& violation, const std::string& left_out) override;
  void undecided(const watch::Undecided& what) override;
  void unexplained(watch::Unexplained&& what) override;

  void left_out(const watch::Omission& one) override {
    if (on_left_out_) keep(on_left_out_(one));
  }
  void sealed(const certify::Segment& segment) override {
    if (on_sealed_) on_sealed_(segment);
  }
  bool has_enough() const override { return output_.fail_fast && alarms() > 0; }

  // The number of alarms that this process reported.
  uint64_t alarms() const { return alarms_ - before_; }
  // The error of the first output that could not be written.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  void keep(const Status& s) {
    if (!s.ok() && !failure_) failure_ = s.error();
  }
  Status alarm_as_json(const Audit& violation, const std::string& left_out,
                       const std::string& history, const std::string& certificate) const;
  Status alarm_as_text(const Audit& violation, const std::string& left_out,
                       const std::string& history) const;

  Status unexplained_as_json(const watch::Unexplained& what, const std::string& history) const;
  Status unexplained_as_text(const watch::Unexplained& what, const std::string& history) const;

  LevelId level_;
  const WatchOutput& output_;
  std::function<void(const Audit&)> on_alarm_;
  std::function<Status(const watch::Omission&)> on_left_out_;
  std::function<void(const certify::Segment&)> on_sealed_;
  uint64_t alarms_ = 0, before_ = 0;
  std::optional<Error> failure_;
};

}  // namespace assay::internal::cli
