#include "claims.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "assay/certificate.h"
#include "assay/verify.h"
#include "certificate_edits.h"
#include "made_up_certificates.h"
#include "oracle/oracle.h"
#include "oracle/random_draft.h"

namespace assay::internal {
namespace {

using Lines = std::vector<DraftOrder>;
using Truth = std::array<Outcome, kLevelCount>;

bool is_write(const Operation& op) {
  return op.kind != OpKind::read && op.kind != OpKind::read_list && op.kind != OpKind::range &&
         op.effect;
}

// The value that a transaction wrote last to the key.
std::optional<int64_t> last_value(const History& h, TxnId t, KeyId key) {
  for (OpId i = h.end_op(t); i-- > h.first_op(t);) {
    const Operation op = h.op(i);
    if (!is_write(op) || op.key != key) continue;
    const ValueView value = h.version_value(op.version);
    if (value.type == ValueView::Type::integer) return value.integer;
    return std::nullopt;
  }
  return std::nullopt;
}

// The order that a proposition speaks about, as a line of the history.
std::optional<DraftOrder> line(const History& h, TxnId before, TxnId after, KeyId key) {
  const auto first = last_value(h, before, key), second = last_value(h, after, key);
  if (!first || !second) return std::nullopt;
  const std::string name = h.key(key).to_string();
  const int number = name.size() == 1 ? name[0] - 'x' : std::stoi(name.substr(1));
  return DraftOrder{number, {*first, *second}};
}

ProofStep fact_step(Literal before, uint32_t source, bool source_is_op) {
  ProofStep step;
  step.kind = ProofStep::Kind::fact;
  step.clause = {before};
  step.source = source;
  step.source_is_op = source_is_op;
  return step;
}

ProofStep empty_clause(size_t steps) {
  ProofStep last;
  last.kind = ProofStep::Kind::derived;
  for (uint32_t i = 0; i < steps; ++i) last.hints.push_back(i);
  return last;
}

}  // namespace

// The claims about one history.
class Claims::Offer {
 public:
  Offer(Claims& claims, const Draft& draft, const History& history)
      : claims_(claims), rng_(claims.rng_), draft_(draft), h_(history) {}

  bool all() {
    return bad_reads() && facts() && cycles() && sources() && aggregates() && blocks() &&
           orders() && exhausted();
  }

 private:
  // What the oracle says of the history with some lines added.
  const Truth& truth(const Lines& added) {
    std::vector<int64_t> key;
    for (const DraftOrder& order : added) {
      key.push_back(order.key);
      key.insert(key.end(), order.values.begin(), order.values.end());
    }
    const auto [it, fresh] = truths_.try_emplace(std::move(key));
    if (fresh) it->second = oracle::decide_all(*with(added).history(), all_levels());
    return it->second;
  }

  Draft with(const Lines& added) const {
    Draft more = draft_;
    more.orders.insert(more.orders.end(), added.begin(), added.end());
    return more;
  }

  // Offers the certificate for each level by itself.
  bool offer(const char* kind, Certificate c, const Lines& added = {}) {
    ClaimCounts& counts = claims_.counts_[kind];
    std::optional<History> more;
    if (!added.empty()) more = std::move(*with(added).history());
    const History& history = more ? *more : h_;
    for (const LevelInfo& level : all_levels()) {
      c.levels = {level.id};
      ++counts.offered;
      if (!verify(c, history).ok()) continue;
      ++counts.accepted;
      const Outcome right = truth(added)[static_cast<size_t>(level.id)];
      if (right == Outcome::unknown) continue;
      ++counts.judged;
      if (right == c.outcome()) continue;
      claims_.lie_ = std::string(level.name) + " is " + std::string(outcome_name(right)) + "\n" +
                     with(added).text() +
                     write_certificates({history.content_hash(), {c}}, history);
      return false;
    }
    return true;
  }

  bool bad_reads() {
    Certificate c;
    c.kind = Certificate::Kind::bad_read;
    for (const Anomaly anomaly : kTwoOperations) {
      c.bad_read.anomaly = anomaly;
      for (c.bad_read.read = 0; c.bad_read.read < h_.op_count(); ++c.bad_read.read)
        for (uint32_t other = 0; other <= h_.op_count(); ++other) {
          c.bad_read.other = other == h_.op_count() ? kNone : other;
          if (!offer("bad reads", c)) return false;
        }
    }
    return true;
  }

