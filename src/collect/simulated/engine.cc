#include "collect/simulated/engine.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <string_view>
#include <utility>

#include "base/hash.h"

namespace assay::collect {
namespace {

// Recent commits, the only ones that a scattered view may miss or that may still travel.
constexpr Commit kRecent = 32;
constexpr double kArrivalChance = 0.5;
constexpr uint64_t kMissOneIn = 4;
constexpr size_t kManyWrites = 16;
constexpr uint32_t kFewSessions = 6;

}  // namespace

size_t Engine::KeyHash::operator()(const Value& key) const {
  if (key.is_integer()) return mix64(static_cast<uint64_t>(key.integer));
  return std::hash<std::string_view>{}(key.text);
}

Engine::Engine(LevelId level, Anomaly bug, uint32_t sessions, uint64_t seed)
    : policy_(policy_of(level)),
      faulty_policy_(weaken(policy_, bug)),
      bug_(bug),
      replicated_(policy_.view == ViewKind::replicas || faulty_policy_.view == ViewKind::replicas),
      // Two sessions at least at each of the first two replicas.
      replica_count_(sessions < kFewSessions ? 2 : kMaxReplicas),
      rng_(seed),
      sessions_(sessions) {}

uint32_t Engine::add_session() {
  sessions_.emplace_back();
  return static_cast<uint32_t>(sessions_.size() - 1);
}

void Engine::begin(uint32_t session, const ViewOptions& options) {
  Session& s = sessions_[session];
  assert(!s.open);
  s.open = true;
  s.faulty = options.faulty;
  s.viewed = false;
  s.lags = false;
  s.options = options;
  if (policy(s).moment == Moment::begin) look(session, false);
}

// Chooses what the session's transaction sees from now on. `again`: it has looked before.
void Engine::look(uint32_t session, bool again) {
  Session& s = sessions_[session];
  const Policy& p = policy(s);
  s.viewed = true;
  switch (p.view) {
    case ViewKind::point: {
      const Commit point = draw_point(s);
      if (!again)
        s.view.point = point;
      else if (!p.backwards)
        s.view.point = std::max(s.view.point, point);
      else if (!std::exchange(s.lags, true))
        s.view.point -= std::min<Commit>(s.view.point, s.options.lag.value_or(1));
      if (replicated_) apply_all(replica_of(session));
      break;
    }
    case ViewKind::replicas:
      apply_arrived(replica_of(session));
      s.view.seen = seen_[replica_of(session)];
      s.view.point = newest_;
      break;
    case ViewKind::scattered:
      s.view.point = newest_;
      s.view.salt = rng_.next();
      s.view.hidden = s.options.hidden;
      break;
  }
  s.floor = std::max(s.floor, s.view.point);
}

Commit Engine::draw_point(Session& s) {
  const Policy& p = policy(s);
  uint64_t lag = 0;
  if (s.options.lag && !p.backwards) {
    lag = *s.options.lag;
  } else if (!s.options.lag && p.lag_share > 0 && rng_.chance(p.lag_share)) {
    lag = 1 + rng_.below(p.max_lag);
  }
  if (lag > 0) s.lags = true;
  const Commit point = newest_ - std::min<Commit>(lag, newest_);
  return p.sees_session ? std::max(point, s.floor) : point;
}

bool Engine::visible(const Version& version, uint32_t session) const {
  const Session& s = sessions_[session];
  switch (policy(s).view) {
    case ViewKind::point:
      return version.commit <= s.view.point;
    case ViewKind::replicas:
      return version.commit <= s.view.seen[replica_of(version.session)];
    case ViewKind::scattered:
      if (version.commit > s.view.point) return false;
      if (version.session == session) return true;
      if (s.view.hidden) return version.commit != *s.view.hidden;
      return version.commit + kRecent <= s.view.point ||
             mix64(s.view.salt ^ version.commit) % kMissOneIn != 0;
  }
  return false;
}

Value Engine::visible_value(const Chain& chain, uint32_t session) const {
  for (auto v = chain.versions.rbegin(); v != chain.versions.rend(); ++v) {
    if (!visible(*v, session)) continue;
    const bool dirty = sessions_[session].faulty && bug_ == Anomaly::intermediate_read &&
                       v == chain.versions.rbegin() && !chain.intermediate.is_null();
    return dirty ? chain.intermediate : v->value;
  }
  return {};
}

Engine::Write* Engine::find_write(Session& s, const Chain* chain) {
  if (s.writes.size() > kManyWrites) {
    const auto it = s.write_index.find(chain);
    return it == s.write_index.end() ? nullptr : &s.writes[it->second];
  }
  const auto it = std::find_if(s.writes.begin(), s.writes.end(),
                               [&](const Write& w) { return w.chain == chain; });
  return it == s.writes.end() ? nullptr : &*it;
}

Value Engine::read(uint32_t session, const Value& key, const Value& foreseen) {
  Session& s = sessions_[session];
  Chain& chain = chains_[key];
  const Anomaly bad = s.faulty ? faulty_policy_.bad_read : Anomaly::none;
  if (const Write* own = find_write(s, &chain); own && bad != Anomaly::not_my_own_write)
    return bad == Anomaly::not_my_last_write ? own->first : own->last;
  if (!s.viewed || policy(s).moment == Moment::every_read) look(session, s.viewed);
  if (bad == Anomaly::thin_air_read) return Value::of(-static_cast<int64_t>(++invented_));
  if (bad == Anomaly::aborted_read && !chain.aborted.is_null()) return chain.aborted;
  if (bad == Anomaly::future_read && !foreseen.is_null()) return foreseen;
  if (policy(s).check == Check::reads) s.reads.push_back(&chain);
  return visible_value(chain, session);
}

void Engine::write(uint32_t session, const Value& key, const Value& value) {
  Session& s = sessions_[session];
  // A view is chosen at the first operation of any kind: the check at commit is made against it.
  if (!s.viewed) look(session, false);
  Chain& chain = chains_[key];
  if (Write* own = find_write(s, &chain)) {
    own->last = value;
    ++own->count;
    return;
  }
  s.writes.push_back({&chain, value, value, 1});
  if (s.writes.size() < kManyWrites) return;
  if (s.writes.size() > kManyWrites + 1) {
    s.write_index.emplace(&chain, s.writes.size() - 1);
    return;
  }
  for (uint32_t i = 0; i < s.writes.size(); ++i) s.write_index.emplace(s.writes[i].chain, i);
}

// True if the newest version is one that the transaction's view does not hold.
bool Engine::changed(const Chain& chain, uint32_t session) const {
  return !chain.versions.empty() && !visible(chain.versions.back(), session);
}

bool Engine::conflicts(uint32_t session) const {
  const Session& s = sessions_[session];
  if (s.writes.empty()) return false;
  switch (policy(s).check) {
    case Check::none:
      return false;
    case Check::writes:
      return std::any_of(s.writes.begin(), s.writes.end(),
                         [&](const Write& w) { return changed(*w.chain, session); });
    case Check::reads:
      return std::any_of(s.reads.begin(), s.reads.end(),
                         [&](const Chain* chain) { return changed(*chain, session); });
  }
  return false;
}

std::optional<Commit> Engine::commit(uint32_t session) {
  Session& s = sessions_[session];
  if (conflicts(session)) {
    abort(session);
    return std::nullopt;
  }
  if (!s.writes.empty()) install(session);
  if (policy_.sees_previous) s.floor = newest_;
  close(s);
  return newest_;
}

void Engine::install(uint32_t session) {
  Session& s = sessions_[session];
  ++newest_;
  s.floor = newest_;
  for (Write& w : s.writes) {
    Chain& chain = *w.chain;
    if (bug_ == Anomaly::intermediate_read)
      chain.intermediate = w.count > 1 ? std::move(w.first) : Value();
    chain.versions.push_back({newest_, session, std::move(w.last)});
    if (chain.versions.size() >= chain.prune_at) prune(chain);
  }
  if (replicated_) ship(session);
}

void Engine::abort(uint32_t session) {
  Session& s = sessions_[session];
  if (bug_ == Anomaly::aborted_read)
    for (Write& w : s.writes) w.chain->aborted = std::move(w.last);
  close(s);
}

void Engine::close(Session& s) {
  s.open = false;
  s.reads.clear();
  s.writes.clear();
  s.write_index.clear();
}

// Replication. A commit is at its origin at once, and elsewhere some time after all that the origin
// had applied when it was made.

void Engine::ship(uint32_t session) {
  const uint32_t origin = replica_of(session);
  if (policy(sessions_[session]).view != ViewKind::replicas) apply_all(origin);
  travelling_.push_back({newest_, origin, seen_[origin]});
  seen_[origin][origin] = newest_;
  newest_from_[origin] = newest_;
}

void Engine::apply_arrived(uint32_t replica) {
  if (apart_) return;
  Seen& seen = seen_[replica];
  std::array<bool, kMaxReplicas> waiting{};  // per origin: an earlier commit has not arrived
  for (const Travelling& t : travelling_) {
    if (t.commit <= seen[t.origin] || waiting[t.origin]) continue;
    const bool arrived = t.commit + kRecent <= newest_ || rng_.chance(kArrivalChance);
    const bool ready = std::equal(t.after.begin(), t.after.end(), seen.begin(),
                                  [](Commit after, Commit has) { return after <= has; });
    if (arrived && ready)
      seen[t.origin] = t.commit;
    else
      waiting[t.origin] = true;
  }
  const auto everywhere = [&](const Travelling& t) {
    for (uint32_t r = 0; r < replica_count_; ++r)
      if (seen_[r][t.origin] < t.commit) return false;
    return true;
  };
  while (!travelling_.empty() && everywhere(travelling_.front())) travelling_.pop_front();
}

void Engine::apply_all(uint32_t replica) { seen_[replica] = newest_from_; }

void Engine::settle() {
  for (uint32_t r = 0; r < replica_count_; ++r) apply_all(r);
  travelling_.clear();
}

// Versions below the one that the oldest possible view would return are dropped.

Commit Engine::oldest_wanted() const {
  Commit oldest = newest_ - std::min(newest_, kRecent);
  for (const Session& s : sessions_) {
    if (s.open && s.viewed && policy(s).view != ViewKind::replicas)
      oldest = std::min(oldest, s.view.point - std::min(s.view.point, kRecent));
    if (s.open && s.viewed && policy(s).view == ViewKind::replicas)
      oldest = std::min(
          oldest, *std::min_element(s.view.seen.begin(), s.view.seen.begin() + replica_count_));
  }
  if (replicated_ && !travelling_.empty())
    oldest = std::min(oldest, travelling_.front().commit - 1);
  return oldest;
}

void Engine::prune(Chain& chain) const {
  const Commit oldest = oldest_wanted();
  auto& versions = chain.versions;
  const auto first_wanted = std::find_if(versions.begin(), versions.end(),
                                         [&](const Version& v) { return v.commit > oldest; });
  if (first_wanted - versions.begin() > 1) versions.erase(versions.begin(), first_wanted - 1);
  chain.prune_at = std::max<size_t>(32, 2 * versions.size());
}

}  // namespace assay::collect
