// Tells of alarms and of what stays undecided, as they come.
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
  void alarm(Audit&& violation, const std::string& left_out) override;
  void undecided(const watch::Undecided& what) override;

  uint64_t alarms() const { return alarms_; }
  // Of the first output that could not be written.
  const std::optional<Error>& failure() const { return failure_; }

 private:
  void keep(const Status& s) {
    if (!s.ok() && !failure_) failure_ = s.error();
  }
  Status alarm_as_json(const Audit& violation, const std::string& left_out,
                       const std::string& history, const std::string& certificate) const;
  Status alarm_as_text(const Audit& violation, const std::string& left_out,
                       const std::string& history) const;

  LevelId level_;
  const WatchOutput& output_;
  std::function<void(const Audit&)> on_alarm_;
  uint64_t alarms_ = 0;
  std::optional<Error> failure_;
};

}  // namespace assay::internal::cli
