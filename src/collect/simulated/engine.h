// A multi-version key-value store in memory whose isolation is given by its policy.
//
// Transactions with writes take effect one after another and are numbered 1, 2, 3 … (0 is the
// initial state); a key keeps the versions that some view may still want. Not thread-safe;
// transactions of different sessions overlap by interleaving calls.
//
// Registers and lists are separate, as in the tables of a database. A removal writes null, which is
// how an absent key reads. A list grows in commit order across all sessions, so every view of it is
// a prefix of one list: up to the last element which the view holds.
#pragma once

#include <tsl/ordered_map.h>

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "assay/anomaly.h"
#include "assay/level.h"
#include "base/rng.h"
#include "collect/simulated/policy.h"
#include "collect/step.h"

namespace assay::internal::collect {

// The position of a transaction in the commit order.
using Commit = uint64_t;

struct ViewOptions {
  bool faulty = false;  // whether it runs with the bug
  // How many commits its point is behind the newest; nullopt: as the policy draws it.
  std::optional<uint32_t> lag;
  // For scattered views: the one commit that the session does not see; nullopt: as the policy draws
  // them.
  std::optional<Commit> hidden;
};

class Engine {
 public:
  // Faulty transactions run with the bug, all others at the level. Anomaly::none: no bug.
  Engine(LevelId level, Anomaly bug, uint32_t sessions, uint64_t seed);
  // Sessions take turns at these levels, all of which can be mixed.
  Engine(std::span<const LevelId> levels, uint32_t sessions, uint64_t seed);

  // Adds a session; returns its number.
  uint32_t add_session();
  // Begins a transaction. A session has at most one open transaction.
  void begin(uint32_t session, const ViewOptions& options = {});
  // `foreseen` is the value that the transaction is going to write to the key, for the bug that
  // reads it.
  void call(uint32_t session, const Request& request, Reply& reply, const Value& foreseen = {});
  // The transaction's number (the newest one if it wrote nothing), or nullopt: it conflicted and is
  // aborted.
  std::optional<Commit> commit(uint32_t session);
  void abort(uint32_t session);
  // Notes, of the transaction that the session has just committed, the newest commit that it saw,
  // if it looked, and its own number, if it wrote something.
  void note_times(uint32_t session, TxnRecord& record) const;
  // Whether that transaction wrote something.
  bool wrote(uint32_t session) const { return sessions_[session].number.has_value(); }

  // Whether the transaction looked at an old point on purpose: then a conflict says nothing about
  // contention.
  bool lags(uint32_t session) const { return sessions_[session].lags; }
  // Makes every commit reach every replica.
  void replicate_all();
  // While replicas are apart, no commit travels between them.
  void set_apart(bool apart) { apart_ = apart; }
  // The replica a session is connected to.
  uint32_t replica_of(uint32_t session) const { return session % replica_count_; }
  uint32_t replica_count() const { return replica_count_; }

 private:
  static constexpr uint32_t kMaxReplicas = 3;
  using Seen = std::array<Commit, kMaxReplicas>;  // indexed by replica: its commits up to here

  // Unneeded versions of a key are dropped when it has more than this many: few, as cached memory
  // is fast.
  static constexpr size_t kFewVersions = 8;

  struct Version {
    Commit commit = 0;
    uint32_t session = 0;
    Value value;
  };
  struct Chain {
    std::vector<Version> versions;  // in commit order
    size_t prune_at = kFewVersions;
    const Value* key = nullptr;  // for a register
    Value aborted;               // the last value that an aborted transaction wrote; kept only for
                                 // the bug
    // A value that was overwritten within the newest version's transaction; kept only for the bug.
    Value intermediate;
  };
  // For a register, all that the transaction writes to it; for a list, one element.
  struct Write {
    Chain* chain = nullptr;
    Value first, last;
    uint32_t count = 0;
    Commit since = 0;  // the newest commit when the transaction first wrote it
  };
  struct Bounds {
    Value low, high;  // null: open
    bool whole() const { return low.is_null() && high.is_null(); }
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
    std::optional<Commit> number;  // the number of its commit, once it has one
    ViewOptions options;
    View view;
    std::vector<Chain*> reads;
    std::vector<Bounds> ranges;
    std::vector<Write> writes;
    std::unordered_map<const Chain*, uint32_t> write_index;  // used once writes are many
    Commit floor = 0;                                        // what the session has seen or done
  };
  using Chains = tsl::ordered_map<Value, Chain, KeyHash>;  // chains do not move
  struct KeyLess {
    bool operator()(const Value& a, const Value& b) const { return key_less(a.view(), b.view()); }
  };
  using Index = std::map<Value, Chain*, KeyLess>;
  // A value that some version of a register holds.
  struct Held {
    Value value;
    Chain* chain = nullptr;
  };
  struct HeldLess {
    bool operator()(const Held& a, const Held& b) const {
      if (KeyLess()(a.value, b.value)) return true;
      return !KeyLess()(b.value, a.value) && std::less<>()(a.chain, b.chain);
    }
  };
  // A commit on its way to the other replicas.
  struct Travelling {
    Commit commit = 0;
    uint32_t origin = 0;
    Seen after{};  // applied only after these
  };