  bool facts() {
    for (OpId op = 0; op < h_.op_count(); ++op)
      if (h_.op(op).kind == OpKind::read_list && !facts_of(op, true, h_.op(op).key)) return false;
    for (uint32_t i = 0; i < h_.known_orders().size(); ++i)
      if (!facts_of(i, false, h_.known_orders()[i].key)) return false;
    return true;
  }

  bool facts_of(uint32_t source, bool source_is_op, KeyId key) {
    for (TxnId a = 0; a < h_.txn_count(); ++a)
      for (TxnId b = 0; b < h_.txn_count(); ++b) {
        const auto opposite = line(h_, b, a, key);
        if (a == b || !opposite) continue;
        Certificate c;
        c.kind = Certificate::Kind::proof;
        const auto added = static_cast<uint32_t>(h_.known_orders().size());
        c.proof.steps = {fact_step({a, b}, source, source_is_op), fact_step({b, a}, added, false),
                         empty_clause(2)};
        if (!offer("facts", c, {*opposite})) return false;
      }
    return true;
  }

  // What a cycle assumes of orders of versions.
  static std::vector<std::pair<Literal, KeyId>> assumptions(const std::vector<Edge>& cycle) {
    std::vector<std::pair<Literal, KeyId>> all;
    for (const Edge& e : cycle) {
      if (e.kind == EdgeKind::write_dependency) all.push_back({{e.from, e.to}, e.key});
      if (e.kind == EdgeKind::anti_dependency && e.via != kNone)
        all.push_back({{e.via, e.to}, e.key});
    }
    return all;
  }

  // The certificate that the cycle is impossible, with these facts for what it assumes.
  static Certificate refutation(const std::vector<Edge>& cycle, std::vector<ProofStep> facts) {
    Certificate c;
    c.kind = Certificate::Kind::proof;
    c.proof.steps = std::move(facts);
    c.proof.steps.emplace_back().cycle = cycle;
    if (c.proof.steps.size() > 1) c.proof.steps.push_back(empty_clause(c.proof.steps.size()));
    return c;
  }

  bool offer_cycle(const std::vector<Edge>& cycle) {
    return offer_with_lines(cycle) && offer_with_sources(cycle) && offer_what_was_seen(cycle);
  }

  // Lines that state the orders which the cycle assumes, and facts that name them. False if no line
  // can say one.
  bool state_orders(const std::vector<Edge>& cycle, Lines& added,
                    std::vector<ProofStep>& facts) const {
    for (const auto& [order, key] : assumptions(cycle)) {
      const auto stated =
          order.from == order.to ? std::nullopt : line(h_, order.from, order.to, key);
      if (!stated) return false;
      facts.push_back(
          fact_step(order, static_cast<uint32_t>(h_.known_orders().size() + added.size()), false));
      added.push_back(*stated);
    }
    return true;
  }

  // What it assumes is stated by added lines, where a line can say it.
  bool offer_with_lines(const std::vector<Edge>& cycle) {
    Lines added;
    std::vector<ProofStep> facts;
    if (!state_orders(cycle, added, facts)) return true;
    return offer("cycles", refutation(cycle, std::move(facts)), added);
  }

  // What it assumes is a fact from one of the lists or stated orders that are there.
  bool offer_with_sources(const std::vector<Edge>& cycle) {
    const auto assumed = assumptions(cycle);
    if (assumed.empty()) return true;
    const auto offer_from = [&](uint32_t source, bool is_op) {
      std::vector<ProofStep> facts;
      for (const auto& [before, key] : assumed) facts.push_back(fact_step(before, source, is_op));
      return offer("cycles", refutation(cycle, std::move(facts)));
    };
    for (OpId op = 0; op < h_.op_count(); ++op)
      if (h_.op(op).kind == OpKind::read_list && !offer_from(op, true)) return false;
    for (uint32_t i = 0; i < h_.known_orders().size(); ++i)
      if (!offer_from(i, false)) return false;
    return true;
  }

