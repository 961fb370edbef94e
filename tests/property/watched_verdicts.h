// A history watched, what the watcher said of it, and whether its chain of certificates holds
// beside the same lines.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <variant>
#include <vector>

#include "assay/format.h"
#include "base/rng.h"
#include "certify/chain.h"
#include "certify/chain_verifier.h"
#include "watch/watch.h"
#include "watched_lines.h"

namespace assay::internal::watch {

class WatchVerdicts final : public WatchListener {
 public:
  void alarm(Audit&& violation, const std::string&) override {
    ++alarms;
    last = violation.history.txn_count() > 0 ? text(violation.history) : "";
    const Verdict* v = violation.result.find(violation.requested.at(0));
    EXPECT_TRUE(v != nullptr && v->outcome == Outcome::violated);
  }
  void undecided(const Undecided& what) override {
    ++unknown;
    if (std::getenv("ASSAY_VERBOSE") != nullptr)
      std::puts((what.about + ": " + what.reason).c_str());
  }
  void sealed(const certify::Segment& segment) override { segments.push_back(segment); }
  int alarms = 0, unknown = 0;
  std::string last;  // the history of the last alarm
  std::vector<certify::Segment> segments;

 private:
  static std::string text(const History& h) {
    std::string out;
    EXPECT_TRUE(write_history_text(h, "hist", out).ok());
    return out;
  }
};

// Of histories that were compared with the check of the whole.
struct WatchShares {
  uint64_t compared = 0, decided = 0, violated = 0;

  void add(Outcome plain, const WatchVerdicts& found) {
    ++compared;
    violated += plain == Outcome::violated;
    decided += found.alarms > 0 || found.unknown == 0;
  }
  // The share that was decided.
  double tell() const {
    const double share =
        static_cast<double>(decided) / static_cast<double>(std::max<uint64_t>(1, compared));
    std::printf("%ju histories, %ju violated, decided %g %%\n", uintmax_t{compared},
                uintmax_t{violated}, 100 * share);
    EXPECT_GT(violated, compared / 20);
    EXPECT_LT(violated, compared);
    return share;
  }
};

// A few lines at a time, and now and then what can be decided by then.
inline void watch_all(Watch& watcher, Pieces& pieces, Rng& rng) {
  while (const auto piece = pieces.next(1 + rng.below(3))) {
    const Status added = watcher.add(piece);
    EXPECT_TRUE(added.ok()) << added.error().to_string();
    if (rng.below(3) != 0) continue;
    EXPECT_TRUE(watcher.decide_sealed().ok());
  }
  EXPECT_TRUE(watcher.finish().ok());
  EXPECT_EQ(watcher.progress().buffered, 0u);
}

// Beside the same lines, cut otherwise.
inline void expect_verified(const WatchVerdicts& count, LevelId level, Pieces& pieces, Rng& rng) {
  certify::ChainReader reader;
  Result<certify::ChainVerifier> verifier = certify::ChainVerifier::of(level);
  ASSERT_TRUE(verifier.ok());
  certify::ChainWriter writer(level);
  std::string header = writer.header();
  header.pop_back();
  ASSERT_TRUE(reader.header(header).ok());
  uint64_t transactions = 0;
  while (const auto piece = pieces.next(1 + rng.below(5))) {
    transactions += piece->txn_count();
    ASSERT_TRUE(verifier->read(piece).ok());
  }
  for (const certify::Segment& segment : count.segments) {
    std::string line = writer.segment(segment);
    line.pop_back();
    const auto read = reader.next(line);
    ASSERT_TRUE(read.ok()) << read.error().to_string();
    const Status s = verifier->accept(std::get<certify::Segment>(*read));
    ASSERT_TRUE(s.ok()) << s.error().to_string() << "\n" << line;
  }
  const Status s = verifier->end({transactions});
  ASSERT_TRUE(s.ok()) << s.error().to_string();
}

}  // namespace assay::internal::watch
