// Which levels are asked for, and which verdicts are proved so far.
//
//   an order                       proves its level and every weaker one
//   a refutation                   refutes its level and every stronger one, and also a weaker one
//                                  that has less of session order or real time if the refutation
//                                  does not use what it lacks
//
// So most levels are never decided themselves, and the cheapest way to decide a level that is asked
// for may be another level that is not. Rules (rules.h) ask here which levels to decide next, and
// record their findings here.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "assay/check.h"

namespace assay::internal {

// Whether the level is one of single operations: then the level right below decides it.
inline bool follows_from_below(const LevelInfo& level) { return level.single_operations; }
// The level right above this one in the lattice, of the same model; the level itself if there is
// none.
LevelId next_stronger(LevelId id);
// Whether an order of events decides the level.
inline bool is_strong(const LevelInfo& level) {
  return level.events == EventModel::single || level.events == EventModel::split;
}
// Whether both levels have the same events, apart from session order and real time.
inline bool same_model(const LevelInfo& a, const LevelInfo& b) {
  return a.events == b.events && a.write_conflict == b.write_conflict;
}

class Lattice {
 public:
  // `options` must outlive the lattice. `declared`: transactions declare levels of their own.
  Lattice(const CheckOptions& options, bool declared);

  bool is_wanted(LevelId level) const { return wanted_[index(level)]; }
  // Whether the result lists the level; levels that are decided only on request must be asked for.
  bool is_asked(const LevelInfo& level) const { return !level.on_request() || is_wanted(level.id); }
  // Whether the level is satisfied or violated, or no search will decide it.
  bool is_decided(LevelId level) const {
    return outcome(level) != Outcome::unknown || settled_[index(level)];
  }
  bool is_open(LevelId level) const { return is_wanted(level) && !is_decided(level); }
  // Whether a level that is asked for is open.
  bool anything_left() const;
  Outcome outcome(LevelId level) const { return known_[index(level)].outcome; }
  // Why the level is unknown; the text is empty if nothing was said about it.
  Unknown reason(LevelId level) const {
    return {known_[index(level)].cause, known_[index(level)].reason};
  }
  // How much is known, 0…1.
  double progress() const;

  // Whether the outcome of the level is asked for, or may decide a level that is: with session
  // order a level is cheaper to accept, and if it is satisfied, so is the level without.
  bool useful(LevelId level) const;
  // Whether an order for the level would be one for a level that is asked for.
  bool helps_if_accepted(LevelId level) const;
  // Whether the level is asked for, or is a level that is asked for with session order added.
  // Session order leaves far less open, and an order for the level with it is one for the level
  // without.
  bool serves_request(LevelId level) const;

  // Notes that some reads have several possible sources.
  void open_sources() { open_sources_ = true; }
  // Makes levels useful for those above and below them, asked for or not.
  void widen() { widened_ = true; }
  // Makes `level` useful as long as `waiting`, which may follow from it, is open.
  void await(LevelId level, LevelId waiting) { awaited_by_[index(level)] = waiting; }

  // Whether a search used its share of the budget to the full. If the share was too small and there
  // may be more later, the level counts as not searched.
  bool was_searched(LevelId level) const { return searched_[index(level)]; }
  void set_searched(LevelId level, bool searched) { searched_[index(level)] = searched; }

  // The levels that a reason for `level` also serves.
  std::vector<LevelId> served(LevelId level, const Certificate& reason) const;
  // Whether an order that satisfies `level` may serve a level of Adya's: if each transaction sees
  // the effects of all before it, any of Adya's levels; if it sees a snapshot, the levels that
  // follow from it.
  bool may_order(LevelId level, LevelId adya) const;
  // A certificate whose order may serve the level; null if there is none.
  const Certificate* ordering(LevelId adya) const;
  // The certificate of a level that is decided.
  const Certificate& certificate(LevelId level) const {
    return certificates_[known_[index(level)].certificate];
  }

  // Records the certificate for those of its levels that are not decided.
  void record(Certificate certificate);
  // Adds levels to those that a certificate of this lattice serves.
  void extend(const Certificate& certificate, const std::vector<LevelId>& levels);
  void set_unknown(LevelId level, Unknown why);
  // Makes the level stay unknown, whatever is searched.
  void give_up(LevelId level, Unknown why);

  // Moves the levels asked for into the result; the lattice is empty afterwards.
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
