// Watching as far as a horizon tells what the check of each stretch by itself tells, and nothing
// that the check of the whole does not (watch/horizon_watcher.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/check.h"
#include "assay/verify.h"
#include "base/rng.h"
#include "cases.h"
#include "history/accesses.h"
#include "history/projection.h"
#include "oracle/random_draft.h"
#include "watch/horizon_watcher.h"
#include "watched_lines.h"

namespace assay::internal::watch {
namespace {

Outcome plain(const History& h, LevelId level) {
  CheckOptions checking;
  checking.levels = {level};
  return check(h, checking).verdicts.at(0).outcome;
}

class Alarms : public WatchListener {
 public:
  explicit Alarms(LevelId level) : level_(level) {}

  void alarm(Audit&& violation, const std::string&) override {
    ++alarms;
    EXPECT_EQ(plain(violation.history, level_), Outcome::violated);
    const CertificateFile shown = certificates_of(violation);
    EXPECT_FALSE(shown.certificates.empty());
    for (const Certificate& c : shown.certificates) EXPECT_TRUE(verify(c, violation.history).ok());
  }
  void undecided(const Undecided& what) override {
    ++unknown;
    last_reason = what.about + ": " + what.reason;
  }
  int alarms = 0, unknown = 0;
  std::string last_reason;

 private:
  LevelId level_;
};

// What the horizon takes for granted.
struct Premises {
  bool differ = true;     // values, from each other and from the initial one
  TxnId deletes = kNone;  // the first that does

