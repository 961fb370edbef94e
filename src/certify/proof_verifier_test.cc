#include <gtest/gtest.h>

#include "certify/certificate_samples.h"

namespace assay::internal::certify {
namespace {

constexpr std::string_view kSi = "adya-si session-si generalized-si strong-session-si strong-si";
constexpr std::string_view kSerializable = "serializable session-serializable strict-serializable";

// Transactions 0 and 1 both read the initial x and overwrite it.
constexpr std::string_view kLostUpdate =
    "s1: { r(x,null) w(x,1) }\n"
    "s2: { r(x,null) w(x,2) }\n";

std::vector<ProofStep> lost_update_steps(KeyId x) {
  return {cycle({anti(1, 0, x, kNone), write_order(0, 1, x)}),
          cycle({anti(0, 1, x, kNone), write_order(1, 0, x)}), derived({}, {0, 1})};
}

TEST(ProofVerifier, lostUpdate) {
  const History h = hist(kLostUpdate);
  const KeyId x = key(h, "x");
  EXPECT_TRUE(verifies(proof(kSi, lost_update_steps(x)), h));
  EXPECT_TRUE(verifies(proof(kSerializable, lost_update_steps(x)), h));
  // Prefix allows it: there the write order enters the second at its writes.
  EXPECT_TRUE(refused(proof("prefix", lost_update_steps(x)), h, "enters transaction"));
  EXPECT_TRUE(refused(proof("causal", lost_update_steps(x)), h, "neither read-from nor session"));
}

TEST(ProofVerifier, writeSkew) {
  const History h = hist(
      "s1: { r(x,null) r(y,null) w(x,1) }\n"
      "s2: { r(x,null) r(y,null) w(y,1) }\n");
  const auto skew = {cycle({anti(0, 1, key(h, "y"), kNone), anti(1, 0, key(h, "x"), kNone)})};
  EXPECT_TRUE(verifies(proof(kSerializable, skew), h));
  EXPECT_TRUE(refused(proof("adya-si", skew), h, "enters transaction"));
  EXPECT_TRUE(refused(proof("prefix", skew), h, "enters transaction"));
}

TEST(ProofVerifier, longFork) {
  const History h = hist(
      "s1: { w(x,1) }\n"
      "s2: { w(y,1) }\n"
      "s3: { r(x,1) r(y,null) }\n"
      "s4: { r(y,1) r(x,null) }\n");
  const KeyId x = key(h, "x"), y = key(h, "y");
  const auto fork = {
      cycle({read_from(0, 2, x), anti(2, 1, y, kNone), read_from(1, 3, y), anti(3, 0, x, kNone)})};
  EXPECT_TRUE(verifies(proof("prefix adya-si serializable", fork), h));
  EXPECT_TRUE(refused(proof("causal", fork), h, "neither read-from nor session"));
}

// A cycle may leave a transaction at the statement at which it entered it, or later.
TEST(ProofVerifier, statements) {
  const History fork = hist(
      "s1: { w(x,1) }\n"
      "s2: { w(y,1) }\n"
      "s3: { r(x,1) r(y,null) }\n"
      "s4: { r(y,1) r(x,null) }\n"
      "s5: { r(x,null) r(y,1) }\n");
  const KeyId x = key(fork, "x"), y = key(fork, "y");
  EXPECT_TRUE(
      verifies(proof("statement-snapshot", {cycle({read_from(0, 2, x), anti(2, 1, y, kNone),
                                                   read_from(1, 3, y), anti(3, 0, x, kNone)})}),
               fork));
  EXPECT_TRUE(
      refused(proof("statement-snapshot", {cycle({read_from(0, 2, x), anti(2, 1, y, kNone),
                                                  read_from(1, 4, y), anti(4, 0, x, kNone)})}),
              fork, "enters transaction"));
  // Both read before either locks x.
  const History lost = hist(kLostUpdate);
  EXPECT_TRUE(refused(proof("statement-snapshot", lost_update_steps(key(lost, "x"))), lost,
                      "enters transaction"));
  // The second locks x by its first statement, and so may not come after the first.
  const History locked = hist(
      "s1: { w(x,1) r(y,null) }\n"
      "s2: { w(x,2) w(y,2) }\n"
      "order x: 2 1\n");
  EXPECT_TRUE(verifies(proof("statement-snapshot", {fact({1, 0}, 0, false),
                                                    cycle({write_order(1, 0, key(locked, "x")),
                                                           anti(0, 1, key(locked, "y"), kNone)}),
                                                    derived({}, {0, 1})}),
                       locked));
}

TEST(ProofVerifier, cyclesMustClose) {
  const History h = hist(kLostUpdate);
  const KeyId x = key(h, "x");
  EXPECT_TRUE(refused(proof("adya-si", {}), h, "empty clause"));
  EXPECT_TRUE(refused(proof("adya-si", {cycle({})}), h, "no edges"));
  EXPECT_TRUE(refused(proof("adya-si", {cycle({anti(0, 1, x, kNone)})}), h, "do not close"));
  EXPECT_TRUE(refused(proof("adya-si", {cycle({anti(0, 1, x, kNone), anti(0, 1, x, kNone)})}), h,
                      "do not close"));
  EXPECT_TRUE(refused(proof("adya-si", {cycle({anti(0, 0, x, kNone)})}), h, "to itself"));
  EXPECT_TRUE(refused(proof("adya-si", {cycle({write_order(0, 0, x)})}), h, "to itself"));
  EXPECT_TRUE(refused(proof("adya-si", {cycle({session(0, 7), session(7, 0)})}), h,
                      "an unknown transaction"));
}

TEST(ProofVerifier, theProofMustEndInTheEmptyClause) {
  const History h = hist(kLostUpdate);
  const KeyId x = key(h, "x");
  std::vector<ProofStep> steps = lost_update_steps(x);
  steps.pop_back();
  EXPECT_TRUE(refused(proof("adya-si", steps), h, "empty clause"));
  steps.push_back(derived({}, {0}));
  EXPECT_TRUE(refused(proof("adya-si", steps), h, "contradiction"));
  steps.back() = derived({}, {});
  EXPECT_TRUE(refused(proof("adya-si", steps), h, "contradiction"));
  steps.back() = derived({}, {0, 2});
  EXPECT_TRUE(refused(proof("adya-si", steps), h, "not an earlier step"));
  steps.back() = derived({}, {0, 0});
  EXPECT_TRUE(refused(proof("adya-si", steps), h, "contradiction"));
  // An empty clause in the middle does not end the proof.
  steps = lost_update_steps(x);
  steps.push_back(steps[0]);
  EXPECT_TRUE(refused(proof("adya-si", steps), h, "empty clause"));
}

TEST(ProofVerifier, stepsHaveTheirParts) {
  const History h = hist(kLostUpdate);
  std::vector<ProofStep> steps = lost_update_steps(key(h, "x"));
  steps[0].clause = {{0, 1}};
  EXPECT_TRUE(refused(proof("adya-si", steps), h, "clause or hints"));
  steps = lost_update_steps(key(h, "x"));
  steps[2].cycle = steps[0].cycle;
  EXPECT_TRUE(refused(proof("adya-si", steps), h, "has a cycle"));
  steps = lost_update_steps(key(h, "x"));
  steps[2].kind = static_cast<ProofStep::Kind>(7);
  EXPECT_TRUE(refused(proof("adya-si", steps), h, "unknown kind"));
  steps = lost_update_steps(key(h, "x"));
  steps[2].kind = ProofStep::Kind::fact;
  EXPECT_TRUE(refused(proof("adya-si", steps), h, "not one pair"));
  steps = lost_update_steps(key(h, "x"));
  steps[0].cycle[0].kind = static_cast<EdgeKind>(9);
  EXPECT_TRUE(refused(proof("adya-si", steps), h, "unknown kind"));
  steps = lost_update_steps(key(h, "x"));
  steps[0].cycle[0].path = {session(0, 1)};
  EXPECT_TRUE(refused(proof("adya-si", steps), h, "has a path"));
}

TEST(ProofVerifier, derivedClauses) {
  const History h = hist(kLostUpdate);
  std::vector<ProofStep> steps = lost_update_steps(key(h, "x"));
  steps.insert(steps.end() - 1, derived({{1, 0}}, {0}));
  EXPECT_TRUE(verifies(proof("adya-si", steps), h));
  steps[2] = derived({{0, 1}}, {0});
  EXPECT_TRUE(refused(proof("adya-si", steps), h, "contradiction"));
  steps[2] = derived({{0, 0}}, {0});
  EXPECT_TRUE(refused(proof("adya-si", steps), h, "and itself"));
  steps[2] = derived({{0, 1}, {1, 0}}, {0});
  EXPECT_TRUE(refused(proof("adya-si", steps), h, "always true"));
  // Two literals left: the hint is not a unit clause.
  const History three = hist("s1: { w(x,1) w(y,1) }\ns2: { w(x,2) w(y,2) }\ns3: { w(x,3) }\n");
  const KeyId x = key(three, "x");
  EXPECT_TRUE(refused(proof("serializable", {cycle({write_order(0, 1, x), write_order(1, 2, x),
                                                    write_order(2, 0, x)}),
                                             derived({}, {0})}),
                      three, "not a unit clause"));
}

TEST(ProofVerifier, assumptionsOfOneCycleAreNegatedTogether) {
  const History h = hist("s1: { w(x,1) }\ns2: { w(x,2) }\n");
  const KeyId x = key(h, "x");
  // Both orders at once are impossible, which says nothing about either.
  EXPECT_TRUE(refused(proof("serializable", {cycle({write_order(0, 1, x), write_order(1, 0, x)}),
                                             derived({}, {0})}),
                      h, "not a unit clause"));
  EXPECT_TRUE(refused(proof("serializable", {cycle({write_order(0, 1, x), write_order(1, 0, x)})}),
                      h, "empty clause"));
}

TEST(ProofVerifier, readFromNeedsTheOnlyWriter) {
  const std::string reads = "s3: { r(x,1) w(y,1) }\n";
  const std::string back = "s1: { r(y,1) w(x,1) }\n";
  const auto steps = [](const History& h) {
    return std::vector<ProofStep>{
        cycle({read_from(0, 1, key(h, "x")), read_from(1, 0, key(h, "y"))})};
  };
  const History good = hist(back + reads);
  EXPECT_TRUE(verifies(proof("read-committed causal adya-si serializable", steps(good)), good));
  for (const std::string other : {"s4: { w(x,1) }\n", "s4: { w(x,1) }?\n"}) {
    const History h = hist(back + reads + other);
    EXPECT_TRUE(refused(proof("serializable", steps(h)), h, "does not certainly read"));
  }
  const History initial = hist("initial 1\n" + back + reads);
  EXPECT_TRUE(refused(proof("serializable", steps(initial)), initial, "does not certainly read"));
  const History harmless = hist(back + reads + "s4: { w(x,1) }! { w(x,1) w(x,2) }\n");
  EXPECT_TRUE(verifies(proof("serializable", steps(harmless)), harmless));
  const History intermediate = hist("s1: { r(y,1) w(x,1) w(x,2) }\n" + reads);
  EXPECT_TRUE(
      refused(proof("serializable", steps(intermediate)), intermediate, "does not certainly read"));
  // A read after an own write is none of others' writes.
  const History own = hist(back + "s3: { w(x,1) r(x,1) w(y,1) }\n");
  EXPECT_TRUE(refused(proof("serializable", steps(own)), own, "does not certainly read"));
  const History wrong_key = hist(back + reads);
  EXPECT_TRUE(refused(proof("serializable", {cycle({read_from(0, 1, key(wrong_key, "y")),
                                                    read_from(1, 0, key(wrong_key, "y"))})}),
                      wrong_key, "does not certainly read"));
  EXPECT_TRUE(refused(proof("serializable", {cycle({read_from(0, 1, kNone),
                                                    read_from(1, 0, key(wrong_key, "y"))})}),
                      wrong_key, "does not certainly read"));
  EXPECT_TRUE(refused(proof("serializable", {cycle({read_from(0, 1, key(wrong_key, "x"), 0),
                                                    read_from(1, 0, key(wrong_key, "y"))})}),
                      wrong_key, "does not certainly read"));
}

TEST(ProofVerifier, edgesEndAtTransactionsThatCount) {
  const auto steps = [](const History& h) {
    return std::vector<ProofStep>{
        cycle({read_from(0, 1, key(h, "x")), read_from(1, 0, key(h, "y"))})};
  };
  const History aborted = hist("s1: { r(y,1) w(x,1) }\ns2: { r(x,1) w(y,1) }!\n");
  EXPECT_TRUE(refused(proof("serializable", steps(aborted)), aborted, "need not"));
  // Two unknowns that only know each other may both have failed.
  const History unknown = hist("s1: { r(y,1) w(x,1) }?\ns2: { r(x,1) w(y,1) }?\n");
  EXPECT_TRUE(refused(proof("serializable", steps(unknown)), unknown, "need not"));
  const History read = hist("s1: { r(y,1) w(x,1) }?\ns2: { r(x,1) w(y,1) }?\ns3: { r(y,1) }\n");
  EXPECT_TRUE(verifies(proof("serializable", steps(read)), read));
  const History perhaps = hist("s1: { r(y,1) w(x,1) }?\ns2: { r(x,1) w(y,1) }?\ns3: { r(y,1) }?\n");
  EXPECT_TRUE(refused(proof("serializable", steps(perhaps)), perhaps, "need not"));
}

TEST(ProofVerifier, sessionEdges) {
  const History h = hist(
      "s1: { w(x,1) } { r(x,null) }\n"
      "s2: { w(y,1) }\n");
  const KeyId x = key(h, "x");
  const auto steps = {cycle({session(0, 1), anti(1, 0, x, kNone)})};
  EXPECT_TRUE(verifies(
      proof(
          "read-atomic causal prefix session-si strong-si session-serializable strict-serializable",
          steps),
      h));
  for (const char* level : {"adya-si", "generalized-si", "serializable"})
    EXPECT_TRUE(refused(proof(level, steps), h, "no session order"));
  EXPECT_TRUE(refused(proof("read-committed", steps), h, "before it read"));
  EXPECT_TRUE(
      refused(proof("session-si", {cycle({session(1, 0), session(0, 1)})}), h, "not earlier"));
  EXPECT_TRUE(
      refused(proof("session-si", {cycle({session(2, 1), session(1, 2)})}), h, "not earlier"));
  const History unknown = hist(
      "s1: { w(x,1) }? { r(x,null) }\n"
      "s2: { r(x,1) }\n");
  EXPECT_TRUE(refused(proof("session-si", steps), unknown, "did not wait"));
  // Into an unknown one the session order holds.
  const History into = hist(
      "s1: { w(x,1) } { r(x,null) w(y,1) }?\n"
      "s2: { r(y,1) }\n");
  EXPECT_TRUE(verifies(proof("session-si causal", steps), into));
}

TEST(ProofVerifier, realTimeEdges) {
  const History h = hist(
      "s1: @[0,10] { w(x,1) }\n"
      "s2: @[11,20] { r(x,null) }\n");
  const KeyId x = key(h, "x");
  const auto stale = [&](bool from_write, bool to_write) {
    return std::vector<ProofStep>{
        cycle({real_time(0, from_write, 1, to_write), anti(1, 0, x, kNone)})};
  };
  EXPECT_TRUE(verifies(proof("strong-si strict-serializable linearizable", stale(true, false)), h));
  EXPECT_TRUE(refused(proof("strict-serializable", stale(true, true)), h, "does not order"));
  EXPECT_TRUE(refused(proof("strict-serializable", stale(false, true)), h, "does not order"));
  EXPECT_TRUE(refused(proof("strong-si", stale(false, false)), h, "does not order"));
  EXPECT_TRUE(refused(proof("strong-si", stale(true, true)), h, "enters transaction"));
  EXPECT_TRUE(refused(proof("generalized-si", stale(true, false)), h, "does not order"));
  for (const char* level : {"session-serializable", "session-si", "prefix", "causal"})
    EXPECT_FALSE(verify(proof(level, stale(true, false)), h).ok());
  const History touching = hist(
      "s1: @[0,10] { w(x,1) }\n"
      "s2: @[10,20] { r(x,null) }\n");
  EXPECT_TRUE(refused(proof("strict-serializable", stale(true, false)), touching, "by the clocks"));
  const History overlap = hist(
      "s1: @[0,8~12] { w(x,1) }\n"
      "s2: @[11,20] { r(x,null) }\n");
  EXPECT_TRUE(refused(proof("strict-serializable", stale(true, false)), overlap, "by the clocks"));
  const History untimed = hist("s1: { w(x,1) }\ns2: { r(x,null) }\n");
  EXPECT_TRUE(refused(proof("strict-serializable", stale(true, false)), untimed, "by the clocks"));
  const History unknown = hist(
      "s1: @[0,10] { w(x,1) }?\n"
      "s2: @[11,20] { r(x,null) }\n"
      "s3: @[30,40] { r(x,1) }\n");
  EXPECT_TRUE(refused(proof("strict-serializable", stale(true, false)), unknown, "by the clocks"));
}

TEST(ProofVerifier, commitsInTimeOrder) {
  // The second saw the first; by the clocks it committed before the first began.
  const History h = hist(
      "s1: @[10,20] { w(x,1) }\n"
      "s2: @[0,5] { r(x,1) }\n");
  const KeyId x = key(h, "x");
  const auto steps = {cycle({read_from(0, 1, x), real_time(1, false, 0, true)})};
  EXPECT_TRUE(verifies(proof("generalized-si strong-session-si strong-si", steps), h));
  EXPECT_TRUE(verifies(
      proof("strict-serializable", {cycle({read_from(0, 1, x), real_time(1, true, 0, false)})}),
      h));
  EXPECT_TRUE(refused(proof("session-si", steps), h, "does not order"));
}

TEST(ProofVerifier, writeOrderNeedsTwoWriters) {
  const History h =
      hist("s1: { w(x,1) w(y,1) }\ns2: { r(x,1) w(y,2) w(z,1) }!\ns3: { r(x,1) w(y,3) }\n");
  const KeyId x = key(h, "x"), y = key(h, "y");
  const auto with = [&](Edge e) {
    return proof("serializable", {cycle({e, write_order(2, 0, y)})});
  };
  EXPECT_TRUE(refused(with(write_order(0, 2, x)), h, "does not write"));
  EXPECT_TRUE(refused(with(write_order(0, 2, kNone)), h, "does not write"));
  EXPECT_TRUE(refused(with(write_order(0, 1, y)), h, "need not"));
  EXPECT_TRUE(refused(proof("serializable", {cycle({write_order(2, 0, x), read_from(0, 2, x)})}), h,
                      "does not write"));
  EXPECT_TRUE(refused(proof("serializable", {cycle({write_order(0, 1, y), write_order(1, 0, y)})}),
                      h, "need not"));
  for (const char* level : {"causal", "read-atomic", "read-committed"})
    EXPECT_TRUE(refused(proof(level, {cycle({read_from(0, 2, x), write_order(2, 0, y)})}), h,
                        "empty clause"));
}

TEST(ProofVerifier, antiEdges) {
  const History h = hist(
      "s1: { w(x,1) w(y,1) }\n"
      "s2: { w(x,2) }\n"
      "s3: { r(x,1) w(z,1) }\n");
  const KeyId x = key(h, "x"), y = key(h, "y");
  const auto with = [&](Edge e) {
    return proof("serializable", {cycle({e, write_order(e.to, e.from, x)})});
  };
  EXPECT_TRUE(refused(with(anti(2, 0, x, 0)), h, "was read"));
  EXPECT_TRUE(refused(with(anti(2, 1, x, kNone)), h, "in its anti-dependency"));
  EXPECT_TRUE(refused(with(anti(2, 1, y, 0)), h, "does not write"));
  EXPECT_TRUE(refused(with(anti(2, 1, x, 2)), h, "in its anti-dependency"));
  EXPECT_TRUE(refused(with(anti(2, 1, x, 77)), h, "in its anti-dependency"));
  EXPECT_TRUE(refused(with(anti(0, 1, x, kNone)), h, "in its anti-dependency"));
  // The initial value is read only if nobody who may count wrote it.
  const std::string skew = "s1: { r(x,0) w(y,1) }\ns2: { r(y,0) w(x,1) }\n";
  const auto both = [](const History& g) {
    return proof("serializable",
                 {cycle({anti(0, 1, key(g, "x"), kNone), anti(1, 0, key(g, "y"), kNone)})});
  };
  const History clean = hist("initial 0\n" + skew);
  EXPECT_TRUE(verifies(both(clean), clean));
  for (const char* other : {"s3: { w(x,0) }\n", "s3: { w(x,0) }?\n"}) {
    const History g = hist("initial 0\n" + skew + other);
    EXPECT_TRUE(refused(both(g), g, "in its anti-dependency"));
  }
  const History nulls =
      hist("s1: { r(x,null) w(y,1) }\ns2: { r(y,null) w(x,1) }\ns3: { d(x,t) }?\n");
  EXPECT_TRUE(refused(both(nulls), nulls, "in its anti-dependency"));
  const History harmless = hist("initial 0\n" + skew + "s3: { w(x,0) }! { w(x,0) w(x,5) }\n");
  EXPECT_TRUE(verifies(both(harmless), harmless));
}

TEST(ProofVerifier, antiEdgesOfRangesNameTransactions) {
  const History h = hist("initial 0\ns1: { range(x..z,[]) }\ns2: { w(x,1) }\n");
  const KeyId x = key(h, "x");
  for (const TxnId nobody : {2u, 77u, kNone - 1})
    EXPECT_TRUE(refused(proof("pl-3", {cycle({anti(0, 1, x, nobody, 0), read_from(1, 0, x)})}), h,
                        "an unknown transaction"));
}

TEST(ProofVerifier, forcedEdges) {
  // 2 reads x from 1 and saw 0 (through y): 0 precedes 1 on x. And the other way round with 3.
  const History h = hist(
      "s1: { w(x,1) w(y,1) }\n"
      "s2: { w(x,2) w(z,1) }\n"
      "s3: { r(y,1) r(x,2) }\n"
      "s4: { r(z,1) r(x,1) }\n");
  const KeyId x = key(h, "x"), y = key(h, "y"), z = key(h, "z");
  const OpId y_read = 4, x_read = 5, z_read = 6, x_again = 7;
  const Edge there = forced(0, 1, x, 2, x_read, {read_from(0, 2, y, y_read)});
  const Edge back = forced(1, 0, x, 3, x_again, {read_from(1, 3, z, z_read)});
  EXPECT_TRUE(
      verifies(proof("read-committed read-atomic causal prefix adya-si session-si serializable",
                     {cycle({there, back})}),
               h));
  const auto with = [&](Edge e) { return proof("serializable", {cycle({e, back})}); };
  EXPECT_TRUE(verifies(with(forced(0, 1, x, 2, kNone, {read_from(0, 2, y)})), h));
  EXPECT_TRUE(refused(with(forced(0, 1, x, 2, y_read, {read_from(0, 2, y)})), h,
                      "does not certainly read the key"));
  EXPECT_TRUE(refused(with(forced(0, 1, x, 2, x_read, {})), h, "does not lead"));
  EXPECT_TRUE(refused(with(forced(0, 1, x, 2, x_read, {read_from(1, 2, x)})), h, "does not lead"));
  EXPECT_TRUE(refused(with(forced(0, 1, x, 2, x_read, {write_order(0, 2, x)})), h, "neither"));
  EXPECT_TRUE(refused(with(forced(0, 1, x, 2, x_read, {session(0, 2)})), h, "no session order"));
  EXPECT_TRUE(refused(with(forced(0, 1, x, 3, x_read, {read_from(0, 3, x)})), h,
                      "does not certainly read the key"));
  EXPECT_TRUE(refused(with(forced(0, 1, y, 2, x_read, {read_from(0, 2, y)})), h, "does not write"));
  EXPECT_TRUE(
      refused(with(forced(0, 1, x, 0, x_read, {read_from(0, 2, y)})), h, "one of its ends"));
  EXPECT_TRUE(
      refused(with(forced(0, 1, x, 1, x_read, {read_from(0, 1, y)})), h, "one of its ends"));
  EXPECT_TRUE(refused(with(forced(0, 1, x, 99, x_read, {read_from(0, 2, y)})), h, "need not"));
  Edge nested = there;
  nested.path[0].path = {read_from(0, 2, y)};
  EXPECT_TRUE(refused(with(nested), h, "has a path"));
}

TEST(ProofVerifier, readCommittedLooksAtProgramOrder) {
  const std::string writers = "s1: { w(x,1) w(y,1) }\ns2: { w(x,2) w(y,2) }\n";
  const auto steps = [](const History& h, OpId x_read, OpId y_read) {
    return std::vector<ProofStep>{
        cycle({forced(0, 1, key(h, "y"), 2, y_read, {read_from(0, 2, key(h, "x"), x_read)}),
               forced(1, 0, key(h, "x"), 2, x_read, {read_from(1, 2, key(h, "y"), y_read)})})};
  };
  const History h = hist(writers + "s3: { r(x,1) r(y,2) }\n");
  EXPECT_TRUE(verifies(proof("read-atomic causal serializable", steps(h, 4, 5)), h));
  EXPECT_TRUE(refused(proof("read-committed", steps(h, 4, 5)), h, "before it read the key"));
  const History twice = hist(writers + "s3: { r(x,1) r(y,2) r(x,1) }\n");
  EXPECT_TRUE(
      refused(proof("read-committed", steps(twice, 4, 5)), twice, "before it read the key"));
  const auto right = {
      cycle({forced(0, 1, key(twice, "y"), 2, 5, {read_from(0, 2, key(twice, "x"), 4)}),
             forced(1, 0, key(twice, "x"), 2, 6, {read_from(1, 2, key(twice, "y"), 5)})})};
  EXPECT_TRUE(verifies(proof("read-committed", right), twice));
}

TEST(ProofVerifier, readAtomicSeesOneStep) {
  // 3 saw 0 through 1 only: enough for causal, not for read atomic.
  const History h = hist(
      "s1: { w(x,1) }\n"
      "s2: { r(x,1) w(x,2) w(y,1) }\n"
      "s3: { r(y,1) w(z,1) }\n"
      "s4: { r(z,1) r(x,1) }\n");
  const KeyId x = key(h, "x"), y = key(h, "y"), z = key(h, "z");
  const auto steps = {cycle(
      {read_from(0, 1, x), forced(1, 0, x, 3, kNone, {read_from(1, 2, y), read_from(2, 3, z)})})};
  EXPECT_TRUE(verifies(proof("causal prefix adya-si serializable", steps), h));
  EXPECT_TRUE(refused(proof("read-atomic", steps), h, "one edge"));
  EXPECT_TRUE(refused(proof("read-committed", steps), h, "one edge"));
}

TEST(ProofVerifier, initialValueUnseenAtWeakLevels) {
  const History causal = hist(
      "s1: { w(x,1) }\n"
      "s2: { r(x,1) w(y,1) }\n"
      "s3: { r(y,1) r(x,null) }\n");
  const KeyId x = key(causal, "x"), y = key(causal, "y");
  const auto steps = {cycle({anti(2, 0, x, kNone), read_from(0, 1, x), read_from(1, 2, y)})};
  EXPECT_TRUE(verifies(proof("causal prefix adya-si serializable", steps), causal));
  EXPECT_TRUE(refused(proof("read-atomic", steps), causal, "one edge"));
  const std::string writer = "s1: { w(x,1) w(y,1) }\n";
  const History x_first = hist(writer + "s2: { r(x,1) r(y,null) }\n");
  const History y_first = hist(writer + "s2: { r(y,null) r(x,1) }\n");
  const auto fractured = [](const History& h) {
    return proof("read-committed read-atomic causal",
                 {cycle({read_from(0, 1, key(h, "x")), anti(1, 0, key(h, "y"), kNone)})});
  };
  EXPECT_TRUE(verifies(fractured(x_first), x_first));
  EXPECT_TRUE(refused(fractured(y_first), y_first, "before it read the key"));
}

TEST(ProofVerifier, factsFromKnownOrders) {
  const History h = hist(
      "s1: { w(x,1) }\n"
      "s2: { r(x,1) w(x,5) w(x,2) }\n"
      "s3: { w(x,3) }? { w(x,4) }!\n"
      "order x: 2 1\n"
      "order x: 3 1 4\n"
      "order x: 5 1\n");
  const KeyId x = key(h, "x");
  const auto with = [&](ProofStep f) {
    return proof("serializable",
                 {cycle({read_from(0, 1, x), write_order(1, 0, x)}), f, derived({}, {0, 1})});
  };
  EXPECT_TRUE(verifies(with(fact({1, 0}, 0, false)), h));
  EXPECT_TRUE(refused(with(fact({0, 1}, 0, false)), h, "does not order"));
  EXPECT_TRUE(refused(with(fact({1, 1}, 0, false)), h, "does not order"));
  EXPECT_TRUE(refused(with(fact({1, 0}, 1, false)), h, "does not order"));
  EXPECT_TRUE(refused(with(fact({0, 3}, 1, false)), h, "does not order"));
  // 5 is an intermediate version, but it was installed; and what a stated order names took effect.
  EXPECT_TRUE(verifies(with(fact({1, 0}, 2, false)), h));
  EXPECT_TRUE(
      verifies(proof("serializable pl-1",
                     {fact({2, 0}, 1, false), fact({0, 2}, 4, false), derived({}, {0, 1})}),
               hist("s1: { w(x,1) w(x,7) }\n"
                    "s2: { r(x,1) w(x,5) w(x,2) }\n"
                    "s3: { w(x,3) }? { w(x,4) }\n"
                    "order x: 2 1\norder x: 3 1\norder x: 5 1\norder x: 1 4\norder x: 7 3\n")));
  EXPECT_TRUE(refused(with(fact({1, 0}, 3, false)), h, "no order of versions"));
  EXPECT_TRUE(refused(with(fact({1, 0}, 0, true)), h, "not a read of a list"));
  // The commit order of the weak levels agrees with stated orders too.
  const auto weak = [&](ProofStep f) {
    return proof("causal",
                 {cycle({read_from(0, 1, x), write_order(1, 0, x)}), f, derived({}, {0, 1})});
  };
  EXPECT_TRUE(verifies(weak(fact({1, 0}, 0, false)), h));
  EXPECT_TRUE(refused(weak(fact({0, 1}, 0, false)), h, "does not order"));
}

TEST(ProofVerifier, factsFromLists) {
  const History h = hist(
      "s1: { a(l,1) a(l,2) }\n"
      "s2: { a(l,3) }\n"
      "s3: { r(l,[3,1,2]) }\n"
      "s4: { r(l,[3,1,2]) }!\n");
  const auto with = [&](ProofStep f) {
    return proof("serializable",
                 {cycle({write_order(1, 0, key(h, "l")), write_order(0, 1, key(h, "l"))}), f});
  };
  EXPECT_TRUE(refused(with(fact({1, 0}, 3, true)), h, "empty clause"));
  EXPECT_TRUE(refused(with(fact({0, 1}, 3, true)), h, "does not order"));
  EXPECT_TRUE(refused(with(fact({1, 0}, 4, true)), h, "need not"));
  EXPECT_TRUE(refused(with(fact({1, 0}, 99, true)), h, "not a read of a list"));
  // Two lists that disagree refute everything that knows an order of versions.
  const History fork = hist(
      "s1: { a(l,1) }\n"
      "s2: { a(l,2) }\n"
      "s3: { r(l,[1,2]) }\n"
      "s4: { r(l,[2,1]) }\n");
  EXPECT_TRUE(verifies(proof("prefix adya-si serializable",
                             {fact({0, 1}, 2, true), fact({1, 0}, 3, true), derived({}, {0, 1})}),
                       fork));
}

// An element that two transactions appended does not tell whose it is: neither that of the two
// which comes first, nor that the other came later.
TEST(ProofVerifier, factsFromElementsOfSeveralTransactions) {
  const History h = hist(
      "s1: { a(x,5) } { a(x,6) } { r(x,[5,6]) }\n"
      "s2: { a(x,5) }\n");
  const KeyId x = key(h, "x");
  EXPECT_TRUE(refused(proof("session-serializable",
                            {fact({1, 0}, 2, true), cycle({session(0, 1), write_order(1, 0, x)}),
                             derived({}, {0, 1})}),
                      h, "does not order"));
  EXPECT_TRUE(verifies(
      single_order("session-serializable session-si prefix causal read-atomic read-committed",
                   {0, 1, 2, 3}),
      h));
}

// What the reader had appended itself stands at the end of what it read, wherever it is installed.
TEST(ProofVerifier, factsFromTheReadersOwnElements) {
  const History h = hist(
      "s1: { a(x,5) }\n"
      "s2: { a(x,7) r(x,[5,7]) }\n"
      "s3: { a(x,6) }\n"
      "s4: { r(x,[5,6,7]) }\n");
  EXPECT_TRUE(refused(proof("prefix causal read-atomic read-committed pl-2 pl-1",
                            {fact({1, 2}, 2, true), fact({2, 1}, 4, true), derived({}, {0, 1})}),
                      h, "does not order"));
}

// At pl-1 an element may be that of an aborted transaction, and a list shows of nobody that it took
// effect.
TEST(ProofVerifier, factsFromDirtyLists) {
  const std::string lists = "s3: { r(l,[1,2]) }\ns4: { r(l,[2,1]) }\n";
  const auto forked = [](std::string_view levels) {
    return proof(levels, {fact({0, 1}, 2, true), fact({1, 0}, 3, true), derived({}, {0, 1})});
  };
  const History clean = hist("s1: { a(l,1) }\ns2: { a(l,2) }\n" + lists);
  EXPECT_TRUE(verifies(forked("pl-1 pl-2 serializable"), clean));
  const History unknown = hist("s1: { a(l,1) }\ns2: { a(l,2) }?\n" + lists);
  EXPECT_TRUE(verifies(forked("pl-2 serializable"), unknown));
  EXPECT_TRUE(refused(forked("pl-1"), unknown, "need not have taken effect"));
  const History aborted = hist("s1: { a(l,1) }\ns2: { a(l,2) }\n" + lists + "s5: { a(l,2) }!\n");
  EXPECT_TRUE(verifies(forked("pl-2 serializable"), aborted));
  EXPECT_TRUE(refused(forked("pl-1"), aborted, "does not order"));
}

TEST(ProofVerifier, linearizableOnlyWhereItIsDefined) {
  const std::string_view lost = "s1: { r(x,null) w(x,1) }\ns2: { r(x,null) w(x,2) }\n";
  const History h = hist(lost);
  EXPECT_TRUE(verifies(proof("strict-serializable", lost_update_steps(key(h, "x"))), h));
  EXPECT_TRUE(refused(proof("linearizable", lost_update_steps(key(h, "x"))), h,
                      "one operation on one key"));
}

TEST(ProofVerifier, listsAreReadFromTheirLastWriter) {
  const History h = hist(
      "s1: { a(l,1) }\n"
      "s2: { r(l,[]) a(l,2) }\n"
      "s3: { r(l,[1,2]) w(y,1) }\n"
      "s4: { r(y,1) r(l,[1]) }\n");
  const KeyId l = key(h, "l"), y = key(h, "y");
  EXPECT_TRUE(verifies(
      proof("serializable", {fact({0, 1}, 3, true),
                             cycle({read_from(1, 2, l), read_from(2, 3, y), anti(3, 1, l, 0)}),
                             derived({}, {0, 1})}),
      h));
  EXPECT_TRUE(verifies(
      proof("adya-si", {fact({0, 1}, 3, true), cycle({anti(1, 0, l, kNone), write_order(0, 1, l)}),
                        derived({}, {0, 1})}),
      h));
  EXPECT_TRUE(refused(proof("serializable", {cycle({read_from(0, 2, l), read_from(2, 0, y)})}), h,
                      "does not certainly read"));
}

TEST(ProofVerifier, compareAndSetReadsWhatItExpected) {
  const History h = hist(
      "s1: { w(x,1) }\n"
      "s2: { cas(x,1,2) }\n"
      "s3: { cas(x,1,3) }\n");
  const KeyId x = key(h, "x");
  const std::vector<ProofStep> steps = {cycle({anti(1, 2, x, 0), write_order(2, 1, x)}),
                                        cycle({anti(2, 1, x, 0), write_order(1, 2, x)}),
                                        cycle({read_from(0, 1, x), write_order(1, 0, x)}),
                                        cycle({read_from(0, 2, x), write_order(2, 0, x)}),
                                        derived({}, {2, 3, 0, 1})};
  EXPECT_TRUE(verifies(proof("adya-si serializable", steps), h));
  const History failed = hist("s1: { w(x,1) }\ns2: { cas(x,1,2)! }\ns3: { cas(x,1,3) }\n");
  EXPECT_FALSE(verify(proof("serializable", steps), failed).ok());
}

// Transaction 2 read the 1 of transaction 0 or that of 1; either wrote y as well.
constexpr std::string_view kTwoWriters =
    "s1: { w(x,1) w(y,1) }\n"
    "s2: { w(x,1) w(y,2) }\n"
    "s3: { r(x,1) r(y,null) }\n";

TEST(ProofVerifier, whoeverWasRead) {
  const History h = hist(kTwoWriters);
  const KeyId x = key(h, "x"), y = key(h, "y");
  const OpId read = h.first_op(2);
  const Literal first = Literal::seen(2, x, 0), second = Literal::seen(2, x, 1);
  const ProofStep either = sources(read, x, {first, second});
  const ProofStep not_first = cycle_given({read_from(0, 2, x), anti(2, 0, y, kNone)}, {first});
  const ProofStep not_second = cycle_given({read_from(1, 2, x), anti(2, 1, y, kNone)}, {second});
  const auto end = derived({}, {1, 2, 0});
  EXPECT_TRUE(verifies(proof("read-atomic causal prefix session-si serializable",
                             {either, not_first, not_second, end}),
                       h));
  // There a transaction may see several states of a key, and so there is no one source of what it
  // saw.
  for (const char* level : {"read-committed", "monotonic-reads", "pl-3", "pl-1"})
    EXPECT_FALSE(verify(proof(level, {either, not_first, not_second, end}), h).ok()) << level;
  // What is not given must be certain.
  EXPECT_TRUE(
      refused(proof("prefix", {either, cycle(not_first.cycle), not_second, derived({}, {1})}), h,
              "does not certainly read"));
  // A writer is left out, or the clause is about something else.
  const auto with = [&](const ProofStep& step) {
    return proof("prefix", {step, not_first, not_second, end});
  };
  EXPECT_TRUE(refused(with(sources(read, x, {first})), h, "may have seen"));
  EXPECT_TRUE(refused(with(sources(read, x, {first, !second})), h, "does not say"));
  EXPECT_TRUE(refused(with(sources(read, y, {first, second})), h, "does not say"));
  EXPECT_TRUE(
      refused(with(sources(read, x, {first, second, Literal::order(0, 1)})), h, "does not say"));
  EXPECT_TRUE(refused(with(sources(99, x, {first, second})), h, "not in the history"));
  // What is given stays an assumption.
  EXPECT_TRUE(refused(proof("prefix", {not_first}), h, "empty clause"));
  EXPECT_TRUE(
      refused(proof("prefix", {either, not_first, derived({}, {1, 0})}), h, "contradiction"));
  EXPECT_TRUE(
      refused(proof("prefix", {cycle_given(not_first.cycle, {!first})}), h, "may only be given"));
  EXPECT_TRUE(refused(proof("prefix", {cycle_given(not_first.cycle, {Literal::order(0, 2)})}), h,
                      "may only be given"));
}

// An edge may leave out the operation of a read that is given, as it may of one that is certain.
TEST(ProofVerifier, operationsOfWhatIsGivenMayBeLeftOut) {
  const History h = hist("s1: { w(x,1) }\ns2: { r(x,1) } { range(x..x,[]) }\n");
  const KeyId x = key(h, "x");
  const OpId range = h.first_op(2);
  const auto steps = [&](OpId op, const Literal& initial) {
    const ProofStep unseen =
        cycle_given({anti(2, 0, x, kNone, op), read_from(0, 1, x), session(1, 2)}, {initial});
    return std::vector{sources(range, x, {initial}), unseen, derived({}, {0, 1})};
  };
  for (const OpId named : {range, kNone})
    for (const OpId op : {range, kNone})
      EXPECT_TRUE(verifies(proof("causal prefix", steps(op, Literal::seen(2, x, kNone, named))), h))
          << op << " " << named;
  EXPECT_TRUE(refused(proof("causal", steps(range - 1, Literal::seen(2, x, kNone, range))), h,
                      "does not certainly read the key"));
}

TEST(ProofVerifier, whoeverWasReadTookEffect) {
  const History h = hist(
      "s1: { r(y,1) w(x,1) }?\n"
      "s2: { w(x,1) w(y,1) }\n"
      "s3: { r(x,1) r(y,null) }\n");
  const KeyId x = key(h, "x"), y = key(h, "y");
  const Literal first = Literal::seen(2, x, 0), second = Literal::seen(2, x, 1);
  const ProofStep either = sources(h.first_op(2), x, {first, second});
  const ProofStep took = effect({!first, Literal::effect(0)});
  const ProofStep not_first = cycle_given(
      {read_from(1, 0, y), read_from(0, 2, x), anti(2, 1, y, kNone)}, {first, Literal::effect(0)});
  const ProofStep not_second = cycle_given({read_from(1, 2, x), anti(2, 1, y, kNone)}, {second});
  const auto end = derived({}, {3, 0, 1, 2});
  EXPECT_TRUE(verifies(proof("serializable", {either, took, not_first, not_second, end}), h));
  EXPECT_TRUE(refused(
      proof("serializable", {either, took, cycle_given(not_first.cycle, {first}), not_second, end}),
      h, "need not have taken effect"));
  const auto with = [&](const ProofStep& step) {
    return proof("serializable", {either, step, not_first, not_second, end});
  };
  EXPECT_TRUE(refused(with(effect({Literal::effect(0)})), h, "does not name the source"));
  EXPECT_TRUE(refused(with(effect({!first})), h, "does not say that transaction"));
  EXPECT_TRUE(
      refused(with(effect({!second, Literal::effect(0)})), h, "does not say that transaction"));
  // Who need not have taken effect itself shows nothing.
  const ProofStep own = effect({!Literal::seen(0, y, 1), Literal::effect(1)});
  EXPECT_TRUE(refused(with(own), h, "need not have taken effect"));
}

// Transaction 2 reads x of transaction 0 or 1, each of which wrote y as well, and then the initial
// y.
TEST(ProofVerifier, whatAnOperationSaw) {
  const History h = hist(
      "s1: { w(x,1) w(y,1) }\n"
      "s2: { w(x,1) w(y,2) }\n"
      "s3: { r(x,1) r(y,null) r(x,1) }\n");
  const KeyId x = key(h, "x"), y = key(h, "y");
  const OpId read = h.first_op(2);
  const auto saw = [&](TxnId source, OpId op) { return Literal::seen(2, x, source, op); };
  const auto refuted = [&](TxnId source, OpId op, const Literal& given) {
    return cycle_given({read_from(source, 2, x, op), anti(2, source, y, kNone, read + 1)}, {given});
  };
  const auto by = [&](OpId op) {
    return std::vector<ProofStep>{sources(read, x, {saw(0, op), saw(1, op)}),
                                  refuted(0, read, saw(0, op)), refuted(1, read, saw(1, op)),
                                  derived({}, {1, 2, 0})};
  };
  EXPECT_TRUE(
      verifies(proof("read-committed read-atomic causal session-serializable", by(read)), h));
  // Another operation may have seen something else, and this one came too late to show anything.
  EXPECT_TRUE(refused(proof("read-committed", by(read + 2)), h, "does not say"));
  const OpId late = read + 2;
  EXPECT_TRUE(
      refused(proof("read-committed",
                    {sources(late, x, {saw(0, late), saw(1, late)}), refuted(0, late, saw(0, late)),
                     refuted(1, late, saw(1, late)), derived({}, {1, 2, 0})}),
              h, "before it read the key"));
}

// A failed compare-and-set that nobody's value explains.
TEST(ProofVerifier, nobodyWasRead) {
  const History h = hist("initial 1\ns1: { w(x,1) }\ns2: { cas(x,1,2)! }\n");
  const Certificate c = proof("pl-1 read-committed prefix", {sources(1, key(h, "x"), {})});
  EXPECT_TRUE(verifies(c, h));
  const History other = hist("initial 1\ns1: { w(x,3) }\ns2: { cas(x,1,2)! }\n");
  EXPECT_TRUE(refused(c, other, "may have seen"));
}

}  // namespace
}  // namespace assay::internal::certify
