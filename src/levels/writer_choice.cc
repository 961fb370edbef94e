// Deciding a weak level, or one of Adya's, when reads have several possible writers.
//
//   s1: { w(x,1) }   s2: { w(x,1) w(y,2) }   s3: { r(x,1) r(y,null) }
//   read atomic: x from s2 would show y as well, so x is from s1.
//
// These levels look at who read from whom and not only at what an order of events explains, so the source is part of
// the claim. Every choice of sources turns the history into an ordinary one. Trying all is out of the question, so reads
// are left open at first: without them the history is less demanding, and what refutes it then refutes it with any
// choice. If that does not settle it, every open read gets a source, first the one nearest in the order that was found.
// A refutation names the reads it used; the search goes back to the last of these and tries its next source. When it has
// none left, the refutations of all its sources together refute what they were given besides. That is a resolution step,
// and the certificate consists of these steps and the proofs they rest on.
//
// At the levels with a total order of events sources are choices of the search (choices.cc); of those only a read that
// nobody can have left comes here.
//
// Cost: a check for each choice tried, exponential at worst; bounded by an effort that depends on the history alone.

#include "levels/writer_choice.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "infer/hint.h"
#include "levels/adya.h"
#include "levels/weak.h"

namespace assay {
namespace {

// About how many operations all checks together may look at, and how many checks there are at least and at most.
constexpr uint64_t kEffort = 1'500'000;
constexpr uint64_t kLeastChecks = 50;
constexpr uint64_t kMostChecks = 20'000;

class ChoiceSearch {
 public:
  ChoiceSearch(const History& history, const LevelInfo& level, Stages& stages, Budget& budget)
      : stages_(stages),
        h_(history),
        level_(level),
        budget_(budget),
        open_(history, level.repeatable && level.events != EventModel::adya),
        most_checks_(std::clamp<uint64_t>(kEffort / (uint64_t{h_.op_count()} + 1), kLeastChecks,
                                          kMostChecks)) {}

  ChosenVerdict run() {
    while (!done_) {
      if (++checks_ > most_checks_) {
        give_up("reads could come from several writers, and " + std::to_string(most_checks_) +
                " choices did not settle which");
        break;
      }
      check();
    }
    stages_.count("choices of writers", checks_);
    return std::move(verdict_);
  }

 private:
  struct Decision {
    uint32_t read;                // index into open_.all()
    std::vector<TxnId> sources;   // in the order in which they are tried
    size_t next = 0;              // the one being tried
    std::vector<uint32_t> cases;  // refutations of those before
  };

  void give_up(std::string reason) {
    verdict_.reason = std::move(reason);
    done_ = true;
  }

  // Assumptions for each operation that sees the state of a decided read.
  std::vector<Seen> assumptions() const {
    std::vector<Seen> all;
    for (const Decision& d : decisions_)
      for (OpId op : open_.all()[d.read].ops)
        all.push_back({op, open_.all()[d.read].key, d.sources[d.next]});
    std::sort(all.begin(), all.end());
    return all;
  }

  // One check of the history with the writers chosen so far.
  void check() {
    assumed_ = assumptions();
    const ReadsFrom rf = match_reads(h_, assumed_, budget_);
    if (budget_.exhausted_now()) return give_up(budget_.reason());
    open_.add(rf);
    if (!open_.obstacle().empty()) return give_up(open_.obstacle());
    const bool repeatable = level_.repeatable;
    if (rf.bad_read.anomaly != Anomaly::none ||
        (repeatable && rf.non_repeatable.anomaly != Anomaly::none)) {
      Case bad;
      bad.kind = Case::Kind::bad_read;
      bad.bad_read = rf.bad_read.anomaly != Anomaly::none ? rf.bad_read : rf.non_repeatable;
      bad.given = assumptions_about_outcomes();
      return refute(add_case(std::move(bad)));
    }
    if (decide_forced(rf)) return;
    LevelVerdict found = decide(rf);
    switch (found.outcome) {
      case Outcome::unknown:
        return give_up(std::move(found.reason));
      case Outcome::violated: {
        Case refuted;
        refuted.given = used_by(found.proof);
        refuted.proof = std::move(found.proof);
        return refute(add_case(std::move(refuted)));
      }
      case Outcome::satisfied:
        if (!choose_all(rf, found.order)) satisfied(std::move(found.order));
    }
  }

