#include "base/parallel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>
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

TEST(Threads, WhatOneThrowsTheWaitingOneThrows) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    std::atomic<int> done{0};
    const auto work = [&](const auto& next) {
      for (size_t job = next(); job < 100; job = next()) {
        if (job == 50) throw std::bad_alloc();
        ++done;
      }
    };
    EXPECT_THROW(share_jobs(100, threads, work), std::bad_alloc);
    EXPECT_GE(done, 50);
    const auto count = [&] { ++done; };
    const auto fail = [] { throw std::bad_alloc(); };
    EXPECT_THROW(call_all(threads, count, fail, count), std::bad_alloc);
    EXPECT_THROW(call_all(threads, fail, count), std::bad_alloc);
    std::vector<int> places(3);
    int filled = 0, taken = 0;
    const std::span<int> at(places);
    OrderedStream stream(
        at, threads,
        [&](int& place) {
          place = filled++;
          return place < 100;
        },
        [&](int& place) {
          if (place == 50) throw std::bad_alloc();
        },
        [&](int&) {
          ++taken;
          return true;
        });
    EXPECT_THROW(stream.run(), std::bad_alloc);
    EXPECT_LE(taken, 50);
  }
}

}  // namespace
}  // namespace assay::internal
