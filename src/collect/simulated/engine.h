// A multi-version key-value store in memory whose isolation is what its policy says.
//
// Transactions with writes take effect one after another and are numbered 1, 2, 3 … (0 is the
// initial state); a key keeps the versions that some view may still want. Not thread-safe;
// transactions of different sessions overlap by interleaving calls.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "assay/anomaly.h"
#include "assay/level.h"
#include "base/rng.h"
#include "collect/simulated/policy.h"
#include "collect/value.h"

namespace assay::collect {

// The position of a transaction in the commit order.
using Commit = uint64_t;

struct ViewOptions {
  bool faulty = false;  // runs with the bug
  // How many commits behind the newest its point is; not set: as the policy draws it.
  std::optional<uint32_t> lag;
  // scattered: the one commit it does not see; not set: as the policy draws them.
  std::optional<Commit> hidden;
};

class Engine {
 public:
  // Faulty transactions run with the bug, all others at the level. Anomaly::none: no bug.
  Engine(LevelId level, Anomaly bug, uint32_t sessions, uint64_t seed);

  // One more session; its number.
  uint32_t add_session();
  // A session has at most one open transaction.
  void begin(uint32_t session, const ViewOptions& options = {});
  // `foreseen` is what the transaction is going to write to the key, for the bug that reads it.
  Value read(uint32_t session, const Value& key, const Value& foreseen = {});
  void write(uint32_t session, const Value& key, const Value& value);
  // The transaction's number (the newest one if it wrote nothing), or nothing: it conflicted and is
  // aborted.
  std::optional<Commit> commit(uint32_t session);
  void abort(uint32_t session);

  // True if the transaction looked at an old point on purpose, so that a conflict says nothing
  // about contention.
  bool lags(uint32_t session) const { return sessions_[session].lags; }
  // Lets every commit reach every replica.
  void settle();
  // While replicas are apart, no commit travels between them.
  void set_apart(bool apart) { apart_ = apart; }
  // The replica a session is connected to.
  uint32_t replica_of(uint32_t session) const { return session % replica_count_; }
  uint32_t replica_count() const { return replica_count_; }

 private:
  static constexpr uint32_t kMaxReplicas = 3;
  using Seen = std::array<Commit, kMaxReplicas>;  // per replica: its commits up to here

  struct Version {
    Commit commit = 0;
    uint32_t session = 0;
    Value value;
  };
  struct Chain {
    std::vector<Version> versions;  // in commit order
    size_t prune_at = 32;
    Value aborted;       // last value an aborted transaction wrote; kept for the bug only
    Value intermediate;  // a value overwritten within the newest version's transaction; likewise
  };
  struct Write {
    Chain* chain = nullptr;
    Value first, last;
    uint32_t count = 0;
  };
  struct View {
    Commit point = 0;
    Seen seen{};
    uint64_t salt = 0;
    std::optional<Commit> hidden;
  };
  struct Session {
    bool open = false;
    bool faulty = false;
    bool viewed = false;
    bool lags = false;
    ViewOptions options;
    View view;
    std::vector<Chain*> reads;
    std::vector<Write> writes;
    std::unordered_map<const Chain*, uint32_t> write_index;  // in use once writes are many
    Commit floor = 0;                                        // what the session saw or did
  };
  struct KeyHash {
    size_t operator()(const Value& key) const;
  };
  // A commit on its way to the other replicas.
  struct Travelling {
    Commit commit = 0;
    uint32_t origin = 0;
    Seen after{};  // applied only after these
  };

  const Policy& policy(const Session& s) const { return s.faulty ? faulty_policy_ : policy_; }
  void look(uint32_t session, bool again);
  Commit draw_point(Session& s);
  void apply_arrived(uint32_t replica);
  void apply_all(uint32_t replica);
  bool visible(const Version& version, uint32_t session) const;
  Value visible_value(const Chain& chain, uint32_t session) const;
  Write* find_write(Session& s, const Chain* chain);
  bool conflicts(uint32_t session) const;
  bool changed(const Chain& chain, uint32_t session) const;
  void install(uint32_t session);
  void ship(uint32_t session);
  void prune(Chain& chain) const;
  Commit oldest_wanted() const;
  void close(Session& s);

  Policy policy_;
  Policy faulty_policy_;
  Anomaly bug_;
  bool replicated_;
  bool apart_ = false;
  uint32_t replica_count_;
  Rng rng_;
  std::unordered_map<Value, Chain, KeyHash> chains_;
  std::vector<Session> sessions_;
  Commit newest_ = 0;
  uint64_t invented_ = 0;
  std::array<Seen, kMaxReplicas> seen_{};  // per replica
  Seen newest_from_{};                     // per replica: its newest commit
  std::deque<Travelling> travelling_;
};

}  // namespace assay::collect
