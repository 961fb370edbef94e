#include "formats/level_definition.h"

#include <gtest/gtest.h>

#include "history/level_words.h"

namespace assay::internal::formats {
namespace {

// The message of a text that is no level.
std::string refused(std::string_view text) {
  const auto level = parse_level_definition(text, "a.toml");
  return level.ok() ? "" : level.error().to_string();
}

TEST(LevelDefinition, IsARowOfTheTable) {
  const auto pram = parse_level_definition(
      "# a comment\n"
      "name = \"pram\"   # and another\n"
      "\n"
      "events = \"weak\"\n"
      "seen = [ \"s\", \"rs\",\"sr\" ]\n"
      "session-order = true\n"
      "repeatable = false\n",
      "pram.toml");
  ASSERT_TRUE(pram.ok()) << pram.error().to_string();
  const LevelInfo& row = **pram;
  EXPECT_EQ(row.id, LevelId::defined);
  EXPECT_EQ(row.name, "pram");
  EXPECT_EQ(row.seen, (SeenBy{.words = {"s", "rs", "sr"}}));
  EXPECT_TRUE(row.session_order);
  EXPECT_FALSE(row.repeatable);
  EXPECT_EQ(level_definition(row),
            "name = \"pram\"\nevents = \"weak\"\nsession-order = true\nseen = [\"s\", \"rs\", "
            "\"sr\"]\n");
}

TEST(LevelDefinition, AddsWhatTheRowImplies) {
  const auto both = parse_level_definition(
      "name = \"both\"\nevents = \"adya\"\nforbidden = [\"wr\", \"wrap+a\"]\n", "a.toml");
  ASSERT_TRUE(both.ok());
  EXPECT_TRUE((*both)->repeatable);
  EXPECT_TRUE((*both)->forbidden[2].one_key);
  const auto all = parse_level_definition(
      "name = \"all\"\nevents = \"adya\"\nforbidden = [\"wr\", \"wr+ap\", \"wrap+a\", \"wrap\"]\n",
      "a.toml");
  ASSERT_TRUE(all.ok());
  EXPECT_EQ((*all)->forbidden[3].any, "wrap");
  const auto split = parse_level_definition(
      "name = \"mine\"\nevents = \"split\"\nwrite-conflict = true\nreal-time = "
      "\"into-commits\"\n",
      "a.toml");
  ASSERT_TRUE(split.ok());
  EXPECT_TRUE((*split)->repeatable);
  EXPECT_EQ((*split)->real_time, RealTime::into_commits);
}

TEST(LevelDefinition, SaysWhatIsWrongAndWhere) {
  EXPECT_EQ(refused("name = \"a\"\nvents = \"weak\"\n"),
            "a.toml:2:1: unknown key 'vents'; expected name, summary, events, seen, repeated, "
            "earlier-reads, forbidden, session-order, write-conflict, real-time or repeatable");
  EXPECT_EQ(refused("name = \"a\"\nname = \"b\"\n"), "a.toml:2:1: the key 'name' appears twice");
  EXPECT_EQ(refused("name = \"causal\"\n"),
            "a.toml:1:8: expected a name of small letters, digits and hyphens that no level has");
  EXPECT_EQ(refused("name = a\n"), "a.toml:1:8: expected '\"'");
  EXPECT_EQ(refused("name = \"a\nevents\"\n"),
            "a.toml:1:10: expected the closing \" of a text without \\");
  EXPECT_EQ(refused("name = \"a\" 1\n"), "a.toml:1:12: expected the end of the line");
  EXPECT_EQ(refused("session-order = yes\n"), "a.toml:1:17: expected true or false");
  EXPECT_EQ(
      refused("seen = [\"s\", \"sss\"]\n"),
      "a.toml:1:14: expected one to four of \"s\", \"r\", \"rs\", \"sr\", \"rr\" and \"rsr\", "
      "none of them twice");
  EXPECT_EQ(refused("seen = [\"s\", \"r\", \"rs\", \"sr\", \"rr\"]\n").substr(0, 13),
            "a.toml:1:31: ");
  EXPECT_EQ(refused("forbidden = [\"wr\", \"wr\"]\n").substr(0, 13), "a.toml:1:20: ");
  EXPECT_EQ(refused("events = \"weak\"\n"), "a.toml:1:1: expected a name = \"…\"");
  for (const auto& [rest, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"", "expected events ="},
           {"events = \"weak\"", "expected seen ="},
           {"events = \"single\"\nseen = [\"r\"]", "expected seen ="},
           {"events = \"adya\"", "expected forbidden ="},
           {"events = \"split\"\nforbidden = [\"wr\"]", "expected forbidden ="},
           {"events = \"adya\"\nforbidden = [\"wr+ap\"]", "expected \"wr\" or \"wrap\""},
           {"events = \"adya\"\nforbidden = [\"wr\"]\nsession-order = true", "expected neither"},
           {"events = \"weak\"\nseen = [\"rs\"]", "expected session-order = true"},
           {"events = \"weak\"\nseen = [\"r\"]\nrepeated = true", "expected seen = [\"s\", \"r\"]"},
           {"events = \"weak\"\nseen = [\"s\", \"r\"]\nrepeated = true\nsession-order = true",
            "expected repeatable = true"},
           {"events = \"weak\"\nseen = [\"r\", \"rr\"]\nearlier-reads = true",
            "expected seen = [\"r\"]"},
           {"events = \"weak\"\nseen = [\"r\"]\nearlier-reads = true\nrepeatable = true",
            "expected no repeatable"},
           {"events = \"single\"\nwrite-conflict = true", "expected events = \"split\""},
           {"events = \"split\"\nreal-time = \"transactions\"", "expected real-time"},
           {"events = \"single\"\nreal-time = \"into-commits\"", "expected real-time"},
           {"events = \"weak\"\nseen = [\"r\"]\nreal-time = \"into-commits\"",
            "expected real-time"},
           {"events = \"split\"\nrepeatable = true", "expected repeatable only"}}) {
    const std::string message = refused(std::string("name = \"a\"\n") + rest + "\n");
    EXPECT_NE(message.find(why), message.npos) << rest << ": " << message;
  }
}

}  // namespace
}  // namespace assay::internal::formats