  LevelVerdict decide(const ReadsFrom& rf) {
    const Hint hint = make_hint(h_, rf);
    if (level_.events == EventModel::adya)
      return AdyaLevels(h_, rf, hint).decide(level_.id, budget_);
    assert(level_.events == EventModel::weak);
    return WeakLevels(h_, rf, hint).decide(level_.id, budget_);
  }

  void satisfied(Order order) {
    verdict_.outcome = Outcome::satisfied;
    verdict_.order = std::move(order);
    verdict_.order.sources = assumed_;
    done_ = true;
  }

  bool decided(uint32_t read) const { return read < is_decided_.size() && is_decided_[read]; }

  void push(uint32_t read, std::vector<TxnId> sources) {
    is_decided_.resize(open_.all().size());
    is_decided_[read] = true;
    decisions_.push_back({read, std::move(sources), 0, {}});
  }

  // Reads with one possible writer, or none, are no choice. True if there was one.
  bool decide_forced(const ReadsFrom& rf) {
    bool any = false;
    for (uint32_t read = 0; read < open_.all().size(); ++read) {
      const OpenRead& open = open_.all()[read];
      if (decided(read) || rf.node[open.reader] == kNone || open.sources.size() > 1) continue;
      any = true;
      if (open.sources.empty()) {
        Case dirty;
        dirty.kind = Case::Kind::bad_read;
        dirty.bad_read = open_.dirty_read(open);
        const bool named = dirty.bad_read.anomaly != Anomaly::none;
        if (named) dirty.given = assumptions_about_outcomes();
        refute(named ? add_case(std::move(dirty)) : split(open, {}));
        return true;
      }
      push(read, open.sources);
    }
    return any;
  }

  // Chooses sources for all reads that have none yet. False if there are no such reads.
  bool choose_all(const ReadsFrom& rf, const Order& order) {
    std::vector<int64_t> place(h_.txn_count(), INT64_MAX);
    for (size_t i = 0; i < order.events.size(); ++i)
      place[order.events[i]] = static_cast<int64_t>(i);
    bool any = false;
    for (uint32_t read = 0; read < open_.all().size(); ++read) {
      if (decided(read) || rf.node[open_.all()[read].reader] == kNone) continue;
      any = true;
      const OpenRead& open = open_.all()[read];
      const int64_t at = place[open.reader];
      // Those before the read, the last first; then those after it, the first first.
      const auto rank = [&](TxnId source) {
        const int64_t p = source == kNone ? -1 : place[source];
        return p <= at ? std::pair{false, at - p} : std::pair{true, p};
      };
      std::vector<TxnId> sources = open.sources;
      std::stable_sort(sources.begin(), sources.end(),
                       [&](TxnId a, TxnId b) { return rank(a) < rank(b); });
      push(read, std::move(sources));
    }
    return any;
  }

  uint32_t add_case(Case c) {
    cases_.push_back(std::move(c));
    return static_cast<uint32_t>(cases_.size() - 1);
  }

  // `refutation` holds for its given assumptions: goes back to the last decision among them.
  void refute(uint32_t refutation) {
    while (!decisions_.empty()) {
      Decision& last = decisions_.back();
      const OpenRead& read = open_.all()[last.read];
      const Seen own{read.op, read.key, last.sources[last.next]};
      const std::vector<Seen>& given = cases_[refutation].given;
      if (std::binary_search(given.begin(), given.end(), own)) {
        last.cases.push_back(refutation);
        if (++last.next < last.sources.size()) return;
        refutation = split(read, last.cases);
      }
      is_decided_[last.read] = false;
      decisions_.pop_back();
    }
    violated(refutation);
  }

  // All writers of a read are refuted: what the refutations need besides is refuted.
  uint32_t split(const OpenRead& read, std::vector<uint32_t> cases) {
    Case c;
    c.kind = Case::Kind::split;
    c.op = read.op;
    c.key = read.key;
    const auto need = [&](const std::vector<Seen>& given) {
      for (const Seen& seen : given)
        if (seen.op != read.op || seen.key != read.key) c.given.push_back(seen);
    };
    for (uint32_t i : cases) need(cases_[i].given);
    // That the reader took effect may itself be assumed.
    if (h_.status(read.reader) != TxnStatus::committed) need(assumptions_about_outcomes());
    std::sort(c.given.begin(), c.given.end());
    c.given.erase(std::unique(c.given.begin(), c.given.end()), c.given.end());
    c.cases = std::move(cases);
    return add_case(std::move(c));
  }

