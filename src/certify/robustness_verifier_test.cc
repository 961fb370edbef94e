#include "certify/robustness_verifier.h"

#include <gtest/gtest.h>

#include <string>

#include "assay/format.h"
#include "certify/predictions.h"

namespace assay::internal::certify {
namespace {

History jsonl(const std::string& text) {
  auto read = read_history_text(text, "test", {.from = "assay"});
  if (!read.ok()) ADD_FAILURE() << read.error().to_string();
  return read.ok() ? std::move(read->history) : History();
}

std::string line(const std::string& program, const std::string& ops, const std::string& more = "") {
  static int session = 0;
  return R"({"session":)" + std::to_string(++session) + R"(,"ops":[)" + ops +
         R"(],"meta":{"program":")" + program + "\"" + more + "}}\n";
}

// At snapshot isolation: 1 and 2 conflict, and 1 changes what 0 has read; 3 reads what 0 changes.
// Nobody leads from the ones to the other.
std::string apart() {
  return line("cut", R"(["r","x",null],["w","y",1])") +
         line("other", R"(["w","x",2],["r","u",null])") + line("other", R"(["w","u",3])") +
         line("other", R"(["r","y",1])");
}
Robustness apart_claim() {
  Robustness claim;
  claim.programs = {{"cut", Isolation::snapshot, true}, {"other", Isolation::snapshot, false}};
  claim.transactions = {{{0}, {{1, Ends::any, Because::apart, {1, 2}}}}};
  return claim;
}

std::string refusal(const Robustness& claim, const std::string& history) {
  const History h = jsonl(history);
  const auto verifier = RobustnessVerifier::of(h);
  if (!verifier.ok()) return verifier.error().message;
  const Status s = verifier->verify(claim);
  return s.ok() ? "" : s.error().message;
}
template <class Change>
std::string forged(Change change) {
  Robustness claim = apart_claim();
  change(claim);
  return refusal(claim, apart());
}
#define EXPECT_SAYS(message, words) EXPECT_NE((message).find(words), std::string::npos) << (message)

TEST(Robustness, TheFileIsReadAsItIsWritten) {
  const History h = jsonl(apart());
  const std::string text = write_predictions({{}, {apart_claim(), apart_claim()}}, h);
  EXPECT_TRUE(holds_predictions(text));
  const auto read = read_predictions(text, h, "test");
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(write_predictions(*read, h), text);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    changed.replace(changed.find(from), from.size(), to);
    const auto again = read_predictions(changed, h, "test");
    return again.ok() ? "" : again.error().to_string();
  };
  EXPECT_SAYS(with("\"apart\"", "\"empty\""), "reached is only for apart");
  EXPECT_SAYS(with(",\"reached\":[1,2]", ""), "reached is only for apart");
  EXPECT_SAYS(with("snapshot-isolation", "snapshot"), "unknown word \"snapshot\"");
  EXPECT_SAYS(with("\"holds\":true", "\"holds\":1"), "expected");
  EXPECT_SAYS(with("\"txns\"", "\"txn\""), "txn");
}

TEST(Robustness, WhatHoldsIsAccepted) { EXPECT_EQ(refusal(apart_claim(), apart()), ""); }

