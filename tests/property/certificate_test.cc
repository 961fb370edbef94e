// Whatever a certificate says, once the verifier accepts it, it is true.
//
// The oracle judges small random histories. The certificates are those that the checker gives, the
// same changed at random, as data and as text, and others made up from nothing: orders that are any
// permutation, refutations whose edges are any edges.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/check.h"
#include "assay/verify.h"
#include "base/rng.h"
#include "cases.h"
#include "oracle/oracle.h"
#include "oracle/random_history.h"

namespace assay {
namespace {

int random_cases(int usual) { return static_cast<int>(scaled(static_cast<uint64_t>(usual), 200)); }

struct Judged {
  History history;
  oracle::Draft draft;
  std::array<Outcome, kLevelCount> truth;
};

std::optional<Judged> random_case(Rng& rng) {
  oracle::RandomShape shape;
  shape.rich = 0.25;
  shape.duplicates = 0.4;
  oracle::Draft draft = oracle::random_draft(rng, shape);
  Result<History> history = draft.history();
  if (!history.ok() || history->op_count() == 0) return std::nullopt;
  const auto truth = oracle::decide_all(*history, all_levels());
  return Judged{std::move(*history), std::move(draft), truth};
}

// A level for which the certificate says the opposite of the oracle.
std::string lie(const Certificate& c, const Judged& judged) {
  for (LevelId level : c.levels) {
    const Outcome truth = judged.truth[static_cast<size_t>(level)];
    if (truth == Outcome::unknown || truth == c.outcome()) continue;
    const CertificateFile file{judged.history.content_hash(), {c}};
    return std::string(level_info(level).name) + " is " + std::string(outcome_name(truth)) + "\n" +
           judged.draft.text() + write_certificates(file, judged.history);
  }
  return {};
}

// Verifies the certificate level by level, so that one refusal does not hide another acceptance.
int accepted_levels(const Certificate& c, const Judged& judged) {
  int accepted = 0;
  Certificate one = c;
  for (LevelId level : c.levels) {
    one.levels = {level};
    if (!verify(one, judged.history).ok()) continue;
    ++accepted;
    EXPECT_EQ(lie(one, judged), "");
  }
  return accepted;
}

std::vector<LevelId> every_level() {
  std::vector<LevelId> all;
  for (const LevelInfo& level : all_levels()) all.push_back(level.id);
  return all;
}

uint32_t below(Rng& rng, size_t n) { return static_cast<uint32_t>(rng.below(n)); }

// A number of the kind that a certificate holds, seldom a wild one.
uint32_t any_index(Rng& rng, uint32_t count) {
  if (rng.chance(0.03)) return kNone;
  if (rng.chance(0.03)) return static_cast<uint32_t>(rng.next());
  return below(rng, count + 1);
}

class Editor {
 public:
  Editor(Rng& rng, const History& history) : rng_(rng), h_(history) {}

  void edit(Certificate& c) {
    switch (c.kind) {
      case Certificate::Kind::order:
        if (!c.order.sources.empty() && rng_.chance(0.4)) return edit_seen(c.order.sources);
        return edit_order(c.order);
      case Certificate::Kind::bad_read:
        return edit_bad_read(c.bad_read);
      case Certificate::Kind::proof:
        return edit_proof(c.proof);
      case Certificate::Kind::cases:
        return edit_cases(c.cases);
      case Certificate::Kind::exhausted:
        if (rng_.chance(0.5)) {
          c.exhausted.key = any_index(rng_, h_.key_count());
        } else {
          c.exhausted.until = any_index(rng_, h_.txn_count());
        }
        return;
    }
  }

 private:
  void edit_seen(std::vector<Seen>& all) {
    if (all.empty() || rng_.chance(0.2)) {
      all.insert(all.begin() + below(rng_, all.size() + 1),
                 {any_index(rng_, h_.op_count()), any_index(rng_, h_.key_count()),
                  any_index(rng_, h_.txn_count())});
      return;
    }
    Seen& seen = all[below(rng_, all.size())];
    switch (rng_.below(4)) {
      case 0:
        all.erase(all.begin() + below(rng_, all.size()));
        return;
      case 1:
        seen.op = any_index(rng_, h_.op_count());
        return;
      case 2:
        seen.key = any_index(rng_, h_.key_count());
        return;
      default:
        seen.source = rng_.chance(0.3) ? kNone : any_index(rng_, h_.txn_count());
    }
  }

