#include "levels/lattice.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/bug.h"

namespace assay::internal {
namespace {

// Whether the level is the one right below `above`, and decides it.
bool decides(LevelId level, const LevelInfo& above) {
  return follows_from_below(above) && next_weaker(above.id).front() == level;
}

// Whether a level with this rule of real time has this edge.
bool adds(RealTime rule, const Edge& edge) {
  switch (rule) {
    case RealTime::none:
      return false;
    case RealTime::into_commits:
      return edge.to_write;
    case RealTime::all_but_begins:
      return edge.from_write || edge.to_write;
    case RealTime::transactions:
      return edge.from_write && !edge.to_write;
  }
  return false;
}

// Whether some read dependency comes from a change of what a range selects, which only Adya's
// levels know.
bool rests_on_changes(const Proof& proof) {
  return std::ranges::any_of(proof.steps, [](const ProofStep& step) {
    return std::ranges::any_of(step.cycle, [](const Edge& edge) {
      return edge.kind == EdgeKind::read_dependency && edge.via != kNone;
    });
  });
}

// Whether every edge of the proof, apart from session order and real time, is one of a level with
// the same model.
bool proves_at(const LevelInfo& level, const Proof& proof) {
  const auto has = [&](const Edge& edge) {
    if (edge.kind == EdgeKind::session) return level.session_order;
    return edge.kind != EdgeKind::real_time || adds(level.real_time, edge);
  };
  return std::ranges::all_of(proof.steps, [&](const ProofStep& step) {
    return std::ranges::all_of(step.cycle, [&](const Edge& edge) {
      return has(edge) && std::ranges::all_of(edge.path, has);
    });
  });
}

// Whether nothing follows for the other level because it is one of Adya's, which require the
// version order to be known: no reason for a level of another kind shows that.
bool withheld(LevelId level, const LevelInfo& other) {
  return other.events == EventModel::adya && level_info(level).events != EventModel::adya;
}

}  // namespace

LevelId next_stronger(LevelId id) {
  for (const LevelInfo& level : all_levels())
    if (level.events == level_info(id).events && std::ranges::count(next_weaker(level.id), id) > 0)
      return level.id;
  return id;
}

Lattice::Lattice(const CheckOptions& options, bool declared) : options_(options) {
  for (const LevelId level : options.levels) wanted_[index(level)] = true;
  if (options.levels.empty()) {
    for (const LevelInfo& level : default_levels()) wanted_[index(level.id)] = true;
    wanted_[index(LevelId::mixed)] = declared;
  }
  for (const LevelInfo& level : named_levels()) known_[index(level.id)].level = level.id;
}

bool Lattice::anything_left() const {
  return std::ranges::any_of(all_levels(),
                             [this](const LevelInfo& level) { return is_open(level.id); });
}

double Lattice::progress() const {
  const auto known =
      std::ranges::count_if(known_, [](const Verdict& v) { return v.outcome != Outcome::unknown; });
  return static_cast<double>(known) / kLevelCount;
}

bool Lattice::useful(LevelId id) const {
  const LevelInfo& level = level_info(id);
  if (is_decided(id)) return false;
  if (const auto waiting = awaited_by_[index(id)]; waiting && is_open(*waiting)) return true;
  if (level.on_request()) return is_open(id);
  for (const LevelInfo& other : all_levels()) {
    if (!is_open(other.id)) continue;
    if (other.id == id || decides(id, other)) return true;
    if (!options_.speed_ups.has(SpeedUp::carry)) continue;
    // A violation of causal spares the search over prefixes, whose exhaustion would not be a proof.
    if (options_.engine == EngineId::dbcop && level.seen.repeated && implies(other.id, id))
      return true;
    // Some orders may satisfy Adya's levels, but no verdict on a level of another kind decides
    // them.
    const bool related = implies(id, other.id) || implies(other.id, id);
    const bool idle = withheld(id, other) && !may_order(id, other.id);
    if ((options_.levels.empty() || widened_) && related && !idle) return true;
    if (!other.session_order && same_model(level, other) && level.real_time == other.real_time)
      return true;
  }
  return false;
}

bool Lattice::helps_if_accepted(LevelId level) const {
  return std::ranges::any_of(all_levels(), [&](const LevelInfo& other) {
    return is_open(other.id) &&
           (implies(level, other.id) || may_order(level, other.id) || decides(level, other));
  });
}

bool Lattice::serves_request(LevelId id) const {
  const LevelInfo& level = level_info(id);
  return is_wanted(id) || std::ranges::any_of(all_levels(), [&](const LevelInfo& asked) {
           return is_open(asked.id) && !asked.session_order && level.session_order &&
                  same_model(level, asked) && level.real_time == asked.real_time;
         });
}

std::vector<LevelId> Lattice::served(LevelId level, const Certificate& reason) const {
  const LevelInfo& own = level_info(level);
  // An order of statements has several moments of a transaction, which other levels do not know.
  const bool alone = own.events == EventModel::statements && reason.outcome() == Outcome::satisfied;
  if (!options_.speed_ups.has(SpeedUp::carry) || own.events == EventModel::mixed || alone)
    return {level};
  std::vector<LevelId> levels;
  for (const LevelInfo& other : all_levels()) {
    if (follows_from_below(other) && level != other.id) continue;
    if (!is_asked(other) || withheld(level, other)) continue;
    if (reason.outcome() == Outcome::satisfied) {
      if (implies(level, other.id)) levels.push_back(other.id);
      continue;
    }
    const bool alike = same_model(other, own) && is_strong(own);
    const bool above = implies(other.id, level) &&
                       (other.events == EventModel::adya || !rests_on_changes(reason.proof));
    if (above || (alike && proves_at(other, reason.proof))) levels.push_back(other.id);
  }
  return levels;
}

bool Lattice::may_order(LevelId level, LevelId adya) const {
  const EventModel events = level_info(level).events;
  if (events == EventModel::single) return true;
  return events == EventModel::split && implies(level, adya) && open_sources_;
}

const Certificate* Lattice::ordering(LevelId adya) const {
  if (!options_.speed_ups.has(SpeedUp::carry)) return nullptr;
  for (const Certificate& c : certificates_) {
    if (c.kind != Certificate::Kind::order) continue;
    for (const LevelId level : c.levels) {
      const bool split = level_info(level).events == EventModel::split;
      if (may_order(level, adya) && c.order.split == split) return &c;
    }
  }
  return nullptr;
}

void Lattice::record(Certificate certificate) {
  const std::vector<LevelId> levels = std::exchange(certificate.levels, {});
  certificates_.push_back(std::move(certificate));
  extend(certificates_.back(), levels);
  if (certificates_.back().levels.empty()) certificates_.pop_back();
}

void Lattice::extend(const Certificate& certificate, const std::vector<LevelId>& levels) {
  const size_t at = &certificate - certificates_.data();
  for (const LevelId level : levels) {
    Verdict& v = known_[index(level)];
    if (v.outcome != Outcome::unknown) continue;
    v.outcome = certificate.outcome();
    v.certificate = static_cast<uint32_t>(at);
    certificates_[at].levels.push_back(level);
  }
}

void Lattice::set_unknown(LevelId level, Unknown why) {
  known_[index(level)].cause = why.cause;
  known_[index(level)].reason = std::move(why.detail);
}

void Lattice::give_up(LevelId level, Unknown why) {
  settled_[index(level)] = true;
  set_unknown(level, std::move(why));
}

void Lattice::move_to(CheckResult& result) {
  for (Verdict& v : known_) {
    if (v.outcome != Outcome::unknown) v.reason.clear();
    if (v.outcome == Outcome::unknown && v.reason.empty())
      set_unknown(v.level, bug("nothing decided the level"));
    if (wanted_[index(v.level)]) result.verdicts.push_back(std::move(v));
  }
  result.certificates = std::move(certificates_);
}

}  // namespace assay::internal