TEST(Robustness, AComponentThatIsMerged) {
  EXPECT_SAYS(forged([](Robustness& r) {
                r.transactions[0].cuts[0].reached = {1, 2, 3};
              }),
              "is reached, and may end the gap");
}
TEST(Robustness, AComponentThatIsCutShort) {
  EXPECT_SAYS(forged([](Robustness& r) { r.transactions[0].cuts[0].reached = {1}; }),
              "is not listed as reached");
  EXPECT_SAYS(forged([](Robustness& r) { r.transactions[0].cuts[0].reached = {2}; }),
              "is not listed as reached");
  EXPECT_SAYS(forged([](Robustness& r) {
                r.transactions[0].cuts[0].reached = {1, 2, 9};
              }),
              "the history has no transaction 9");
}
TEST(Robustness, AKindThatIsChanged) {
  const auto with = [](Because because) {
    return forged([&](Robustness& r) { r.transactions[0].cuts = {{1, Ends::any, because, {}}}; });
  };
  EXPECT_SAYS(with(Because::empty), "may run when");
  EXPECT_SAYS(with(Because::nobody_closes), "may end the gap");
  EXPECT_SAYS(with(static_cast<Because>(7)), "unknown reason");
}
TEST(Robustness, ASplitThatIsLeftOut) {
  EXPECT_SAYS(forged([](Robustness& r) { r.transactions[0].cuts.clear(); }), "is missing");
  EXPECT_SAYS(forged([](Robustness& r) { r.transactions[0].cuts[0].after = 2; }), "is missing");
  EXPECT_SAYS(forged([](Robustness& r) {
                r.transactions[0].cuts.push_back({2, Ends::any, Because::empty, {}});
              }),
              "must not be cut after step 2");
  // At read committed it is cut behind each read.
  Robustness claim = apart_claim();
  claim.programs[0].isolation = Isolation::read_committed;
  claim.transactions[0].cuts = {{1, Ends::any, Because::empty, {}}};
  const std::string twice =
      line("cut", R"(["r","x",null],["r","y",null])") + line("other", R"(["w","z",1])");
  EXPECT_SAYS(refusal(claim, twice), "after step 2 is missing");
  claim.transactions[0].cuts.push_back({2, Ends::any, Because::empty, {}});
  EXPECT_EQ(refusal(claim, twice), "");
}
// At ssi both ends of the gap are asked for.
TEST(Robustness, AnEndThatIsLeftOut) {
  Robustness claim = apart_claim();
  for (auto& program : claim.programs) program.isolation = Isolation::ssi;
  claim.transactions[0].cuts = {{1, Ends::below_ssi_first, Because::empty, {}}};
  EXPECT_SAYS(refusal(claim, apart()), "is missing");
  claim.transactions[0].cuts.push_back({1, Ends::below_ssi_last, Because::nobody_closes, {}});
  EXPECT_EQ(refusal(claim, apart()), "");
  claim.programs[1].isolation = Isolation::snapshot;
  EXPECT_SAYS(refusal(claim, apart()), "may run when");
}
TEST(Robustness, ATransactionThatIsLeftOut) {
  EXPECT_SAYS(forged([](Robustness& r) { r.programs[1].holds = true; }), "is said to hold");
  EXPECT_SAYS(forged([](Robustness& r) { r.transactions.clear(); }), "is said to hold");
  EXPECT_SAYS(forged([](Robustness& r) { r.transactions[0].txns = {0, 0}; }), "appears twice");
  EXPECT_SAYS(forged([](Robustness& r) { r.transactions[0].txns = {8}; }), "no transaction 8");
  // One that did not commit would have at another isolation.
  std::string attempt = line("cut", R"(["r","z",null])");
  attempt.insert(1, R"("status":"aborted",)");
  EXPECT_SAYS(refusal(apart_claim(), apart() + attempt), "is said to hold");
}
// Whether somebody may run is decided by the locks that there are.
TEST(Robustness, ALockThatIsAdded) {
  Robustness claim = apart_claim();
  claim.transactions[0].cuts = {{1, Ends::any, Because::empty, {}}};
  EXPECT_SAYS(refusal(claim, apart()), "may run when");
  const std::string changes =
      line("cut", R"(["r","x",null],["w","x",1])") + line("other", R"(["r","x",1],["w","x",2])");
  EXPECT_EQ(refusal(claim, changes), "");
  // At read committed it has not locked x yet.
  claim.programs[0].isolation = Isolation::read_committed;
  EXPECT_SAYS(refusal(claim, changes), "may run when");
}
// FOR UPDATE keeps out whoever wants the row, FOR SHARE whoever wants to change it. A row that
// somebody inserts may not be there.
TEST(Robustness, RowsThatAreLockedToBeRead) {
  Robustness claim = apart_claim();
  claim.programs[0].isolation = claim.programs[1].isolation = Isolation::read_committed;
  claim.transactions[0].cuts = {{1, Ends::any, Because::empty, {}},
                                {2, Ends::any, Because::empty, {}}};
  const auto txn = [](const std::string& program, const std::string& lock, const std::string& ops) {
    return line(program, ops + R"(],"op_times":[1,2,3)",
                R"(,"sql":[{"sent":1,"locks":")" + lock + R"("}])");
  };
  const auto with = [&](const std::string& lock, const std::string& theirs,
                        const std::string& last = R"(["r","z",0])") {
    return refusal(claim, "{\"assay\":1,\"initial\":0}\n" +
                              txn("cut", lock, R"(["r","x",0],["r","u",0],["w","y",1])") +
                              txn("other", theirs, R"(["r","x",0],["w","u",1],)" + last));
  };
  for (const auto& [lock, theirs] :
       {std::pair("update", "update"), std::pair("update", "share"), std::pair("share", "update")})
    EXPECT_EQ(with(lock, theirs), "");
  for (const auto& [lock, theirs] :
       {std::pair("share", "share"), std::pair("update", "none"), std::pair("none", "update")})
    EXPECT_SAYS(with(lock, theirs), "may run when");
  EXPECT_SAYS(with("update", "update", R"(["insert","x",2,false])"), "may run when");
  // A snapshot is taken before the lock is waited for.
  for (auto& program : claim.programs) program.isolation = Isolation::snapshot;
  claim.transactions[0].cuts = {{1, Ends::any, Because::nobody_closes, {}}};
  EXPECT_SAYS(with("update", "update"), "after step 0 is missing");
  claim.transactions[0].cuts[0].after = 0;
  EXPECT_EQ(with("update", "update"), "");
  claim.transactions[0].cuts[0].because = Because::empty;
  EXPECT_SAYS(with("update", "update"), "may run when");
}

