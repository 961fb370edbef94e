#include "assay/audit.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "assay/verify.h"
#include "audit/baseline.h"
#include "audit/verified.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "history/test_history.h"
#include "levels/walk.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

using sample::kNull;
using sample::make_history;
using sample::r;
using sample::w;
using enum LevelId;

const std::vector<sample::Txn> kLostUpdate = {
    {1, {w("x", 1)}}, {2, {r("x", 1), w("x", 2)}}, {3, {r("x", 1), w("x", 3)}}};

// Verdicts on a lost update, after `spoil` has had its way with what was decided.
template <class Spoil>
CheckResult verified(Spoil spoil, Budget memory = {}) {
  const History history = make_history(kLostUpdate);
  CheckOptions options;
  options.levels = {read_committed, session_si};
  CheckResult result = decide_levels(history, options);
  EXPECT_EQ(result.find(session_si)->outcome, Outcome::violated);
  spoil(result);
  verify_verdicts(result, history, std::move(memory));
  return result;
}

void expect_fault(const CheckResult& result) {
  const Verdict& v = *result.find(session_si);
  EXPECT_EQ(v.outcome, Outcome::unknown);
  EXPECT_EQ(v.certificate, kNone);
  EXPECT_EQ(v.cause, UnknownCause::internal);
  EXPECT_NE(v.reason.find("bug in assay"), std::string::npos) << v.reason;
  EXPECT_EQ(result.find(read_committed)->outcome, Outcome::satisfied);
}

Certificate& of_session_si(CheckResult& result) {
  return result.certificates.at(result.find(session_si)->certificate);
}

TEST(VerifyVerdicts, WhatHoldsStays) {
  const CheckResult result = verified([](CheckResult&) {});
  EXPECT_EQ(result.find(session_si)->outcome, Outcome::violated);
  EXPECT_EQ(result.find(read_committed)->outcome, Outcome::satisfied);
}

TEST(VerifyVerdicts, ARefusedCertificateIsAFault) {
  expect_fault(verified([](CheckResult& r) { of_session_si(r).proof.steps.clear(); }));
}

TEST(VerifyVerdicts, ACertificateOfSomethingElseIsAFault) {
  expect_fault(verified([](CheckResult& r) { std::erase(of_session_si(r).levels, session_si); }));
  expect_fault(verified([](CheckResult& r) {
    for (Verdict& v : r.verdicts)
      if (v.level == session_si) v.outcome = Outcome::satisfied;
  }));
  expect_fault(verified([](CheckResult& r) {
    for (Verdict& v : r.verdicts)
      if (v.level == session_si) v.certificate = kNone;
  }));
}

TEST(VerifyVerdicts, WithoutRoomNothingIsVerified) {
  const CheckResult result = verified([](CheckResult&) {}, Budget(0, 1));
  for (const Verdict& v : result.verdicts) {
    EXPECT_EQ(v.outcome, Outcome::unknown);
    EXPECT_EQ(v.cause, UnknownCause::memory);
  }
}

