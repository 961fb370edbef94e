#include "collect/workloads/fences.h"

#include <utility>
#include <vector>

namespace assay::internal::collect {
namespace {

class FencedSession : public WorkloadSession {
 public:
  FencedSession(std::unique_ptr<WorkloadSession> session, WrittenValues values, uint32_t every)
      : session_(std::move(session)), values_(values), every_(every) {}

  void start(bool retry) override {
    if (!retry) is_fence_ = begun_++ % every_ == 0;
    written_ = false;
    asked_ = false;
    if (!is_fence_) session_->start(retry);
  }

  bool next(const Reply* last, Request& request) override {
    if (!is_fence_) return session_->next(last, request);
    if (written_) return false;
    written_ = asked_;
    request.kind = asked_ ? OpKind::write : OpKind::read;
    request.key = Value::of(kFenceKey);
    request.value = asked_ ? values_.take_unique() : Value();
    asked_ = true;
    return true;
  }

  bool ignores_replies() const override { return session_->ignores_replies(); }

 private:
  std::unique_ptr<WorkloadSession> session_;
  WrittenValues values_;
  uint32_t every_;
  uint64_t begun_ = 0;  // transactions, each counted once however often it was tried
  bool is_fence_ = false;
  bool asked_ = false, written_ = false;  // whether a fence's read, and its write, have been
                                          // requested
};

class FencedWorkload : public Workload {
 public:
  FencedWorkload(std::unique_ptr<Workload> workload, uint32_t every)
      : workload_(std::move(workload)),
        every_(every),
        kinds_(workload_->kinds().begin(), workload_->kinds().end()) {
    for (const OpKind kind : {OpKind::read, OpKind::write})
      if (!workload_->uses(kind)) kinds_.push_back(kind);
  }

  std::unique_ptr<WorkloadSession> open(uint32_t session, uint32_t sessions,
                                        uint64_t seed) const override {
    return std::make_unique<FencedSession>(workload_->open(session, sessions, seed),
                                           WrittenValues(session, sessions), every_);
  }
  std::span<const OpKind> kinds() const override { return kinds_; }
  bool selects() const override { return workload_->selects(); }
  bool aggregates() const override { return workload_->aggregates(); }
  std::vector<Request> first_writes() const override { return workload_->first_writes(); }
  std::vector<Request> final_reads(uint64_t limit, Rng& rng) const override {
    return workload_->final_reads(limit, rng);
  }
  std::vector<Request> usual_reads(uint64_t limit, Rng& rng) const override {
    return workload_->usual_reads(limit, rng);
  }

 private:
  std::unique_ptr<Workload> workload_;
  uint32_t every_;
  std::vector<OpKind> kinds_;
};

}  // namespace

std::unique_ptr<Workload> with_fences(std::unique_ptr<Workload> workload, uint32_t every) {
  return std::make_unique<FencedWorkload>(std::move(workload), every);
}

}  // namespace assay::internal::collect