  // Nothing that was absent when it was decided is deleted for the first time later.
  bool deletes_late() const { return deletes != kNone && deletes > 0; }
};

Premises premises_of(const History& h) {
  Premises p;
  std::map<VersionId, TxnId> writers;
  for (TxnId t = 0; t < h.txn_count(); ++t)
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      if (!installs_version(h.op(i))) continue;
      const Install left = install_of(h, i);
      if (left.removes || h.version_value(left.version).is_null())
        p.deletes = std::min(p.deletes, t);
      if (h.version_value(left.version).is_null()) continue;
      const auto [at, first] = writers.emplace(left.version, t);
      p.differ = p.differ && !h.is_initial(left.version) && (first || at->second == t);
    }
  return p;
}

bool has_times_for(const History& h, LevelId level) {
  return level_info(level).real_time == RealTime::none || h.fully_timed();
}

// The stretch without the operations of which somebody outside it may explain what they saw, as it
// is defined.
Outcome stretch_alone(const History& h, TxnId from, size_t n, LevelId level, bool deletes) {
  std::vector<bool> keep(h.op_count());
  std::vector<bool> written(h.version_count());
  const TxnId end = std::min<TxnId>(h.txn_count(), from + static_cast<TxnId>(n));
  for (OpId i = h.first_op(from); i < h.end_op(end - 1); ++i)
    if (installs_version(h.op(i))) written[h.op(i).version] = true;
  for (OpId i = h.first_op(from); i < h.end_op(end - 1); ++i) {
    const Observation seen = observation_of(h, i);
    const bool absent =
        seen.accepts == Accepts::absent ||
        (seen.accepts == Accepts::equals && h.version_value(seen.version).is_null());
    const bool initial = absent ? !deletes && h.initial().is_null()
                                : seen.accepts == Accepts::equals && h.is_initial(seen.version);
    const bool stays = seen.accepts == Accepts::any || initial ||
                       (!absent && seen.accepts == Accepts::equals && written[seen.version]);
    keep[i] = stays;
  }
  const Result<History> part = project(h, keep);
  return part.ok() ? plain(*part, level) : Outcome::unknown;
}

History as_read(Pieces& pieces) {
  return std::move(read_history_text(pieces.text(), "test", {.from = "assay"})->history);
}

// `early`: decided now and then before a window is full.
Alarms watched(const WatchOptions& options, bool early, Pieces& pieces, Rng& rng) {
  Alarms heard(options.level);
  HorizonWatcher watcher(options, heard);
  while (const auto piece = pieces.next(1 + rng.below(3))) {
    const Status added = watcher.add(piece);
    EXPECT_TRUE(added.ok()) << added.error().to_string();
    if (!early || rng.below(3) != 0) continue;
    EXPECT_TRUE(watcher.decide_sealed().ok());
  }
  EXPECT_TRUE(watcher.finish().ok());
  EXPECT_EQ(watcher.progress().buffered, 0u);
  return heard;
}

struct ComparedStretches {
  uint64_t histories = 0, violated = 0, stretches = 0, alarmed = 0;
};

void compare_one(const History& h, const WatchOptions& options, const Alarms& heard,
                 ComparedStretches& sums, const std::string& text) {
  const LevelId level = options.level;
  const size_t n = options.horizon;
  const Premises premises = premises_of(h);
  const Outcome whole = plain(h, level);
  ++sums.histories;
  if (whole == Outcome::violated) ++sums.violated;
  if (heard.alarms > 0) ++sums.alarmed;
  // All lies in one window, which is decided at the end.
  if (2 * n > h.txn_count() && whole != Outcome::unknown) {
    EXPECT_EQ(heard.alarms > 0, whole == Outcome::violated) << text;
    EXPECT_EQ(heard.unknown, 0) << heard.last_reason << "\n" << text;
  }
  if (!premises.differ) return;
  EXPECT_EQ(heard.unknown, 0) << heard.last_reason << "\n" << text;
  if (heard.alarms > 0 && !premises.deletes_late()) {
    EXPECT_EQ(whole, Outcome::violated) << "a sound history raised an alarm\n" << text;
  }
  if (heard.alarms > 0) return;
  for (TxnId from = 0; from + n <= h.txn_count(); ++from) {
    ++sums.stretches;
    EXPECT_NE(stretch_alone(h, from, n, level, premises.deletes != kNone), Outcome::violated)
        << "missed, lines from " << from + 1 << "\n"
        << text;
  }
}

bool can_be_watched_at(const History& h, LevelId level) {
  for (OpId i = 0; i < h.op_count(); ++i)
    if (is_list_operation(h.op(i)) || is_range(h.op(i))) return false;
  return has_times_for(h, level) && h.known_orders().empty() && !h.states_sources();
}

ComparedStretches compare_stretches(const RandomShape& shape, uint64_t seed, uint64_t count) {
  Rng rng(rotated(seed));
  ComparedStretches sums;
  for (uint64_t i = 0, all = histories(count); i < all; ++i) {
    const Result<History> drawn = random_draft(rng, shape).history();
    if (!drawn.ok() || drawn->txn_count() == 0) continue;
    const std::vector<TxnId> order = as_reported(*drawn, rng, 5);
    for (const LevelInfo& level : all_levels()) {
      if (!can_watch({.level = level.id, .horizon = 1}).ok()) continue;
      if (!can_be_watched_at(*drawn, level.id)) continue;
      WatchOptions options;
      options.level = level.id;
      options.horizon = 1 + rng.below(drawn->txn_count());
      Pieces pieces(*drawn, order);
      const History h = as_read(pieces);
      const Premises premises = premises_of(h);
      const bool early = premises.differ && !premises.deletes_late();
      const Alarms heard = watched(options, early, pieces, rng);
      compare_one(h, options, heard, sums,
                  pieces.text() + std::string(level.name) + ", N " +
                      std::to_string(options.horizon) + ", seed " + std::to_string(seed));
      if (::testing::Test::HasFailure()) return sums;
    }
  }
  std::cout << sums.histories << " watched, " << sums.violated << " violated, " << sums.alarmed
            << " with alarms, " << sums.stretches << " stretches without\n";
  EXPECT_GT(sums.alarmed, sums.histories / 50);
  EXPECT_LT(sums.alarmed, sums.histories);
  return sums;
}

RandomShape shape_of(double duplicates, double rich, double timed) {
  RandomShape s = watched_shape(duplicates, rich);
  s.timed = timed;
  return s;
}

TEST(HorizonWatch, AgreesWithEachStretchAlone) { compare_stretches(shape_of(0, 0, 0.5), 41, 400); }
TEST(HorizonWatch, AgreesWithDeletesAndCompareAndSets) {
  compare_stretches(shape_of(0, 1, 0.5), 42, 600);
}
TEST(HorizonWatch, IsThePlainCheckWhereValuesRepeatAndAllIsKept) {
  compare_stretches(shape_of(1, 0.3, 0.5), 43, 300);
}

}  // namespace
}  // namespace assay::internal::watch