// Room for one certificate at a time is enough, whatever the number of threads.
TEST(VerifyVerdicts, CertificatesAreVerifiedOneByOneWhereThereIsNoRoomForMore) {
  std::vector<sample::Txn> txns;
  for (int t = 0; t < 200'000; ++t) txns.push_back({t % 3, {w("x", t)}});
  const History history = make_history(txns);
  CheckOptions options;
  options.levels = {read_committed, read_atomic};
  options.speed_ups.set(SpeedUp::carry, false);  // a certificate for each
  const CheckResult decided = decide_levels(history, options);
  ASSERT_EQ(decided.certificates.size(), 2u);
  if (resident_memory_bytes() == 0) GTEST_SKIP() << "the system does not report memory";
  const uint64_t largest = std::max(verification_bytes(decided.certificates[0], history),
                                    verification_bytes(decided.certificates[1], history));
  const uint64_t both = verification_bytes(decided.certificates[0], history) +
                        verification_bytes(decided.certificates[1], history);
  for (const unsigned threads : {1u, 4u}) {
    CheckResult result = decided;
    release_free_memory();
    const uint64_t limit = resident_memory_bytes() + (largest + both) / 2;
    verify_verdicts(result, history, Budget(0, limit), threads);
    const bool all = std::ranges::all_of(
        result.verdicts, [](const Verdict& v) { return v.outcome == Outcome::satisfied; });
    if (threads == 1 && !all) GTEST_SKIP() << "what is freed stays resident, as with a sanitizer";
    EXPECT_TRUE(all) << threads << " threads";
  }
}

// Of certificates that hold and of others, on several threads at once.
TEST(Verifier, SaysOfEachCertificateWhatVerifySaysOfItAlone) {
  Rng rng(5);
  RandomShape shape;
  shape.ordered = 1;
  size_t held = 0, refused = 0;
  for (int round = 0; round < 100; ++round) {
    const Result<History> history = random_draft(rng, shape).history();
    if (!history.ok()) continue;
    std::vector<Certificate> certificates = decide_levels(*history, {}).certificates;
    for (size_t i = 0, all = certificates.size(); i < all; ++i) {
      Certificate spoiled = certificates[i];
      std::ranges::reverse(spoiled.order.events);
      if (!spoiled.proof.steps.empty()) spoiled.proof.steps.pop_back();
      certificates.push_back(std::move(spoiled));
    }
    Verifier verifier(*history);
    std::vector<std::string> together(certificates.size());
    share_jobs(certificates.size(), 4, [&](const auto& next) {
      for (size_t i = next(); i < certificates.size(); i = next())
        if (const Status s = verifier.verify(certificates[i]); !s.ok())
          together[i] = s.error().message;
    });
    for (size_t i = 0; i < certificates.size(); ++i) {
      const Status alone = verify(certificates[i], *history);
      EXPECT_EQ(together[i], alone.ok() ? "" : alone.error().message);
      ++(alone.ok() ? held : refused);
    }
  }
  EXPECT_GT(held, 100u);
  EXPECT_GT(refused, 50u);
}

TEST(Check, VerdictsAreVerified) {
  CheckOptions options;
  options.levels = {read_committed, session_si};
  const CheckResult result = check(make_history(kLostUpdate), options);
  EXPECT_EQ(result.find(session_si)->outcome, Outcome::violated);
  // What was decided within the time counts, though verifying begins when it is over; memory binds
  // both.
  options.budget = Budget(0, 1);
  EXPECT_EQ(check(make_history(kLostUpdate), options).find(session_si)->cause,
            UnknownCause::memory);
}

std::string written(const std::string& name, const std::string& text) {
  std::string path = testing::TempDir() + std::to_string(getpid()) + name;
  std::ofstream(path) << text;
  return path;
}

TEST(Audit, AFileThatCannotBeReadHasAnError) {
  const Audit none = audit("no/such/history.jsonl");
  ASSERT_TRUE(none.error);
  EXPECT_EQ(none.error->kind, ErrorKind::io);
  EXPECT_TRUE(none.result.verdicts.empty());
  const Audit bad = audit(written("bad.hist", "s1: { w(x }\n"));
  ASSERT_TRUE(bad.error);
  EXPECT_EQ(bad.error->line, 1u);
}

TEST(Audit, ReadsChecksVerifiesAndExplains) {
  AuditOptions options;
  options.check.levels = {read_committed, session_si};
  const std::string path =
      written("lost.hist", "s1: { w(x,1) }\ns2: { r(x,1) w(x,2) }\ns3: { r(x,1) w(x,3) }\n");
  const Audit lost = audit(path, options);
  ASSERT_FALSE(lost.error) << lost.error->to_string();
  EXPECT_EQ(lost.format, "hist");
  EXPECT_EQ(lost.file, path);
  EXPECT_EQ(lost.requested, options.check.levels);
  EXPECT_EQ(lost.observations, 2u);
  ASSERT_EQ(lost.explanations.size(), 1u);
  EXPECT_EQ(lost.explanations[0].anomaly, Anomaly::lost_update);
  std::vector<std::string> stages;
  for (const StageTime& s : lost.stages) stages.push_back(s.stage);
  EXPECT_EQ(stages, (std::vector<std::string>{"read", "check", "verify", "explain"}));
  const CertificateFile file = certificates_of(lost);
  EXPECT_EQ(file.history_hash, lost.history.content_hash());
  ASSERT_EQ(file.certificates.size(), 2u);
  for (const Certificate& c : file.certificates) EXPECT_TRUE(verify(c, lost.history).ok());
}

// Large enough that explanations are made while certificates are verified.
TEST(Audit, ExplanationsAreTheSameBesideVerifying) {
  std::vector<sample::Txn> txns = kLostUpdate;
  for (int i = 0; i < 2000; ++i) txns.push_back({i % 7, {r("y", i - 1), w("y", i)}});
  txns[kLostUpdate.size()].ops[0] = r("y", kNull);
  std::vector<std::vector<std::string>> told;
  for (const unsigned threads : {1u, 2u}) {
    AuditOptions options;
    options.check.threads = threads;
    const Audit audited = audit(make_history(txns), "lost", options);
    EXPECT_EQ(audited.observations, 2002u);
    std::vector<std::string>& own = told.emplace_back();
    for (const Explanation& e : audited.explanations)
      own.insert(own.end(), e.sentences.begin(), e.sentences.end());
  }
  EXPECT_FALSE(told[0].empty());
  EXPECT_EQ(told[0], told[1]);
}

TEST(Audit, ReadingIsPartOfTheBudget) {
  std::string many;
  for (int i = 0; i < 5000; ++i)
    many += "s" + std::to_string(i) + ": { w(x," + std::to_string(i) + ") }\n";
  AuditOptions options;
  options.check.budget = Budget(1e-9, 0);
  const Audit cut = audit(written("many.hist", many), options);
  ASSERT_TRUE(cut.error);
  EXPECT_EQ(cut.error->kind, ErrorKind::budget);
}

TEST(Audit, AHistoryInWhichNobodyLookedIsVacuous) {
  const auto blind = [](bool allow_empty) {
    AuditOptions options;
    options.check.levels = {session_si};
    options.allow_empty = allow_empty;
    return audit(make_history({{1, {w("x", 1)}}, {2, {w("x", 2)}}}), "blind", options);
  };
  const Audit strict = blind(false);
  EXPECT_EQ(strict.result.find(session_si)->cause, UnknownCause::vacuous);
  EXPECT_TRUE(certificates_of(strict).certificates.empty());
  EXPECT_EQ(blind(true).result.find(session_si)->outcome, Outcome::satisfied);
}

// An order of two versions is evidence, that of one says nothing.
TEST(Audit, AnOrderOfOneVersionIsNoEvidence) {
  const auto stated = [](const std::vector<int64_t>& order) {
    AuditOptions options;
    options.check.levels = {session_si};
    const std::vector<sample::Txn> txns = {{1, {w("x", 1)}}, {2, {w("x", 2)}}};
    return audit(make_history(txns, {{"x", order}}), "blind", options)
        .result.find(session_si)
        ->outcome;
  };
  EXPECT_EQ(stated({1}), Outcome::unknown);
  EXPECT_EQ(stated({1, 2}), Outcome::satisfied);
}

// What was withheld is not written among the certificates, whatever else is.
TEST(Audit, CertificatesOfWhatStandsAreWritten) {
  Audit audited = audit(make_history(kLostUpdate), "lost");
  const size_t all = certificates_of(audited).certificates.size();
  ASSERT_GT(all, 1u);
  const uint32_t withheld = audited.result.find(session_si)->certificate;
  for (Verdict& v : audited.result.verdicts)
    if (v.certificate == withheld) v.certificate = kNone;
  EXPECT_EQ(certificates_of(audited).certificates.size(), all - 1);
}

TEST(Baseline, HoldsEachKindOnce) {
  const KnownViolation lost{session_si, Anomaly::lost_update},
      skew{serializable, Anomaly::write_skew};
  const std::string text = baseline_text({skew, lost, skew, lost, skew});
  EXPECT_EQ(text, baseline_text({lost, skew}));
  const auto parsed = parse_baseline(text, "known.json");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->size(), 2u);
}

TEST(Audit, SeveralFilesAreOneHistory) {
  const std::vector<std::string> paths = {written("a.hist", "s1: { w(x,1) }\n"),
                                          written("b.hist", "s2: { r(x,1) }\n")};
  const Audit both = audit_together(paths);
  ASSERT_FALSE(both.error) << both.error->to_string();
  EXPECT_EQ(both.history.txn_count(), 2u);
  EXPECT_NE(both.file.find("1 more"), std::string::npos);
}

TEST(Audit, EvidenceThatSaysNothingIsNoted) {
  const Audit audited =
      audit(make_history({{1, {w("x", 1)}}, {2, {w("x", 1)}}, {3, {w("x", 2)}}, {4, {r("x", 2)}}},
                         {{"x", {1, 2}}}),
            "twice");
  ASSERT_EQ(audited.notes.size(), 1u);
  EXPECT_NE(audited.notes[0].find("several transactions wrote"), std::string::npos);
}

}  // namespace
}  // namespace assay::internal
