#include "base/parallel.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace assay::internal {
namespace {

struct Place {
  int job = -1;
  std::string said;
};

// What came out of a stream of `jobs` jobs that is left when `last` was taken.
std::vector<std::string> stream(int jobs, unsigned threads, size_t places, int last = -1) {
  std::vector<Place> at(places);
  std::vector<std::string> taken;
  int filled = 0;
  const auto fill = [&](Place& p) {
    if (filled == jobs) return false;
    p = {filled++, ""};
    return true;
  };
  const auto work = [](Place& p) { p.said = "job " + std::to_string(p.job); };
  const auto take = [&](Place& p) {
    taken.push_back(p.said);
    return p.job != last;
  };
  OrderedStream(std::span(at), threads, fill, work, take).run();
  return taken;
}

TEST(OrderedStream, TakesResultsInTheOrderOfTheJobs) {
  std::vector<std::string> want;
  for (int job = 0; job < 1000; ++job) want.push_back("job " + std::to_string(job));
  for (const unsigned threads : {1u, 2u, 5u})
    for (const size_t places : {1u, 3u, 10u}) EXPECT_EQ(stream(1000, threads, places), want);
}

TEST(OrderedStream, EndsWhereFillOrTakeSaysSo) {
  for (const unsigned threads : {1u, 4u}) {
    EXPECT_TRUE(stream(0, threads, 4).empty());
    EXPECT_EQ(stream(1, threads, 4).size(), 1u);
    EXPECT_EQ(stream(1000, threads, 4, 17).size(), 18u);
  }
}

TEST(ShareJobs, EachIsDoneOnce) {
  std::vector<int> done(500);
  share_jobs(done.size(), 4, [&](const auto& next) {
    for (size_t i = next(); i < done.size(); i = next()) ++done[i];
  });
  EXPECT_EQ(done, std::vector<int>(500, 1));
}

}  // namespace
}  // namespace assay::internal