  // What it says of reads is given, and that each of them has no other source; and whom they saw
  // took effect.
  bool offer_what_was_seen(const std::vector<Edge>& cycle) {
    Lines added;
    std::vector<ProofStep> facts;
    if (!state_orders(cycle, added, facts)) return true;
    std::vector<Literal> given;
    const bool each_operation = rng_.chance(0.5);
    const auto give = [&](TxnId reader, KeyId key, TxnId source, OpId op) {
      if (op == kNone) op = looks_at(reader, key);
      ProofStep& only = facts.emplace_back();
      only.kind = ProofStep::Kind::sources;
      only.source = op;
      only.key = key;
      only.clause = {Literal::seen(reader, key, source, each_operation ? op : kNone)};
      given.push_back(only.clause[0]);
      if (source == kNone || h_.status(source) != TxnStatus::unknown) return;
      ProofStep& took = facts.emplace_back();
      took.kind = ProofStep::Kind::effect;
      took.clause = {!given.back(), Literal::effect(source)};
      given.push_back(Literal::effect(source));
    };
    for (const Edge& e : cycle) {
      if (e.kind == EdgeKind::read_dependency) give(e.to, e.key, e.from, e.op);
      if (e.kind == EdgeKind::anti_dependency) give(e.from, e.key, e.via, e.op);
      if (e.kind == EdgeKind::forced) give(e.via, e.key, e.to, e.op);
      for (const Edge& part : e.path)
        if (part.kind == EdgeKind::read_dependency) give(part.to, part.key, part.from, part.op);
    }
    Certificate c = refutation(cycle, std::move(facts));
    for (ProofStep& step : c.proof.steps)
      if (!step.cycle.empty()) step.given = given;
    return offer("cycles of what was seen", c, added);
  }

  OpId looks_at(TxnId t, KeyId key) const {
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i)
      if (h_.op(i).kind == OpKind::range || h_.op(i).key == key) return i;
    return kNone;
  }

  bool cycles() {
    const std::vector<Edge> edges = every_edge(h_);
    std::vector<std::vector<size_t>> from(h_.txn_count());
    for (size_t i = 0; i < edges.size(); ++i) from[edges[i].from].push_back(i);
    uint64_t offered = 0;
    // Short ones first. Each starts at the first of its transactions, for it may be turned.
    for (size_t length = 2; length <= 4; ++length) {
      std::vector<size_t> path;
      if (!extend(edges, from, length, path, offered)) return false;
    }
    return sampled(edges, from);
  }

  // Every cycle of this length, until as many as are wanted have been offered.
  bool extend(const std::vector<Edge>& edges, const std::vector<std::vector<size_t>>& from,
              size_t length, std::vector<size_t>& path, uint64_t& offered) {
    if (offered > claims_.most_cycles_) return true;
    if (path.size() == length) {
      if (edges[path.back()].to != edges[path.front()].from) return true;
      ++offered;
      std::vector<Edge> cycle;
      for (const size_t i : path) cycle.push_back(edges[i]);
      return offer_cycle(cycle);
    }
    if (path.empty()) {
      for (size_t i = 0; i < edges.size(); ++i) {
        path = {i};
        if (!extend(edges, from, length, path, offered)) return false;
      }
      path.clear();
      return true;
    }
    for (const size_t next : from[edges[path.back()].to]) {
      if (edges[next].from < edges[path.front()].from) continue;
      path.push_back(next);
      if (!extend(edges, from, length, path, offered)) return false;
      path.pop_back();
    }
    return true;
  }

  // Longer ones, drawn, for histories in which not all fit.
  bool sampled(const std::vector<Edge>& edges, const std::vector<std::vector<size_t>>& from) {
    for (uint64_t tries = 0; tries < claims_.most_cycles_ && !edges.empty(); ++tries) {
      std::vector<Edge> cycle{edges[rng_.below(edges.size())]};
      while (cycle.size() < 4 && cycle.back().to != cycle.front().from) {
        const std::vector<size_t>& next = from[cycle.back().to];
        if (next.empty()) break;
        cycle.push_back(edges[next[rng_.below(next.size())]]);
      }
      if (cycle.back().to != cycle.front().from) continue;
      if (!offer_cycle(cycle)) return false;
    }
    return true;
  }

  // What each operation saw of each key: nobody's, or that of one of a few, each refuted by a
  // random cycle.
  bool sources() {
    const std::vector<Edge> edges = every_edge(h_);
    for (OpId op = 0; op < h_.op_count(); ++op)
      for (KeyId key = 0; key < h_.key_count(); ++key) {
        Certificate c;
        c.kind = Certificate::Kind::proof;
        ProofStep& nobody = c.proof.steps.emplace_back();
        nobody.kind = ProofStep::Kind::sources;
        nobody.source = op;
        nobody.key = key;
        if (!offer("sources", c)) return false;
        for (int tries = 0; tries < 3 && !edges.empty(); ++tries)
          if (!offer("sources", refute_each(of_each_source(op, key), edges))) return false;
      }
    return true;
  }

