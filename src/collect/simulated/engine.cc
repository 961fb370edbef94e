#include "collect/simulated/engine.h"

#include <algorithm>
#include <cassert>
#include <functional>
#include <limits>
#include <string_view>
#include <utility>

#include "base/hash.h"

namespace assay::internal::collect {
namespace {

// The number of recent commits, the only ones that a scattered view may miss or that may still
// travel.
constexpr Commit kRecent = 32;
constexpr double kArrivalChance = 0.5;
constexpr uint64_t kMissOneIn = 4;
constexpr size_t kManyWrites = 16;
constexpr uint32_t kFewSessions = 6;

}  // namespace

Engine::Engine(LevelId level, Anomaly bug, uint32_t sessions, uint64_t seed)
    : Engine({&level, 1}, sessions, seed) {
  bug_ = bug;
  faulty_policy_ = weaken(policies_[0], bug);
  replicated_ = replicated_ || faulty_policy_.view == ViewKind::replicas;
}

Engine::Engine(std::span<const LevelId> levels, uint32_t sessions, uint64_t seed)
    : bug_(Anomaly::none),
      // At least two sessions at each of the first two replicas.
      replica_count_(sessions < kFewSessions ? 2 : kMaxReplicas),
      rng_(seed),
      sessions_(sessions) {
  for (const LevelId level : levels) {
    policies_.push_back(policy_of(level));
    replicated_ = replicated_ || policies_.back().view == ViewKind::replicas;
  }
}

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
  s.number.reset();
  s.options = options;
  if (policy(s).moment == Moment::begin) look(session, false);
}

// Chooses what the session's transaction sees from now on. `again`: the transaction has looked
// before.
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