  // Keeps the cases that the last one rests on.
  void violated(uint32_t root) {
    verdict_.outcome = Outcome::violated;
    std::vector<uint32_t> place(root + 1, kNone);
    place[root] = 0;
    for (uint32_t i = root + 1; i-- > 0;)
      if (place[i] != kNone)
        for (uint32_t child : cases_[i].cases) place[child] = 0;
    for (uint32_t i = 0; i <= root; ++i) {
      if (place[i] == kNone) continue;
      place[i] = static_cast<uint32_t>(verdict_.cases.size());
      for (uint32_t& child : cases_[i].cases) child = place[child];
      verdict_.cases.push_back(std::move(cases_[i]));
    }
    done_ = true;
  }

  // The representative assumption of each decided read whose source need not have taken effect.
  std::vector<Seen> assumptions_about_outcomes() const {
    std::vector<Seen> given;
    for (const Decision& d : decisions_) {
      if (d.next == d.sources.size()) continue;  // it is being given up
      const TxnId source = d.sources[d.next];
      if (source == kNone || h_.status(source) != TxnStatus::unknown) continue;
      given.push_back({open_.all()[d.read].op, open_.all()[d.read].key, source});
    }
    std::sort(given.begin(), given.end());
    return given;
  }

  std::vector<Seen> used_by(const Proof& proof) const;

  Stages& stages_;
  const History& h_;
  const LevelInfo& level_;
  Budget& budget_;
  OpenReads open_;
  const uint64_t most_checks_;
  uint64_t checks_ = 0;
  bool done_ = false;
  std::vector<Decision> decisions_;
  std::vector<bool> is_decided_;  // per open read
  std::vector<Seen> assumed_;     // of the current check
  std::vector<Case> cases_;
  ChosenVerdict verdict_;
};

// Calls `visit` with each open read whose state in the order is none of its sources, until it returns false.
template <class Visit>
void each_unexplained(const History& h, const OpenReads& open, const Order& order, Visit visit) {
  std::vector<TxnId> current(h.key_count(), kNone);
  for (uint32_t event : order.events) {
    const TxnId t = order.split ? event / 2 : event;
    if (!order.split || event % 2 == 0) {
      for (uint32_t read : open.of(t)) {
        const OpenRead& r = open.all()[read];
        const bool met = std::binary_search(r.sources.begin(), r.sources.end(), current[r.key]);
        if (!met && !visit(read)) return;
      }
    }
    if (order.split && event % 2 == 0) continue;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i)
      if (const Operation op = h.op(i); installs_version(op)) current[op.key] = t;
  }
}

// The assumptions that the edges of a proof rest on.
std::vector<Seen> ChoiceSearch::used_by(const Proof& proof) const {
  std::vector<std::pair<TxnId, KeyId>> reads;  // reader and key
  bool outcomes = false;
  const auto note_end = [&](TxnId t) {
    outcomes = outcomes || (t != kNone && h_.status(t) == TxnStatus::unknown);
  };
  const auto note = [&](const Edge& e) {
    note_end(e.from);
    note_end(e.to);
    if (e.kind == EdgeKind::read_from) reads.emplace_back(e.to, e.key);
    if (e.kind == EdgeKind::anti) reads.emplace_back(e.from, e.key);
    if (e.kind == EdgeKind::forced) {
      note_end(e.via);
      reads.emplace_back(e.via, e.key);
    }
  };
  for (const ProofStep& step : proof.steps) {
    for (const Edge& e : step.cycle) {
      note(e);
      for (const Edge& p : e.path) note(p);
    }
    for (const Literal& l : step.clause) {
      note_end(l.from);
      note_end(l.to);
    }
  }
  std::sort(reads.begin(), reads.end());
  std::vector<Seen> given;
  if (outcomes) given = assumptions_about_outcomes();
  for (const Decision& d : decisions_) {
    const OpenRead& read = open_.all()[d.read];
    if (std::binary_search(reads.begin(), reads.end(), std::pair{read.reader, read.key}))
      given.push_back({read.op, read.key, d.sources[d.next]});
  }
  std::sort(given.begin(), given.end());
  given.erase(std::unique(given.begin(), given.end()), given.end());
  return given;
}

}  // namespace

ChosenVerdict decide_choosing_writers(const History& history, const LevelInfo& level,
                                      Stages& stages, Budget& budget) {
  const auto timer = stages.time("choose writers");
  return ChoiceSearch(history, level, stages, budget).run();
}

bool order_explains(const History& history, const OpenReads& open, const Order& order) {
  bool all = true;
  each_unexplained(history, open, order, [&](uint32_t) { return all = false; });
  return all;
}

}  // namespace assay