  const Policy& policy(const Session& s) const {
    if (s.faulty) return faulty_policy_;
    const auto session = static_cast<size_t>(&s - sessions_.data());
    return policies_.size() == 1 ? policies_[0] : policies_[session % policies_.size()];
  }
  void look(uint32_t session, bool again);
  Commit draw_point(Session& s);
  void apply_arrived(uint32_t replica);
  void apply_all(uint32_t replica);
  bool visible(const Version& version, uint32_t session) const;
  Value visible_value(const Chain& chain, uint32_t session) const;
  std::vector<Value> visible_list(const Chain& chain, uint32_t session) const;
  Chain& register_of(const Value& key);
  Chain& list_of(const Value& key);
  std::pair<Index::const_iterator, Index::const_iterator> within(const Bounds& bounds) const;
  void look_for_read(uint32_t session, bool range = false);
  bool checks_reads(const Session& s) const {
    return policy(s).check == Check::reads || policy(s).check == Check::found;
  }
  Anomaly bad_read(const Session& s) const {
    return s.faulty ? faulty_policy_.bad_read : Anomaly::none;
  }
  Value invent() { return Value::of(-static_cast<int64_t>(++invented_)); }
  const Value* own_value(Session& s, const Chain& chain);
  const Value* uncommitted_value(const Chain& chain);
  Value outside_value(uint32_t session, const Chain& chain, const Value& foreseen);
  Value read(uint32_t session, Chain& chain, const Value& foreseen);
  std::vector<Value> read_list(uint32_t session, Chain& chain, const Value& foreseen);
  std::vector<std::pair<Value, Value>> read_range(uint32_t session, const Bounds& bounds,
                                                  const Value& foreseen);
  std::vector<std::pair<Value, Value>> select(uint32_t session, const Request& request,
                                              const Value& foreseen);
  std::vector<Chain*> may_hold(const Session& s, const Request& request);
  void index_values();
  void drop_versions(Chain& chain, size_t count);
  void start_range(uint32_t session, const Bounds& bounds);
  void write(uint32_t session, Chain& chain, const Value& value);
  void append(uint32_t session, Chain& chain, const Value& element);
  Write* find_write(Session& s, const Chain* chain);
  void note_write(Session& s, Write write);
  bool conflicts(uint32_t session) const;
  bool changed(const Chain& chain, uint32_t session) const;
  bool changed_within(const Bounds& bounds, uint32_t session) const;
  void install(uint32_t session);
  void ship(uint32_t session);
  void prune(Chain& chain);
  Commit oldest_wanted() const;
  void close(Session& s);

  std::vector<Policy> policies_;  // for sessions, taking turns
  Policy faulty_policy_;
  Anomaly bug_;
  bool replicated_ = false;
  bool apart_ = false;
  uint32_t replica_count_;
  Rng rng_;
  Chains registers_;
  Chains lists_;
  bool indexed_ = false;           // true from the first range on
  Index index_;                    // index of the registers
  bool values_indexed_ = false;    // true from the first query of the whole table by value on
  std::set<Held, HeldLess> held_;  // by the kept versions of the registers
  Commit newest_to_registers_ = 0;
  std::vector<Session> sessions_;
  Commit newest_ = 0;
  uint64_t invented_ = 0;
  std::array<Seen, kMaxReplicas> seen_{};  // indexed by replica
  Seen newest_from_{};                     // indexed by replica: its newest commit
  std::deque<Travelling> travelling_;
};

}  // namespace assay::internal::collect
