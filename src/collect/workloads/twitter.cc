// Modelled on C-Twitter: as many users as keys. 20 % tweet, 40 % follow or unfollow, 10 % read a
// timeline, 10 % read a list of followed users, 20 % read a user's tweets. A user's tweets are
// numbered, so their rows have names; a written value is a unique stamp. Source: Cobra (Tan et al.,
// 2020), as run by Viper.
#include "collect/workloads/planned_session.h"
#include "collect/workloads/registry.h"
#include "collect/workloads/session_workload.h"

namespace assay::internal::collect {
namespace {

constexpr int64_t kShown = 4;  // tweets on a page

class TwitterSession : public AnsweredSession {
 public:
  static constexpr OpKind kKinds[] = {OpKind::read, OpKind::write};
  static std::vector<Table> tables() {
    return {{"users", {"tweets", "following"}}, {"tweets", {"text"}}, {"follows", {"since"}}};
  }
  static std::vector<Request> final_reads(const WorkloadOptions& options, uint64_t limit, Rng&) {
    std::vector<Request> reads;
    for (uint64_t user = 1; user <= options.keys && reads.size() < limit; ++user)
      reads.push_back({.kind = OpKind::read, .key = cell("users", user, "tweets")});
    return reads;
  }

  TwitterSession(const WorkloadOptions& options, Rng random, WrittenValues values, SessionSeat)
      : AnsweredSession(random, values), users_(options.distribution, options.keys) {}

 protected:
  void plan() override {
    user_ = 1 + users_.draw(rng());
    const uint64_t other = 1 + users_.draw(rng());
    const uint64_t dice = rng().below(100);
    tweets_ = dice < 20;
    shows_ = dice >= 60;
    if (tweets_) {
      read(cell("users", user_, "tweets"));
    } else if (dice < 60) {  // follows
      update(cell("follows", std::to_string(user_) + '.' + std::to_string(other), "since"));
      update(cell("users", user_, "following"));
    } else if (dice < 70) {  // a timeline
      for (int i = 0; i < 3; ++i) read(cell("users", 1 + users_.draw(rng()), "tweets"));
    } else if (dice < 80) {  // users that a user follows
      shows_ = false;
      read(cell("users", user_, "following"));
      read(cell("follows", std::to_string(user_) + '.' + std::to_string(other), "since"));
    } else {  // a user's tweets
      read(cell("users", user_, "tweets"));
    }
  }

  void answered(const Request& request, const Reply& reply) override {
    if (request.kind != OpKind::read || !request.key.text.ends_with(":tweets")) return;
    const int64_t count = number_of(reply.value, 0);
    const std::string user = request.key.text.substr(6, request.key.text.find(':', 6) - 6);
    if (tweets_) {
      write(cell("tweets", user + '.' + std::to_string(count), "text"));
      write(request.key, stamped(count + 1));
    }
    if (!shows_) return;
    for (int64_t i = std::max<int64_t>(0, count - kShown); i < count; ++i)
      read(cell("tweets", user + '.' + std::to_string(i), "text"));
  }

 private:
  Ranks users_;
  uint64_t user_ = 1;
  bool tweets_ = false;
  bool shows_ = false;
};

class Twitter : public SessionWorkload<TwitterSession> {
 public:
  using SessionWorkload::SessionWorkload;
  std::vector<Table> tables() const override { return TwitterSession::tables(); }
};

constexpr Anomaly kTwitterShows[] = {
    Anomaly::aborted_read,        Anomaly::session_guarantee_violation,
    Anomaly::fractured_read,      Anomaly::causality_violation,
    Anomaly::long_fork,           Anomaly::lost_update,
    Anomaly::real_time_violation,
};

Result<std::unique_ptr<Workload>> make_twitter(const WorkloadOptions& options) {
  if (options.keys == 0) return usage_error("twitter needs at least one key");
  return std::unique_ptr<Workload>(std::make_unique<Twitter>(options));
}

}  // namespace

const WorkloadInfo kTwitter = {"twitter",
                               "shaped as C-Twitter, on SQL tables; keys is the number of users",
                               kTwitterShows, make_twitter};

}  // namespace assay::internal::collect
