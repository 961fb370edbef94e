// Short names for certificates and their parts, for tests.
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "assay/format.h"
#include "assay/verify.h"

namespace assay::internal::certify {

inline History hist(std::string_view text) {
  Result<ReadResult> read = read_history_text(text, "test", {.from = "hist"});
  if (!read.ok()) ADD_FAILURE() << read.error().to_string();
  return read.ok() ? std::move(read->history) : History();
}

// "prefix session-si": blank-separated names or aliases.
inline std::vector<LevelId> levels(std::string_view names) {
  std::vector<LevelId> found;
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    const auto level = find_level(names.substr(0, end));
    if (!level) ADD_FAILURE() << "no level " << names.substr(0, end);
    if (level) found.push_back(*level);
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return found;
}

inline std::vector<LevelId> every_level() {
  std::vector<LevelId> all;
  for (const LevelInfo& level : all_levels()) all.push_back(level.id);
  return all;
}

inline Certificate single_order(std::string_view names, std::vector<uint32_t> txns) {
  return {levels(names), Certificate::Kind::order, {false, std::move(txns)}, {}, {}, {}};
}

// r(T) is 2T, w(T) is 2T + 1.
inline Certificate split_order(std::string_view names, std::vector<uint32_t> events) {
  return {levels(names), Certificate::Kind::order, {true, std::move(events)}, {}, {}, {}};
}

inline Certificate bad_read(std::string_view names, Anomaly anomaly, OpId read, OpId other) {
  return {levels(names), Certificate::Kind::bad_read, {}, {anomaly, read, other}, {}, {}};
}

inline Certificate proof(std::string_view names, std::vector<ProofStep> steps) {
  return {levels(names), Certificate::Kind::proof, {}, {}, {std::move(steps)}, {}};
}

inline KeyId key(const History& h, std::string_view name) {
  for (KeyId k = 0; k < h.key_count(); ++k)
    if (h.key(k).to_string() == name) return k;
  ADD_FAILURE() << "no key " << name;
  return kNone;
}

inline Edge read_from(TxnId from, TxnId to, KeyId k, OpId op = kNone) {
  return Edge::read_dependency(from, to, k, op);
}
inline Edge session(TxnId from, TxnId to) { return Edge::session_order(from, to); }
inline Edge real_time(TxnId from, bool from_write, TxnId to, bool to_write) {
  return Edge::real_time(from, from_write, to, to_write);
}
inline Edge write_order(TxnId from, TxnId to, KeyId k) {
  return Edge::write_dependency(from, to, k);
}
inline Edge anti(TxnId from, TxnId to, KeyId k, TxnId via, OpId op = kNone) {
  return Edge::anti_dependency(from, to, k, via, op);
}
inline Edge forced(TxnId from, TxnId to, KeyId k, TxnId reader, OpId op, std::vector<Edge> path) {
  return Edge::forced_order(from, to, k, reader, op, std::move(path));
}

inline ProofStep cycle(std::vector<Edge> edges) {
  ProofStep s;
  s.cycle = std::move(edges);
  return s;
}
inline ProofStep fact(Literal b, uint32_t source, bool source_is_op) {
  ProofStep s;
  s.kind = ProofStep::Kind::fact;
  s.clause = {b};
  s.source = source;
  s.source_is_op = source_is_op;
  return s;
}
inline ProofStep derived(std::vector<Literal> clause, std::vector<uint32_t> hints) {
  ProofStep s;
  s.kind = ProofStep::Kind::derived;
  s.clause = std::move(clause);
  s.hints = std::move(hints);
  return s;
}

inline ProofStep cycle_given(std::vector<Edge> edges, std::vector<Literal> given) {
  ProofStep step = cycle(std::move(edges));
  step.given = std::move(given);
  return step;
}

inline ProofStep sources(OpId op, KeyId k, std::vector<Literal> clause) {
  ProofStep step;
  step.kind = ProofStep::Kind::sources;
  step.source = op;
  step.key = k;
  step.clause = std::move(clause);
  return step;
}

inline ProofStep effect(std::vector<Literal> clause) {
  ProofStep step;
  step.kind = ProofStep::Kind::effect;
  step.clause = std::move(clause);
  return step;
}

inline ProofStep blocks(OpId list, std::vector<Literal> clause, uint32_t element = kNone) {
  ProofStep step;
  step.kind = ProofStep::Kind::blocks;
  step.source = list;
  step.clause = std::move(clause);
  step.element = element;
  return step;
}

// The verdict of the verifier with one thread, which must be the same with several.
inline Status verified(const Certificate& c, const History& h) {
  const Status one = verify(c, h);
  for (const unsigned threads : {2u, 5u}) {
    const Status several = verify(c, h, threads);
    EXPECT_EQ(several.ok(), one.ok());
    if (!one.ok() && !several.ok()) {
      EXPECT_EQ(several.error().message, one.error().message);
    }
  }
  return one;
}

inline ::testing::AssertionResult verifies(const Certificate& c, const History& h) {
  const Status s = verified(c, h);
  if (s.ok()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << s.error().to_string();
}

// Whether the certificate is refused with a message that contains `why`.
inline ::testing::AssertionResult refused(const Certificate& c, const History& h,
                                          std::string_view why) {
  const Status s = verified(c, h);
  if (s.ok()) return ::testing::AssertionFailure() << "it was accepted";
  if (s.error().message.find(why) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "refused for another reason: " << s.error().message;
}

}  // namespace assay::internal::certify
