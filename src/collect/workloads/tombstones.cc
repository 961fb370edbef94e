#include "collect/workloads/tombstones.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::internal::collect {
namespace {

constexpr std::string_view kPrefix = "deleted-";

// The tombstone made of the value that the workload chose to name the deletion.
Value tombstone(const Value& name) {
  return Value::of(std::string(kPrefix) + name.view().to_string());
}
bool is_tombstone(const Value& value) { return value.text.starts_with(kPrefix); }

class TombstoneSession : public WorkloadSession {
 public:
  explicit TombstoneSession(std::unique_ptr<WorkloadSession> session)
      : session_(std::move(session)) {}

  void start(bool retry) override {
    looks_ = false;
    session_->start(retry);
  }

  bool next(const Reply* last, Request& request) override {
    if (looks_) return place(*last, request);
    if (last != nullptr) told_ = without_tombstones(*last);
    return ask(last == nullptr ? nullptr : &told_, request);
  }

 private:
  // Turns the workload's next request into the one that is sent.
  bool ask(const Reply* last, Request& request) {
    if (!session_->next(last, request)) return false;
    if (request.kind == OpKind::remove) {
      request.kind = OpKind::write;
      request.value = tombstone(request.value);
    } else if (request.kind == OpKind::insert) {
      looks_ = true;
      inserted_ = std::move(request);
      request = {.kind = OpKind::read, .key = inserted_.key};
    }
    return true;
  }

  // Turns an insert into the request to send, now that `found` says whether the key is there.
  bool place(const Reply& found, Request& request) {
    looks_ = false;
    if (!found.value.is_null() && !is_tombstone(found.value)) {
      told_ = {};
      told_.effect = false;
      return ask(&told_, request);
    }
    request = std::move(inserted_);
    if (found.value.is_null()) return true;
    request.kind = OpKind::cas;
    request.expected = found.value;
    return true;
  }

  static Reply without_tombstones(Reply reply) {
    if (is_tombstone(reply.value)) reply.value = {};
    std::erase_if(reply.rows, [](const auto& row) { return is_tombstone(row.second); });
    return reply;
  }

  std::unique_ptr<WorkloadSession> session_;
  bool looks_ = false;  // whether the read before an insert is under way
  Request inserted_;    // what the workload wants to insert after it
  Reply told_;          // as the workload sees it
};

class TombstoneWorkload : public Workload {
 public:
  explicit TombstoneWorkload(std::unique_ptr<Workload> workload) : workload_(std::move(workload)) {
    for (const OpKind kind : workload_->kinds()) add_replacement(kind);
  }

  std::unique_ptr<WorkloadSession> open(uint32_t session, uint32_t sessions,
                                        uint64_t seed) const override {
    return std::make_unique<TombstoneSession>(workload_->open(session, sessions, seed));
  }
  std::span<const OpKind> kinds() const override { return kinds_; }
  std::vector<Table> tables() const override { return workload_->tables(); }
  std::vector<Request> first_writes() const override { return workload_->first_writes(); }
  bool selects() const override { return workload_->selects(); }
  std::vector<Request> final_reads(uint64_t limit, Rng& rng) const override {
    return workload_->final_reads(limit, rng);
  }
  std::vector<Request> usual_reads(uint64_t limit, Rng& rng) const override {
    return workload_->usual_reads(limit, rng);
  }

 private:
  void add_replacement(OpKind kind) {
    if (kind == OpKind::remove) return add(OpKind::write);
    if (kind == OpKind::insert) {
      add(OpKind::read);
      add(OpKind::cas);
    }
    add(kind);
  }
  void add(OpKind kind) {
    if (std::find(kinds_.begin(), kinds_.end(), kind) == kinds_.end()) kinds_.push_back(kind);
  }

  std::unique_ptr<Workload> workload_;
  std::vector<OpKind> kinds_;
};

}  // namespace

std::unique_ptr<Workload> with_tombstones(std::unique_ptr<Workload> workload) {
  return std::make_unique<TombstoneWorkload>(std::move(workload));
}

}  // namespace assay::internal::collect
