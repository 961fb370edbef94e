// A history that C and its audits hold. A call that works on the history takes it out meanwhile, so
// calls wait for each other.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "assay/assay_c.h"
#include "assay/history.h"

namespace assay::internal::c_api {

struct HeldHistory {
  std::mutex mutex;
  History history;
  std::string name;  // for messages
  std::string format;
  std::vector<std::string> notes;
};

// Takes the history out and puts it back, whatever happens in between.
class BorrowedHistory {
 public:
  BorrowedHistory(HeldHistory& held, History& to, int64_t clock_drift)
      : lock_(held.mutex), held_(held), to_(to) {
    to_ = std::move(held_.history);
    to_.set_clock_drift(clock_drift);
  }
  ~BorrowedHistory() { held_.history = std::move(to_); }
  BorrowedHistory(const BorrowedHistory&) = delete;
  BorrowedHistory& operator=(const BorrowedHistory&) = delete;

 private:
  std::lock_guard<std::mutex> lock_;
  HeldHistory& held_;
  History& to_;
};

// Makes the handle of a new history.
assay_history* hold(History history, std::string name, std::string format,
                    std::vector<std::string> notes);

}  // namespace assay::internal::c_api

struct assay_history {
  std::shared_ptr<assay::internal::c_api::HeldHistory> held;
};
