#include "report/run_events.h"

#include <gtest/gtest.h>

namespace assay::internal {
namespace {

bool drawn(const char* json, int64_t at = 5) {
  Event event;
  event.at = at;
  event.json = json;
  return is_drawn(event);
}

TEST(RunEvents, WhatHappenedToTheDatabaseIsDrawn) {
  EXPECT_TRUE(drawn(R"({"event":"fault","at":5,"what":"kill"})"));
  EXPECT_TRUE(drawn(R"({"at":5,"deployed":"2.1"})"));
  EXPECT_TRUE(drawn("{"));
  EXPECT_TRUE(drawn(R"({"event":7,"at":5})"));
}

TEST(RunEvents, WhatTheRecorderNotesIsNot) {
  for (const char* name : {"connect", "log", "complete", "incomplete", "logged"})
    EXPECT_FALSE(drawn((R"({ "event": ")" + std::string(name) + R"(", "at": 5})").c_str())) << name;
}

TEST(RunEvents, WithoutATimeThereIsNoPlaceForIt) {
  EXPECT_FALSE(drawn(R"({"event":"fault"})", Interval::kUnknown));
}

}  // namespace
}  // namespace assay::internal