// The list up to the last visible element, whichever transactions appended those before it. The bug
// stops within the newest transaction.
std::vector<Value> Engine::visible_list(const Chain& chain, uint32_t session) const {
  const auto& all = chain.versions;
  const auto last =
      std::find_if(all.rbegin(), all.rend(), [&](const Version& v) { return visible(v, session); });
  auto end = last.base();
  const bool dirty = sessions_[session].faulty && bug_ == Anomaly::intermediate_read;
  while (dirty && end - all.begin() > 1 && end[-1].commit == all.back().commit &&
         end[-2].commit == end[-1].commit)
    --end;
  std::vector<Value> list;
  for (auto v = all.begin(); v != end; ++v) list.push_back(v->value);
  return list;
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

Engine::Chain& Engine::register_of(const Value& key) {
  auto [entry, fresh] = registers_.try_emplace(key);
  if (fresh) entry.value().key = &entry.key();
  if (fresh && indexed_) index_.emplace(key, &entry.value());
  return entry.value();
}

// All elements of a list are needed as long as the list is.
Engine::Chain& Engine::list_of(const Value& key) {
  auto [entry, fresh] = lists_.try_emplace(key);
  if (fresh) entry.value().prune_at = std::numeric_limits<size_t>::max();
  return entry.value();
}

std::pair<Engine::Index::const_iterator, Engine::Index::const_iterator> Engine::within(
    const Bounds& bounds) const {
  const auto begin = bounds.low.is_null() ? index_.begin() : index_.lower_bound(bounds.low);
  const auto end = bounds.high.is_null() ? index_.end() : index_.upper_bound(bounds.high);
  const bool none =
      !bounds.low.is_null() && !bounds.high.is_null() && KeyLess()(bounds.high, bounds.low);
  return {begin, none ? begin : end};
}

void Engine::call(uint32_t session, const Request& request, Reply& reply, const Value& foreseen) {
  switch (request.kind) {
    case OpKind::read:
      reply.value = read(session, register_of(request.key), foreseen);
      return;
    case OpKind::write:
      return write(session, register_of(request.key), request.value);
    case OpKind::remove:
    case OpKind::insert:  // like compare-and-set from null
    case OpKind::cas: {
      Chain& chain = register_of(request.key);
      const Value found = read(session, chain, foreseen);
      const bool removes = request.kind == OpKind::remove;
      reply.effect = removes ? !found.is_null() : found == request.expected;
      if (reply.effect) write(session, chain, removes ? Value() : request.value);
      return;
    }
    case OpKind::append:
      return append(session, list_of(request.key), request.value);
    case OpKind::read_list:
      reply.list = read_list(session, list_of(request.key), foreseen);
      return;
    case OpKind::range:
      reply.rows = request.selects() ? select(session, request, foreseen)
                                     : read_range(session, {request.key, request.high}, foreseen);
      if (policy(sessions_[session]).check == Check::found)
        for (const auto& row : reply.rows)
          sessions_[session].reads.push_back(&register_of(row.first));
      return;
  }
}

void Engine::look_for_read(uint32_t session, bool range) {
  Session& s = sessions_[session];
  const Moment moment = policy(s).moment;
  if (!s.viewed || moment == Moment::every_read || (range && moment == Moment::every_range))
    look(session, s.viewed);
}

// Returns what the transaction itself left in a register, as it sees it; null if nothing.
const Value* Engine::own_value(Session& s, const Chain& chain) {
  const Anomaly bad = bad_read(s);
  const Write* own = find_write(s, &chain);
  if (own == nullptr || bad == Anomaly::not_my_own_write) return nullptr;
  return bad == Anomaly::not_my_last_write ? &own->first : &own->last;
}

// The value of any open transaction that wrote the register; null if none did.
const Value* Engine::uncommitted_value(const Chain& chain) {
  for (Session& s : sessions_)
    if (const Write* write = s.open ? find_write(s, &chain) : nullptr) return &write->last;
  return nullptr;
}

// Returns what others left in the register, or what the bug makes of it.
Value Engine::outside_value(uint32_t session, const Chain& chain, const Value& foreseen) {
  const Anomaly bad = bad_read(sessions_[session]);
  if (bad == Anomaly::thin_air_read) return invent();
  if (bad == Anomaly::aborted_read && !chain.aborted.is_null()) return chain.aborted;
  if (bad == Anomaly::future_read && !foreseen.is_null()) return foreseen;
  if (bad == Anomaly::g1c)
    if (const Value* dirty = uncommitted_value(chain)) return *dirty;
  return visible_value(chain, session);
}

Value Engine::read(uint32_t session, Chain& chain, const Value& foreseen) {
  Session& s = sessions_[session];
  if (const Value* own = own_value(s, chain)) return *own;
  look_for_read(session);
  if (checks_reads(s)) s.reads.push_back(&chain);
  return outside_value(session, chain, foreseen);
}

// Makes one look for all rows.
void Engine::start_range(uint32_t session, const Bounds& bounds) {
  if (!std::exchange(indexed_, true))
    for (auto at = registers_.begin(); at != registers_.end(); ++at)
      index_.emplace(at.key(), &at.value());
  look_for_read(session, true);
  Session& s = sessions_[session];
  if (policy(s).check == Check::reads) s.ranges.push_back(bounds);
}

// A bug that shows a value where there is none does so at the lower bound.
std::vector<std::pair<Value, Value>> Engine::read_range(uint32_t session, const Bounds& bounds,
                                                        const Value& foreseen) {
  start_range(session, bounds);
  Session& s = sessions_[session];
  std::vector<std::pair<Value, Value>> rows;
  const auto [begin, end] = within(bounds);
  for (auto row = begin; row != end; ++row) {
    const auto& [key, chain] = *row;
    const Value* own = own_value(s, *chain);
    Value value = own != nullptr      ? *own
                  : key == bounds.low ? outside_value(session, *chain, foreseen)
                                      : visible_value(*chain, session);
    if (!value.is_null()) rows.emplace_back(key, std::move(value));
  }
  return rows;
}

// The rows whose values satisfy the condition. In the whole table, only those that may are
// examined: all versions hold few values between two bounds. An intermediate value is in no
// version.
std::vector<std::pair<Value, Value>> Engine::select(uint32_t session, const Request& request,
                                                    const Value& foreseen) {
  std::vector<std::pair<Value, Value>> rows;
  const Bounds bounds{request.key, request.high};
  if (!bounds.whole() || bug_ == Anomaly::intermediate_read) {
    rows = read_range(session, bounds, foreseen);
  } else {
    start_range(session, bounds);
    Session& s = sessions_[session];
    for (const Chain* chain : may_hold(s, request)) {
      const Value* own = own_value(s, *chain);
      Value value = own != nullptr ? *own : visible_value(*chain, session);
      if (!value.is_null()) rows.emplace_back(*chain->key, std::move(value));
    }
  }
  std::erase_if(rows, [&request](const auto& row) {
    return key_less(row.second.view(), request.least.view()) ||
           key_less(request.most.view(), row.second.view());
  });
  return rows;
}

// The registers of which a version, or what the transaction itself wrote, may satisfy the
// condition, in the order of their keys.
std::vector<Engine::Chain*> Engine::may_hold(const Session& s, const Request& request) {
  index_values();
  std::vector<Chain*> chains;
  for (auto at = held_.lower_bound({request.least, nullptr});
       at != held_.end() && !KeyLess()(request.most, at->value); ++at)
    chains.push_back(at->chain);
  for (const Write& own : s.writes)
    if (own.chain->key != nullptr) chains.push_back(own.chain);
  std::ranges::sort(chains,
                    [](const Chain* a, const Chain* b) { return KeyLess()(*a->key, *b->key); });
  chains.erase(std::unique(chains.begin(), chains.end()), chains.end());
  return chains;
}

void Engine::index_values() {
  if (std::exchange(values_indexed_, true)) return;
  for (auto at = registers_.begin(); at != registers_.end(); ++at)
    for (const Version& version : at->second.versions) held_.insert({version.value, &at.value()});
}

std::vector<Value> Engine::read_list(uint32_t session, Chain& chain, const Value& foreseen) {
  look_for_read(session);
  Session& s = sessions_[session];
  if (checks_reads(s)) s.reads.push_back(&chain);
  const Anomaly bad = bad_read(s);
  std::vector<Value> list = visible_list(chain, session);
  if (bad == Anomaly::thin_air_read) list.push_back(invent());
  if (bad == Anomaly::aborted_read && !chain.aborted.is_null()) list.push_back(chain.aborted);
  if (bad == Anomaly::future_read && !foreseen.is_null()) list.push_back(foreseen);
  if (bad == Anomaly::not_my_own_write) return list;
  if (const Value* dirty = bad == Anomaly::g1c ? uncommitted_value(chain) : nullptr)
    list.push_back(*dirty);
  for (const Write& own : s.writes) {
    if (own.chain != &chain) continue;
    list.push_back(own.last);
    if (bad == Anomaly::not_my_last_write) break;
  }
  return list;
}

void Engine::write(uint32_t session, Chain& chain, const Value& value) {
  Session& s = sessions_[session];
  // A view is chosen at the first operation of any kind: the check at commit is made against it.
  if (!s.viewed) look(session, false);
  if (Write* own = find_write(s, &chain)) {
    own->last = value;
    ++own->count;
    return;
  }
  note_write(s, {&chain, value, value, 1, newest_});
}

void Engine::append(uint32_t session, Chain& chain, const Value& element) {
  Session& s = sessions_[session];
  if (!s.viewed) look(session, false);
  note_write(s, {&chain, element, element, 1, newest_});
}

void Engine::note_write(Session& s, Write write) {
  s.writes.push_back(std::move(write));
  if (s.writes.size() < kManyWrites) return;
  if (s.writes.size() > kManyWrites + 1) {
    s.write_index.emplace(s.writes.back().chain, s.writes.size() - 1);
    return;
  }
  for (uint32_t i = 0; i < s.writes.size(); ++i) s.write_index.emplace(s.writes[i].chain, i);
}

// Whether the newest version is one that the transaction's view does not hold.
bool Engine::changed(const Chain& chain, uint32_t session) const {
  return !chain.versions.empty() && !visible(chain.versions.back(), session);
}

bool Engine::conflicts(uint32_t session) const {
  const Session& s = sessions_[session];
  if (s.writes.empty()) return false;
  switch (policy(s).check) {
    case Check::none:
      return false;
    case Check::locks:
      return std::any_of(s.writes.begin(), s.writes.end(), [](const Write& w) {
        return !w.chain->versions.empty() && w.chain->versions.back().commit > w.since;
      });
    case Check::writes:
      return std::any_of(s.writes.begin(), s.writes.end(),
                         [&](const Write& w) { return changed(*w.chain, session); });
    case Check::reads:
    case Check::found:  // without ranges
      return std::any_of(s.reads.begin(), s.reads.end(),
                         [&](const Chain* chain) { return changed(*chain, session); }) ||
             std::any_of(s.ranges.begin(), s.ranges.end(),
                         [&](const Bounds& bounds) { return changed_within(bounds, session); });
  }
  return false;
}

bool Engine::changed_within(const Bounds& bounds, uint32_t session) const {
  const Session& s = sessions_[session];
  if (bounds.whole() && policy(s).view == ViewKind::point)
    return newest_to_registers_ > s.view.point;
  const auto [begin, end] = within(bounds);
  return std::any_of(begin, end, [&](const auto& row) { return changed(*row.second, session); });
}

std::optional<Commit> Engine::commit(uint32_t session) {
  Session& s = sessions_[session];
  if (conflicts(session)) {
    abort(session);
    return std::nullopt;
  }
  if (!s.writes.empty()) {
    install(session);
    s.number = newest_;
  }
  if (policy(s).sees_previous) s.floor = newest_;
  close(s);
  return newest_;
}

void Engine::note_times(uint32_t session, TxnRecord& record) const {
  const Session& s = sessions_[session];
  if (s.viewed) record.start_ts = static_cast<int64_t>(s.view.point);
  if (s.number) record.commit_ts = static_cast<int64_t>(*s.number);
}

void Engine::install(uint32_t session) {
  Session& s = sessions_[session];
  ++newest_;
  s.floor = newest_;
  for (Write& w : s.writes) {
    Chain& chain = *w.chain;
    if (bug_ == Anomaly::intermediate_read)
      chain.intermediate = w.count > 1 ? std::move(w.first) : Value();
    if (chain.key != nullptr) newest_to_registers_ = newest_;
    if (chain.key != nullptr && values_indexed_) held_.insert({w.last, &chain});
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
  s.ranges.clear();
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
  std::array<bool, kMaxReplicas> waiting{};  // indexed by origin: an earlier commit has not arrived
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

void Engine::replicate_all() {
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

void Engine::prune(Chain& chain) {
  const Commit oldest = oldest_wanted();
  auto& versions = chain.versions;
  const auto first_wanted = std::find_if(versions.begin(), versions.end(),
                                         [&](const Version& v) { return v.commit > oldest; });
  if (first_wanted - versions.begin() > 1)
    drop_versions(chain, static_cast<size_t>(first_wanted - versions.begin() - 1));
  chain.prune_at = std::max(kFewVersions, 2 * versions.size());
}

// Drops the first `count` versions.
void Engine::drop_versions(Chain& chain, size_t count) {
  auto& versions = chain.versions;
  const auto end = versions.begin() + static_cast<ptrdiff_t>(count);
  for (auto v = versions.begin(); values_indexed_ && v != end; ++v)
    if (std::none_of(end, versions.end(),
                     [&](const Version& kept) { return kept.value == v->value; }))
      held_.erase({v->value, &chain});
  versions.erase(versions.begin(), end);
}

}  // namespace assay::internal::collect
