// One clause of plain English for each dependency.
#pragma once

#include <string>
#include <string_view>

#include "assay/certificate.h"
#include "explain/cycle.h"
#include "explain/phrases.h"
#include "explain/reads_and_writes.h"

namespace assay::internal {

class Clauses {
 public:
  Clauses(const Excerpt& excerpt, const Proof& proof)
      : excerpt_(excerpt), h_(excerpt.history), proof_(proof) {}

  // "T2 read x = 1, which T1 wrote"; with the justification of an assumed order of writers.
  std::string because(const Step& step) const;
  std::string because(const Edge& edge) const;
  // The same in a sentence next to the operations, which show the order if the writer had read the
  // version that it overwrote.
  std::string in_sentence(const Step& step) const;
  // Why the version read (or written first) came before the other writer's; a clause, empty if the
  // sentence is complete without it.
  std::string justification(const Step& step) const;
  // "T1 → T4 → T2"
  std::string chain(const std::vector<Edge>& path) const;
  std::string did(TxnId t, KeyId key) const { return in_words(kDid, h_, t, key); }
  std::string effect(TxnId t, KeyId key) const { return in_words(kEffect, h_, t, key); }
  std::string replaced(TxnId t, KeyId key) const { return in_words(kReplaced, h_, t, key); }
  // Says what the reader of `anti` read, and where it came from: "read x = 1 (written by T1)" or
  // "read x = 0 (the initial value)".
  std::string saw_with_origin(const Edge& anti) const;
  // Says what the reader of `edge` saw: "read x = 1", "read l = [1,2]", "found x absent".
  std::string saw(const Edge& edge) const;
  std::string saw(OpId reading, KeyId key) const;
  // The same with its source: "read x = 1 of T1", "failed to insert x because it was there, after
  // T1 wrote x = 1". `of`: the words between the value and the writer, which is called `who`.
  std::string saw_of(const Edge& read, std::string_view of, const std::string& who) const;
  // The operation that read; kNone if it is not known.
  OpId reading(const Edge& edge) const;
  std::string txn(TxnId t) const;

  // Longer refutations of an order are not shown.
  static constexpr size_t kMostRefuting = 4;

 private:
  std::string consequence(const ProofStep& step, const Literal& assumed) const;
  std::string read_clause(const Edge& read) const;
  std::string write_clause(const Edge& write) const;
  std::string missed_clause(const Edge& anti) const;
  bool had_read_it(const Edge& edge, TxnId source) const;
  std::string read_first_clause(const Edge& edge, TxnId source) const;
  std::string axiom_instance(const Edge& forced) const;

  const Excerpt& excerpt_;
  const History& h_;
  const Proof& proof_;
};

}  // namespace assay::internal
