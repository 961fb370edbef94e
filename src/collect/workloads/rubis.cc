// Modelled on RUBiS, an auction site: as many users as keys, with four items each. 10 % register a
// user, 15 % an item, 15 % buy, 20 % comment, 40 % browse. A written value is a unique stamp.
// Source: RUBiS as run by Cobra and Viper.
#include "collect/workloads/planned_session.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::internal::collect {
namespace {

constexpr uint64_t kItemsPerUser = 4;
constexpr uint64_t kRegions = 62;

class RubisSession : public PlannedSession {
 public:
  static constexpr OpKind kKinds[] = {OpKind::read, OpKind::write};
  static std::vector<Table> tables() {
    return {{"region", {"users"}},
            {"users", {"name", "region", "rating"}},
            {"items", {"seller", "quantity", "buyer", "bids"}},
            {"comments", {"text"}}};
  }
  static std::vector<Request> final_reads(const WorkloadOptions& options, uint64_t limit, Rng&) {
    std::vector<Request> reads;
    for (uint64_t user = 1; user <= options.keys && reads.size() + 2 <= limit; ++user) {
      reads.push_back({.kind = OpKind::read, .key = cell("users", user, "rating")});
      reads.push_back(
          {.kind = OpKind::read, .key = cell("items", user * kItemsPerUser, "quantity")});
    }
    return reads;
  }

  RubisSession(const WorkloadOptions& options, Rng random, WrittenValues values, SessionSeat)
      : PlannedSession(random, values), users_(options.distribution, options.keys) {}

 protected:
  void plan() override {
    const uint64_t user = 1 + users_.draw(rng());
    const uint64_t item = (1 + users_.draw(rng())) * kItemsPerUser - rng().below(kItemsPerUser);
    const uint64_t dice = rng().below(100);
    if (dice < 10) {  // registers a user
      update(cell("region", 1 + rng().below(kRegions), "users"));
      update(cell("users", user, "name"));
      write(cell("users", user, "region"));
    } else if (dice < 25) {  // registers an item
      read(cell("users", user, "name"));
      update(cell("items", item, "seller"));
      write(cell("items", item, "quantity"));
    } else if (dice < 40) {  // buys
      read(cell("users", user, "name"));
      update(cell("items", item, "quantity"));
      write(cell("items", item, "buyer"));
    } else if (dice < 60) {  // comments
      read(cell("items", item, "seller"));
      write(cell("comments", rng().next() >> 16, "text"));
      update(cell("users", user, "rating"));
    } else {  // browses
      for (int i = 0; i < 4; ++i) {
        const uint64_t shown = (1 + users_.draw(rng())) * kItemsPerUser;
        read(cell("items", shown, "quantity"));
        read(cell("items", shown, "seller"));
      }
    }
  }

 private:
  Ranks users_;
};

class Rubis : public SessionWorkload<RubisSession> {
 public:
  using SessionWorkload::SessionWorkload;
  std::vector<Table> tables() const override { return RubisSession::tables(); }
};

constexpr Anomaly kRubisShows[] = {
    Anomaly::aborted_read,   Anomaly::session_guarantee_violation,
    Anomaly::fractured_read, Anomaly::causality_violation,
    Anomaly::long_fork,      Anomaly::lost_update,
    Anomaly::write_skew,     Anomaly::real_time_violation,
};

Result<std::unique_ptr<Workload>> make_rubis(const WorkloadOptions& options) {
  if (options.keys == 0) return usage_error("rubis needs at least one key");
  return std::unique_ptr<Workload>(std::make_unique<Rubis>(options));
}

}  // namespace

const WorkloadInfo kRubis = {
    "rubis", "shaped as the auction site RUBiS, on SQL tables; keys is the number of users",
    kRubisShows, make_rubis};

}  // namespace assay::internal::collect
