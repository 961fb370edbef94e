// Which levels are asked for, and which verdicts are proved so far.
//
//   an order                       proves its level and every weaker one
//   a refutation                   refutes its level and every stronger one, and also a weaker one
//                                  that has less of session order or real time if the refutation
//                                  does not use what it lacks
//
// So most levels are never decided themselves, and the cheapest way to a level that is asked for
// may be one that is not. Rules (rules.h) ask here which levels to decide next, and record their
// findings here.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "assay/check.h"

namespace assay::internal {

// Of single operations: the level right below it decides it.
inline bool follows_from_below(const LevelInfo& level) { return level.single_operations; }
// The level right above one in the lattice, of the same model; itself if there is none.
LevelId next_stronger(LevelId id);
// Whether the level's model of events is one in which an order of them decides.
inline bool is_strong(const LevelInfo& level) {
  return level.events == EventModel::single || level.events == EventModel::split;
}
// The same events, session order and real time aside.
inline bool same_model(const LevelInfo& a, const LevelInfo& b) {
  return a.events == b.events && a.write_conflict == b.write_conflict;
}

class Lattice {
 public:
  // `options` must outlive it. `declared`: transactions declare levels of their own.
  Lattice(const CheckOptions& options, bool declared);

  bool is_wanted(LevelId level) const { return wanted_[index(level)]; }
  // Levels that are decided on request only do not appear without it.
  bool is_asked(const LevelInfo& level) const { return !level.on_request() || is_wanted(level.id); }
  // It is satisfied or violated, or no search will decide it.
  bool is_decided(LevelId level) const {
    return outcome(level) != Outcome::unknown || settled_[index(level)];
  }
  bool is_open(LevelId level) const { return is_wanted(level) && !is_decided(level); }
  // A level that is asked for is open.
  bool anything_left() const;
  Outcome outcome(LevelId level) const { return known_[index(level)].outcome; }
  // Of an unknown; its text is empty if nothing was said of the level.
  Unknown reason(LevelId level) const {
    return {known_[index(level)].cause, known_[index(level)].reason};
  }
  // Of 0…1, how much is known.
  double progress() const;

  // Whether its outcome is asked for, or may decide a level that is: with session order a level is
  // cheaper to accept, and a verdict of satisfied also holds without it.
  bool useful(LevelId level) const;
  // Whether its order would be one for a level that is asked for.
  bool helps_if_accepted(LevelId level) const;
  // Whether it is asked for, or is such a level with session order added. That leaves far less
  // open, and an order for it is one for both.
  bool serves_request(LevelId level) const;

  // Some reads have several possible sources.
  void open_sources() { open_sources_ = true; }
  // From here on levels are useful for those above and below them, asked for or not.
  void widen() { widened_ = true; }
  // The level is useful as long as `waiting` is open, which may follow from it.
  void await(LevelId level, LevelId waiting) { awaited_by_[index(level)] = waiting; }

  // A search used its share of the budget to the full. If the share was too small and there may be
  // more later, it was not searched.
  bool was_searched(LevelId level) const { return searched_[index(level)]; }
  void set_searched(LevelId level, bool searched) { searched_[index(level)] = searched; }

  // The levels that a reason for `level` serves too.
  std::vector<LevelId> served(LevelId level, const Certificate& reason) const;
  // Whether an order that satisfies `level` may serve a level of Adya's: if each transaction sees
  // the effects of all before it, any of Adya's levels; if it sees a snapshot, the levels that
  // follow from it.
  bool may_order(LevelId level, LevelId adya) const;
  // A certificate whose order may serve the level; null if there is none.
  const Certificate* ordering(LevelId adya) const;
  // That of a level that is decided.
  const Certificate& certificate(LevelId level) const {
    return certificates_[known_[index(level)].certificate];
  }

  // Of those of its levels that are not decided.
  void record(Certificate certificate);
  // A certificate of this lattice serves these levels too.
  void extend(const Certificate& certificate, const std::vector<LevelId>& levels);
  void set_unknown(LevelId level, Unknown why);
  // It stays unknown, whatever is searched.
  void give_up(LevelId level, Unknown why);

  // Moves the levels asked for; the lattice is empty afterwards.
  void move_to(CheckResult& result);

 private:
  static size_t index(LevelId level) { return static_cast<size_t>(level); }

  const CheckOptions& options_;
  bool open_sources_ = false;
  bool widened_ = false;
  std::array<bool, kLevelCount> wanted_{};
  std::array<std::optional<LevelId>, kLevelCount> awaited_by_{};
  std::array<bool, kLevelCount> searched_{};
  std::array<bool, kLevelCount> settled_{};
  std::array<Verdict, kLevelCount> known_{};
  std::vector<Certificate> certificates_;
};

}  // namespace assay::internal