  void edit_cases(std::vector<Case>& cases) {
    if (cases.empty()) {
      cases.emplace_back();
      return;
    }
    Case& c = cases[below(rng_, cases.size())];
    switch (rng_.below(6)) {
      case 0:
        c.kind = static_cast<Case::Kind>(rng_.below(3));
        return;
      case 1:
        return edit_seen(c.given);
      case 2:
        if (rng_.chance(0.5)) {
          c.cases.push_back(any_index(rng_, static_cast<uint32_t>(cases.size())));
        } else if (!c.cases.empty()) {
          c.cases.erase(c.cases.begin() + below(rng_, c.cases.size()));
        }
        return;
      case 3:
        c.op = any_index(rng_, h_.op_count());
        return;
      case 4:
        cases.erase(cases.begin() + below(rng_, cases.size()));
        return;
      default:
        if (c.kind == Case::Kind::proof) return edit_proof(c.proof);
        if (c.kind == Case::Kind::bad_read) return edit_bad_read(c.bad_read);
        c.key = any_index(rng_, h_.key_count());
    }
  }

  void edit_order(Order& o) {
    auto& events = o.events;
    const size_t n = events.size();
    switch (rng_.below(n < 2 ? 3 : 7)) {
      case 0:
        o.split = !o.split;
        return;
      case 1:
        events.insert(events.begin() + below(rng_, n + 1), any_index(rng_, 2 * h_.txn_count()));
        return;
      case 2:
        if (n > 0) events.erase(events.begin() + below(rng_, n));
        return;
      case 3: {
        const uint32_t i = below(rng_, n - 1);
        std::swap(events[i], events[i + 1]);
        return;
      }
      case 4:
        std::swap(events[below(rng_, n)], events[below(rng_, n)]);
        return;
      case 5: {
        const uint32_t a = below(rng_, n), b = below(rng_, n);
        std::rotate(events.begin() + std::min(a, b), events.begin() + std::max(a, b), events.end());
        return;
      }
      default:
        events[below(rng_, n)] = any_index(rng_, 2 * h_.txn_count());
    }
  }

  void edit_bad_read(BadRead& b) {
    switch (rng_.below(3)) {
      case 0:
        b.anomaly = static_cast<Anomaly>(rng_.below(9));
        return;
      case 1:
        b.read = any_index(rng_, h_.op_count());
        return;
      default:
        b.other = rng_.chance(0.2) ? kNone : any_index(rng_, h_.op_count());
    }
  }

  void edit_proof(Proof& p) {
    if (p.steps.empty() || rng_.chance(0.05)) {
      p.steps.emplace_back();
      return;
    }
    ProofStep& step = p.steps[below(rng_, p.steps.size())];
    switch (rng_.below(9)) {
      case 0:
        step.kind = static_cast<ProofStep::Kind>(rng_.below(3));
        return;
      case 1:
        p.steps.erase(p.steps.begin() + below(rng_, p.steps.size()));
        return;
      case 2:
        std::swap(step, p.steps[below(rng_, p.steps.size())]);
        return;
      case 3:
        step.hints.push_back(any_index(rng_, static_cast<uint32_t>(p.steps.size())));
        return;
      case 4:
        if (!step.hints.empty()) step.hints.erase(step.hints.begin());
        return;
      case 5:
        if (!step.clause.empty() && rng_.chance(0.5)) {
          std::swap(step.clause[0].before, step.clause[0].after);
        } else if (!step.clause.empty()) {
          step.clause.pop_back();
        } else {
          step.clause.push_back({any_index(rng_, h_.txn_count()), any_index(rng_, h_.txn_count())});
        }
        return;
      case 6:
        step.source = any_index(rng_, h_.op_count());
        step.source_is_op = rng_.chance(0.5);
        return;
      default:
        edit_cycle(step.cycle);
    }
  }

  void edit_cycle(std::vector<Edge>& cycle) {
    if (cycle.empty() || rng_.chance(0.1)) {
      Edge edge;
      edge.from = any_index(rng_, h_.txn_count());
      edge.to = any_index(rng_, h_.txn_count());
      edit_edge(edge);
      cycle.insert(cycle.begin() + below(rng_, cycle.size() + 1), edge);
      return;
    }
    Edge& edge = cycle[below(rng_, cycle.size())];
    if (rng_.chance(0.1)) {
      cycle.erase(cycle.begin() + below(rng_, cycle.size()));
    } else if (!edge.path.empty() && rng_.chance(0.4)) {
      edit_edge(edge.path[below(rng_, edge.path.size())]);
    } else {
      edit_edge(edge);
    }
  }