  // That what an aggregate gives is otherwise unless it saw one of a few states of its keys, each
  // refuted by a random cycle.
  bool aggregates() {
    const std::vector<Edge> edges = every_edge(h_);
    for (OpId op = 0; op < h_.op_count(); ++op) {
      if (h_.op(op).kind != OpKind::range || h_.selected(op).aggregate == kNone) continue;
      for (uint64_t tries = 0; tries < std::max(kLeastBlocks, claims_.most_cycles_ / 10); ++tries)
        if (!offer("aggregates", refute_each(of_aggregate(op), edges))) return false;
    }
    return true;
  }

  ProofStep of_aggregate(OpId op) {
    ProofStep one_of;
    one_of.kind = ProofStep::Kind::aggregate;
    one_of.source = op;
    const OpId only = rng_.chance(0.2) ? op : kNone;
    const double share = rng_.chance(0.5) ? 0.2 : 0.7;
    for (KeyId key = 0; key < h_.key_count(); ++key)
      for (TxnId source = 0; source <= h_.txn_count(); ++source)
        if (rng_.chance(share))
          one_of.clause.push_back(
              Literal::seen(h_.txn_of(op), key, source == h_.txn_count() ? kNone : source, only));
    return one_of;
  }

  ProofStep of_each_source(OpId op, KeyId key) {
    ProofStep one_of;
    one_of.kind = ProofStep::Kind::sources;
    one_of.source = op;
    one_of.key = key;
    const OpId only = rng_.chance(0.5) ? op : kNone;
    for (TxnId source = 0; source <= h_.txn_count(); ++source)
      if (source == h_.txn_count() || h_.status(source) != TxnStatus::aborted)
        one_of.clause.push_back(
            Literal::seen(h_.txn_of(op), key, source == h_.txn_count() ? kNone : source, only));
    return one_of;
  }

  Certificate refute_each(ProofStep one_of, const std::vector<Edge>& edges) {
    Certificate c;
    c.kind = Certificate::Kind::proof;
    std::vector<ProofStep>& steps = c.proof.steps;
    for (size_t i = 0; i < one_of.clause.size() && !edges.empty(); ++i) {
      ProofStep& step = steps.emplace_back();
      step.given = {one_of.clause[i]};
      step.cycle = {edges[rng_.below(edges.size())]};
      for (const Edge& e : edges)
        if (e.from == step.cycle[0].to && e.to == step.cycle[0].from && rng_.chance(0.2)) {
          step.cycle.push_back(e);
          break;
        }
    }
    const bool nothing = one_of.clause.empty();
    steps.push_back(std::move(one_of));
    if (!nothing) steps.push_back(empty_clause(steps.size()));
    return c;
  }

  static constexpr uint64_t kLeastBlocks = 40;  // of a list; few are accepted

  // What lists are made of: what must be in them, and what this excludes.
  bool blocks() {
    const std::vector<Edge> edges = every_edge(h_);
    for (OpId op = 0; op < h_.op_count(); ++op) {
      if (h_.op(op).kind != OpKind::read_list) continue;
      for (uint64_t tries = 0; tries < std::max(kLeastBlocks, claims_.most_cycles_ / 10); ++tries)
        if (!offer("blocks", about_blocks(op, edges))) return false;
    }
    return true;
  }

  ProofStep blocks_step(OpId list, std::vector<Literal> clause, uint32_t element = kNone) const {
    ProofStep step;
    step.kind = ProofStep::Kind::blocks;
    step.clause = std::move(clause);
    step.source = list;
    step.element = element;
    return step;
  }

  // That an element is of one transaction, or that one transaction's block is somewhere.
  ProofStep placed(OpId list, const Literal& block) {
    if (rng_.chance(0.3)) return blocks_step(list, {block});
    return blocks_step(list, {block}, block.element + (rng_.chance(0.3) ? 1 : 0));
  }