TEST(Robustness, AProgramThatIsWrong) {
  EXPECT_SAYS(forged([](Robustness& r) { r.programs.pop_back(); }), "\"other\" is missing");
  EXPECT_SAYS(forged([](Robustness& r) { r.programs.push_back(r.programs[1]); }), "appears twice");
  EXPECT_SAYS(forged([](Robustness& r) { r.programs.push_back({"new", {}, false}); }), "\"new\"");
  EXPECT_SAYS(forged([](Robustness& r) { r.programs[0].holds = false; }), "said to hold");
}

TEST(Robustness, WhatWasNotRecorded) {
  Robustness claim = apart_claim();
  claim.transactions[0].cuts = {{1, Ends::any, Because::empty, {}}};
  const auto with = [&](const std::string& more, const std::string& changed) {
    return refusal(claim, line("cut", R"(["r","x",null],["w","y",1])", more) +
                              line("other", "[\"w\",\"" + changed + "\",2]"));
  };
  EXPECT_EQ(with("", "t:1"), "");
  EXPECT_SAYS(with(R"(,"unrecorded":{"reads":["t"]})", "t:1"), "may run when");
  EXPECT_SAYS(with(R"(,"unrecorded":{"reads":["*"]})", "t:1"), "may run when");
  EXPECT_EQ(with(R"(,"unrecorded":{"reads":["t"]})", "u:1"), "");
  // Who is of no program counts if something of it was not recorded.
  const std::string cut = line("cut", R"(["r","x",null],["w","y",1])");
  std::string outsider = line("", R"(["w","x",2])");
  claim.programs.pop_back();
  EXPECT_EQ(refusal(claim, cut + outsider), "");
  outsider = line("", R"(["w","x",2])", R"(,"unrecorded":{"reads":["t"]})");
  EXPECT_SAYS(refusal(claim, cut + outsider), "may run when");
}

TEST(Robustness, AQueryReadsWhatMayEverSatisfyIt) {
  Robustness claim = apart_claim();
  claim.transactions[0].cuts = {{1, Ends::any, Because::empty, {}}};
  const auto with = [&](const std::string& value) {
    return refusal(claim, line("cut", R"(["pred","value > 5",[]],["w","y",1])") +
                              line("other", "[\"w\",\"x\"," + value + "]"));
  };
  EXPECT_EQ(with("4"), "");
  EXPECT_SAYS(with("6"), "may run when");
}

TEST(Robustness, OfListsNothingIsSaid) {
  EXPECT_SAYS(refusal(apart_claim(), line("cut", R"(["append","x",1])")),
              "in another order is not known");
}

}  // namespace
}  // namespace assay::internal::certify