  void edit_edge(Edge& e) {
    switch (rng_.below(8)) {
      case 0:
        e.kind = static_cast<EdgeKind>(rng_.below(6));
        return;
      case 1:
        e.from = any_index(rng_, h_.txn_count());
        return;
      case 2:
        e.to = any_index(rng_, h_.txn_count());
        return;
      case 3:
        e.key = any_index(rng_, h_.key_count());
        return;
      case 4:
        e.via = rng_.chance(0.3) ? kNone : any_index(rng_, h_.txn_count());
        return;
      case 5:
        e.op = rng_.chance(0.5) ? kNone : any_index(rng_, h_.op_count());
        return;
      case 6:
        e.from_write = !e.from_write;
        return;
      default:
        e.to_write = !e.to_write;
    }
  }

  Rng& rng_;
  const History& h_;
};

// One byte, or one number, of the text.
std::string edit_text(Rng& rng, std::string text) {
  const size_t at = rng.below(text.size());
  if (rng.chance(0.3)) {
    text[at] = static_cast<char>(rng.below(128));
    return text;
  }
  const size_t digit = text.find_first_of("0123456789", at);
  if (digit == std::string::npos) return text.substr(0, at);
  size_t end = digit;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  return text.replace(digit, end - digit, std::to_string(rng.below(9)));
}

TEST(Certificates, OfTheCheckerSurviveTheFile) {
  Rng rng(11);
  std::map<Certificate::Kind, int> kinds;
  const int cases = random_cases(1500);
  for (int i = 0; i < cases; ++i) {
    const auto judged = random_case(rng);
    if (!judged) continue;
    CertificateFile file{judged->history.content_hash(), check(judged->history, {}).certificates};
    const std::string text = write_certificates(file, judged->history);
    const Result<CertificateFile> back = read_certificates(text, judged->history, "test");
    ASSERT_TRUE(back.ok()) << back.error().to_string() << "\n" << text;
    ASSERT_EQ(write_certificates(*back, judged->history), text);
    for (size_t c = 0; c < file.certificates.size(); ++c) {
      ++kinds[file.certificates[c].kind];
      ASSERT_EQ(verify(back->certificates[c], judged->history).ok(),
                verify(file.certificates[c], judged->history).ok());
    }
  }
  for (const auto kind :
       {Certificate::Kind::order, Certificate::Kind::bad_read, Certificate::Kind::proof})
    EXPECT_GT(kinds[kind], cases / 15);
}

TEST(Certificates, ChangedAtRandomAreRefusedOrTrue) {
  Rng rng(12);
  int edits = 0, accepted = 0;
  const int cases = random_cases(2500);
  for (int i = 0; i < cases; ++i) {
    const auto judged = random_case(rng);
    if (!judged) continue;
    Editor editor(rng, judged->history);
    for (const Certificate& original : check(judged->history, {}).certificates) {
      for (int e = 0; e < 12; ++e) {
        Certificate changed = original;
        for (uint64_t times = 1 + rng.below(3); times > 0; --times) editor.edit(changed);
        if (rng.chance(0.5)) changed.levels = every_level();
        ++edits;
        accepted += accepted_levels(changed, *judged) > 0;
        if (HasFailure()) return;
      }
    }
  }
  EXPECT_GT(edits, 12 * cases);
  EXPECT_GT(accepted, edits / 100);
  EXPECT_LT(accepted, edits / 2);
}

TEST(Certificates, ChangedAsTextAreRefusedOrTrue) {
  Rng rng(13);
  int edits = 0, read = 0, accepted = 0;
  const int cases = random_cases(1000);
  for (int i = 0; i < cases; ++i) {
    const auto judged = random_case(rng);
    if (!judged) continue;
    const CertificateFile file{judged->history.content_hash(),
                               check(judged->history, {}).certificates};
    const std::string text = write_certificates(file, judged->history);
    for (int e = 0; e < 12; ++e) {
      const auto changed = read_certificates(edit_text(rng, text), judged->history, "test");
      ++edits;
      if (!changed.ok()) continue;
      ++read;
      for (const Certificate& c : changed->certificates)
        accepted += accepted_levels(c, *judged) > 0;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(edits, 5 * cases);
  EXPECT_GT(read, cases);
  EXPECT_GT(accepted, cases);
}

TEST(Certificates, OfOtherHistoriesAreRefusedOrTrue) {
  Rng rng(14);
  std::vector<Certificate> previous;
  int accepted = 0;
  const int cases = random_cases(2000);
  for (int i = 0; i < cases; ++i) {
    const auto judged = random_case(rng);
    if (!judged) continue;
    for (Certificate& c : previous) {
      c.levels = every_level();
      accepted += accepted_levels(c, *judged) > 0;
    }
    if (HasFailure()) return;
    previous = check(judged->history, {}).certificates;
  }
  EXPECT_GT(accepted, 0);
}

Certificate any_order(Rng& rng, const History& h) {
  Certificate c;
  c.levels = every_level();
  c.order.split = rng.chance(0.6);
  auto& events = c.order.events;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    const bool present = h.status(t) == TxnStatus::committed ||
                         (h.status(t) == TxnStatus::unknown && rng.chance(0.6));
    if (present) events.push_back(t);
  }
  // Near file order as often as far from it.
  for (uint64_t swaps = rng.below(2 * events.size() + 1); swaps > 0 && !events.empty(); --swaps)
    std::swap(events[rng.below(events.size())], events[rng.below(events.size())]);
  if (!c.order.split) return c;
  std::vector<uint32_t> split;
  for (uint32_t t : events) split.insert(split.end(), {2 * t, 2 * t + 1});
  for (size_t i = 1; i < split.size(); ++i)
    if (split[i] / 2 != split[i - 1] / 2 && rng.chance(0.5)) std::swap(split[i], split[i - 1]);
  events = std::move(split);
  return c;
}

TEST(Certificates, AnyOrderIsRefusedOrTrue) {
  Rng rng(15);
  int accepted = 0;
  const int cases = random_cases(2000);
  for (int i = 0; i < cases; ++i) {
    const auto judged = random_case(rng);
    if (!judged) continue;
    for (int k = 0; k < 20; ++k)
      accepted += accepted_levels(any_order(rng, judged->history), *judged) > 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(accepted, cases / 2);
}

// Edges that a careless prover might believe in: everything that has the right shape.
class Edges {
 public:
  Edges(Rng& rng, const History& history) : rng_(rng), h_(history) {
    for (TxnId a = 0; a < h_.txn_count(); ++a)
      for (TxnId b = 0; b < h_.txn_count(); ++b)
        if (a != b) between(a, b);
    add_forced();
  }

  std::vector<Edge> any_cycle() {
    std::vector<Edge> cycle = {any(all_)};
    while (cycle.size() < 4 && cycle.back().to != cycle.front().from) {
      std::vector<Edge> next;
      const bool must_close = cycle.size() == 3 || rng_.chance(0.5);
      for (const Edge& e : all_)
        if (e.from == cycle.back().to && (!must_close || e.to == cycle.front().from))
          next.push_back(e);
      if (next.empty()) return cycle;
      cycle.push_back(any(next));
    }
    return cycle;
  }
  bool empty() const { return all_.empty(); }

 private:
  const Edge& any(const std::vector<Edge>& edges) { return edges[rng_.below(edges.size())]; }

  bool writes(TxnId t, KeyId k, VersionId v = kNone) const {
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation op = h_.op(i);
      const bool write = op.kind != OpKind::read && op.kind != OpKind::read_list &&
                         op.kind != OpKind::range && op.effect;
      if (write && op.key == k && (v == kNone || op.version == v)) return true;
    }
    return false;
  }

  // Some read of `k` by `t` returned what `writer` (kNone: the initial state) might have written.
  bool reads(TxnId t, KeyId k, TxnId writer) const {
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation op = h_.op(i);
      if (op.kind == OpKind::range || op.key != k || writes(t, k, op.version)) continue;
      if (writer == kNone ? h_.is_initial(op.version) : writes(writer, k, op.version)) return true;
    }
    return false;
  }

  void add(EdgeKind kind, TxnId a, TxnId b, KeyId k = kNone, TxnId via = kNone) {
    Edge e;
    e.kind = kind;
    e.from = a;
    e.to = b;
    e.key = k;
    e.via = via;
    all_.push_back(e);
  }

  void between(TxnId a, TxnId b) {
    if (h_.session(a) == h_.session(b)) add(EdgeKind::session, a, b);
    for (int sides = 0; sides < 4; ++sides) {
      if (rng_.chance(0.8)) continue;  // else they would be most of all edges
      add(EdgeKind::real_time, a, b);
      all_.back().from_write = sides & 1;
      all_.back().to_write = sides & 2;
    }
    for (KeyId k = 0; k < h_.key_count(); ++k) {
      if (writes(a, k) && writes(b, k)) add(EdgeKind::write_order, a, b, k);
      if (reads(b, k, a)) add(EdgeKind::read_from, a, b, k);
      if (!writes(b, k)) continue;
      if (reads(a, k, kNone)) add(EdgeKind::anti, a, b, k);
      for (TxnId via = 0; via < h_.txn_count(); ++via)
        if (reads(a, k, via)) add(EdgeKind::anti, a, b, k, via);
    }
  }

  void add_forced() {
    const std::vector<Edge> plain = all_;
    for (const Edge& order : plain) {
      if (order.kind != EdgeKind::write_order) continue;
      for (const Edge& last : plain) {
        if (last.kind != EdgeKind::session && last.kind != EdgeKind::read_from) continue;
        Edge e = order;
        e.kind = EdgeKind::forced;
        e.via = last.to;
        if (last.from == order.from) e.path = {last};
        const Edge& first = any(plain);
        if (e.path.empty() && first.from == order.from && first.to == last.from)
          e.path = {first, last};
        if (!e.path.empty()) all_.push_back(e);
      }
    }
  }

  Rng& rng_;
  const History& h_;
  std::vector<Edge> all_;
};

Certificate any_refutation(Rng& rng, const History& h, Edges& edges) {
  Certificate c;
  c.kind = Certificate::Kind::proof;
  c.levels = every_level();
  for (uint64_t cycles = 1 + rng.below(3); cycles > 0; --cycles) {
    ProofStep step;
    step.cycle = edges.any_cycle();
    c.proof.steps.push_back(std::move(step));
  }
  for (OpId i = 0; i < h.op_count(); ++i) {
    if (h.op(i).kind != OpKind::read_list || rng.chance(0.5)) continue;
    ProofStep fact;
    fact.kind = ProofStep::Kind::fact;
    fact.clause = {{below(rng, h.txn_count()), below(rng, h.txn_count())}};
    fact.source = i;
    fact.source_is_op = true;
    c.proof.steps.push_back(std::move(fact));
  }
  if (c.proof.steps.size() > 1) {
    ProofStep last;
    last.kind = ProofStep::Kind::derived;
    for (uint32_t s = 0; s < c.proof.steps.size(); ++s) last.hints.push_back(s);
    c.proof.steps.push_back(std::move(last));
  }
  return c;
}

TEST(Certificates, AnyRefutationIsRefusedOrTrue) {
  Rng rng(16);
  int accepted = 0;
  const int cases = random_cases(1500);
  for (int i = 0; i < cases; ++i) {
    const auto judged = random_case(rng);
    if (!judged || judged->history.txn_count() < 2) continue;
    Edges edges(rng, judged->history);
    if (edges.empty()) continue;
    for (int k = 0; k < 60; ++k)
      accepted += accepted_levels(any_refutation(rng, judged->history, edges), *judged) > 0;
    if (HasFailure()) return;
  }
  EXPECT_GT(accepted, cases / 8);
}

TEST(Certificates, AnyBadReadIsRefusedOrTrue) {
  Rng rng(17);
  int accepted = 0;
  const int cases = random_cases(1500);
  for (int i = 0; i < cases; ++i) {
    const auto judged = random_case(rng);
    if (!judged) continue;
    const History& h = judged->history;
    Certificate c;
    c.kind = Certificate::Kind::bad_read;
    c.levels = every_level();
    for (c.bad_read.read = 0; c.bad_read.read < h.op_count(); ++c.bad_read.read) {
      // Most histories have no bad read at all.
      const bool bad =
          judged->truth[static_cast<size_t>(LevelId::read_committed)] == Outcome::violated;
      for (int k = bad ? 30 : 2; k > 0; --k) {
        c.bad_read.anomaly = static_cast<Anomaly>(1 + rng.below(7));
        c.bad_read.other = rng.chance(0.2) ? kNone : below(rng, h.op_count());
        accepted += accepted_levels(c, *judged) > 0;
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(accepted, cases / 30);
}

}  // namespace
}  // namespace assay