  Certificate about_blocks(OpId list, const std::vector<Edge>& edges) {
    Certificate c;
    c.kind = Certificate::Kind::proof;
    std::vector<ProofStep>& steps = c.proof.steps;
    const auto any_block = [&] {
      const auto most = static_cast<uint32_t>(h_.operands(list).size()) + 1;
      return Literal::block(h_.txn_of(list), h_.op(list).key, list, below(rng_, h_.txn_count()),
                            below(rng_, most));
    };
    const Literal a = any_block(), b = any_block();
    if (rng_.chance(0.1)) {
      steps.push_back(blocks_step(list, {}, a.element));
      return c;
    }
    steps.push_back(placed(list, a));
    if (rng_.chance(0.2)) {
      steps.push_back(blocks_step(below(rng_, h_.op_count()), {!a}));
    } else {
      steps.push_back(placed(list, b));
      steps.push_back(blocks_step(list, {!a, !b}));
      if (rng_.chance(0.6) && !edges.empty()) {
        if (a.from != b.from && rng_.chance(0.7))
          steps.back().clause.push_back(Literal::order(a.from, b.from));
        else
          steps.pop_back();
        ProofStep& cycle = steps.emplace_back();
        cycle.given = {a, b};
        cycle.cycle = {edges[rng_.below(edges.size())]};
        for (const Edge& e : edges)
          if (e.from == cycle.cycle[0].to && e.to == cycle.cycle[0].from && rng_.chance(0.4)) {
            cycle.cycle.push_back(e);
            break;
          }
      }
    }
    steps.push_back(empty_clause(steps.size()));
    return c;
  }

  bool orders() {
    for (int tries = 0; tries < 12; ++tries) {
      Certificate c = any_order(rng_, h_);
      while (!c.order.split && rng_.chance(0.4) && h_.op_count() > 0)
        c.order.sources.push_back({below(rng_, h_.op_count()), below(rng_, h_.key_count()),
                                   rng_.chance(0.3) ? kNone : below(rng_, h_.txn_count())});
      std::sort(c.order.sources.begin(), c.order.sources.end());
      if (!offer("orders", c)) return false;
    }
    return true;
  }

  bool exhausted() {
    Certificate c;
    c.kind = Certificate::Kind::exhausted;
    for (c.exhausted.key = 0; c.exhausted.key < h_.key_count(); ++c.exhausted.key)
      for (c.exhausted.until = 0; c.exhausted.until < h_.txn_count(); ++c.exhausted.until)
        if (!offer("exhausted", c)) return false;
    return true;
  }

  static constexpr Anomaly kTwoOperations[] = {
      Anomaly::thin_air_read,       Anomaly::aborted_read,     Anomaly::future_read,
      Anomaly::not_my_last_write,   Anomaly::not_my_own_write, Anomaly::intermediate_read,
      Anomaly::non_repeatable_read, Anomaly::lost_update};

  Claims& claims_;
  Rng& rng_;
  const Draft& draft_;
  const History& h_;
  std::map<std::vector<int64_t>, Truth> truths_;
};

bool Claims::offer_all(const Draft& draft) {
  const Result<History> history = draft.history();
  if (!history.ok() || history->op_count() == 0) return true;
  return Offer(*this, draft, *history).all();
}

ClaimCounts Claims::total() const {
  ClaimCounts sum;
  for (const auto& [kind, counts] : counts_) {
    sum.offered += counts.offered;
    sum.accepted += counts.accepted;
    sum.judged += counts.judged;
  }
  return sum;
}

Draft claim_history(Rng& rng, uint64_t number) {
  static const RandomShape kShapes[] = {
      {.max_sessions = 3, .max_txns = 4, .max_keys = 2, .max_ops = 3},
      {.max_sessions = 3, .max_txns = 4, .max_keys = 2, .max_ops = 2, .duplicates = 1},
      {.max_sessions = 3, .max_txns = 4, .max_keys = 1, .max_ops = 2, .lists = 1},
      {.max_sessions = 3, .max_txns = 4, .max_keys = 1, .max_ops = 2, .duplicates = 1, .lists = 1},
      {.max_sessions = 3, .max_txns = 4, .max_keys = 2, .max_ops = 2, .duplicates = 0.2, .rich = 1},
      {.max_sessions = 3, .max_txns = 4, .max_keys = 2, .max_ops = 2, .ordered = 1},
      {.max_sessions = 3,
       .max_txns = 4,
       .max_keys = 2,
       .max_ops = 2,
       .lists = 0.6,
       .rich = 0.3,
       .loose = 1},
      {.max_sessions = 4, .max_txns = 5, .max_keys = 1, .timed = 1, .rich = 0.5, .single_op = 1},
      {.max_sessions = 3,
       .max_txns = 4,
       .max_keys = 2,
       .max_ops = 2,
       .duplicates = 0.2,
       .rich = 1,
       .predicates = 0.8,
       .aggregates = 0.8},
  };
  return random_draft(rng, kShapes[number % std::size(kShapes)]);
}

}  // namespace assay::internal
