// One run decides every level: a walk over the lattice with what is already proved.
//
//   a read that nothing explains   refutes every level at once
//   an order                       proves its level and every weaker one
//   a refutation                   refutes its level and every stronger one, and also a weaker one that has less of
//                                  session order or real time if the refutation does not use what it lacks
//
// A history of single operations is first decided key by key, which is the fastest way to decide linearizability and so
// everything below it. Otherwise the walk first tries to accept the strongest levels by replay, which is linear and
// nearly always succeeds on what a sound database did; then decides what is left: the weak levels, causal first, since
// its order serves the others; then the strong ones from the weakest upwards, the variants with session order before
// those without, because sessions make them cheaper. Where nearly all orders of versions are stated, a search has hardly
// anything to choose: the strong levels are decided at once, the strongest first, which serve the others. Each is replayed first:
// a replay that heeds what is stated accepts whatever the level allows. A level that was
// asked for and is still open gets another chance: those above and below it are tried too.

#include "levels/walk.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "base/bug.h"
#include "base/sort_by.h"
#include "history/aggregate.h"
#include "history/predicates.h"
#include "infer/aggregates.h"
#include "infer/problem.h"
#include "infer/slices.h"
#include "infer/stages.h"
#include "levels/adya.h"
#include "levels/aggregate_orders.h"
#include "levels/clock_faults.h"
#include "levels/expected_order.h"
#include "levels/linearizable.h"
#include "levels/mixed.h"
#include "levels/open_problem.h"
#include "levels/overdrawn.h"
#include "levels/single_operations.h"
#include "levels/source_search.h"
#include "levels/strong.h"
#include "levels/weak.h"

namespace assay::internal {
namespace {

using enum LevelId;

// Levels that have a place in a walk, in the order of their places.
std::vector<LevelId> in_walk_order(uint8_t WalkPlace::*place) {
  std::vector<LevelId> levels;
  for (const LevelInfo& level : all_levels())
    if (level.walk.*place != 0) levels.push_back(level.id);
  stable_sort_by(levels, [&](LevelId id) { return level_info(id).walk.*place; });
  return levels;
}

// Of single operations: the level below it decides it.
bool follows_from_below(const LevelInfo& level) { return level.single_operations; }
// Whether it does so for `above`.
bool decides(LevelId level, const LevelInfo& above) {
  return follows_from_below(above) && next_weaker(above.id).front() == level;
}

// The level right above one in the lattice, of the same model; itself if there is none.
LevelId next_stronger(LevelId id) {
  for (const LevelInfo& level : all_levels())
    if (level.events == level_info(id).events && std::ranges::count(next_weaker(level.id), id) > 0)
      return level.id;
  return id;
}

// Whether reads see only what a transaction that took effect left. One of Adya's levels that forbids no cycle with a read dependency
// lets them see aborted and overwritten writes too, and asks only that some transaction wrote what they saw.
bool has_clean_reads(const LevelInfo& level) {
  return level.events != EventModel::adya ||
         std::ranges::any_of(level.forbidden, [](const ForbiddenCycle& cycle) {
           return cycle.any.find('r') != cycle.any.npos;
         });
}

// Whether a transaction has seen what those have read that it reads from, and no further.
bool sees_through_readers(const LevelInfo& level) {
  return !level.seen.repeated && level.seen.words[0].starts_with("rr");
}

// Whether a level that adds these edges in real time adds this one.
bool adds(RealTime rule, const Edge& edge) {
  switch (rule) {
    case RealTime::none:
      return false;
    case RealTime::into_commits:
      return edge.to_write;
    case RealTime::all_but_begins:
      return edge.from_write || edge.to_write;
    case RealTime::transactions:
      return edge.from_write && !edge.to_write;
  }
  return false;
}

// Whether some read dependency comes from a change of what a range selects, which other levels than Adya's do not know.
bool rests_on_changes(const Proof& proof) {
  return std::ranges::any_of(proof.steps, [](const ProofStep& step) {
    return std::ranges::any_of(step.cycle, [](const Edge& edge) {
      return edge.kind == EdgeKind::read_dependency && edge.via != kNone;
    });
  });
}

// Whether every edge of the proof, session order and real time aside, is one of a level with the same model.
bool proves_at(const LevelInfo& level, const Proof& proof) {
  const auto has = [&](const Edge& edge) {
    if (edge.kind == EdgeKind::session) return level.session_order;
    return edge.kind != EdgeKind::real_time || adds(level.real_time, edge);
  };
  return std::ranges::all_of(proof.steps, [&](const ProofStep& step) {
    return std::ranges::all_of(step.cycle, [&](const Edge& edge) {
      return has(edge) && std::ranges::all_of(edge.path, has);
    });
  });
}

class LatticeWalk {
 public:
  LatticeWalk(const History& history, const CheckOptions& options)
      : history_(history),
        options_(options),
        budget_(options.budget),
        open_(history, problem_, options, stages_, budget_),
        open_aggregates_(has_open_aggregates(history)),
        any_version_passed_over_(passes_over_any_version(history)) {
    for (LevelId level : options.levels) wanted_[index(level)] = true;
    for (const LevelInfo& level : default_levels())
      if (options.levels.empty()) wanted_[index(level.id)] = true;
    if (options.levels.empty() && history.declares_levels()) wanted_[index(mixed)] = true;
    known_.fill(Verdict{});
    for (const LevelInfo& level : named_levels()) known_[index(level.id)].level = level.id;
  }

  CheckResult run() {
    if (!match()) {
      for (const LevelInfo& level : named_levels())
        set_unknown(level.id, timed_enough(level.id) ? budget_.reason() : lacks_times());
      return collect();
    }
    say_what_cannot_hold();
    if (options_.expected_order) replay_expected(*options_.expected_order);
    if (!refuted_by_a_read()) {
      if (options_.engine == EngineId::graph) decide_single_operations();
      if (!problem_.unresolved.empty() && anything_left() && !budget_.exhausted_now()) {
        refute_sourceless();
        refute_by_counting();
      }
      // Where sources are open a weak level is harder than a strong one, whose order determines the sources: so strong
      // ones are tried first, requested or not.
      widened_ = !problem_.unresolved.empty() && options_.speed_ups.has(SpeedUp::carry);
      stated_first_ = options_.speed_ups.has(SpeedUp::stated_first) &&
                      options_.engine == EngineId::graph && problem_.unresolved.empty() &&
                      is_nearly_stated(problem_);
      if (stated_first_ && options_.speed_ups.has(SpeedUp::clock_faults)) refute_by_the_clock();
      accept_what_plays();
      decide_what_is_left();
      widened_ = false;
      look_further();
      if (open_aggregates_) reconsider_aggregates();
    }
    decide_linearizable();
    if (wanted_[index(mixed)]) decide_declared();
    return collect();
  }

 private:
  static size_t index(LevelId level) { return static_cast<size_t>(level); }
  // That or as good as: no search will settle it.
  bool decided(LevelId level) const {
    return known_[index(level)].outcome != Outcome::unknown || settled_[index(level)];
  }

  // A level that is asked for is open.
  bool anything_left() const {
    const auto levels = all_levels();
    return std::any_of(levels.begin(), levels.end(), [this](const LevelInfo& level) {
      return wanted_[index(level.id)] && !decided(level.id);
    });
  }

  // Before anything is searched. Without times a level may still be refuted, by what it asks besides real time.
  void say_what_cannot_hold() {
    for (const LevelInfo& level : all_levels()) {
      if (!timed_enough(level.id)) set_unknown(level.id, lacks_times());
      if (!level.single_operations) continue;
      if (std::optional<Unknown> obstacle = no_single_operation(history_, problem_.txn)) {
        set_unknown(level.id, std::move(*obstacle));
        settled_[index(level.id)] = true;
      }
    }
  }

  static Unknown lacks_times() {
    return {UnknownCause::lacks_times,
            "the begin and end times of some committed transactions are not known"};
  }

  // True if the outcome of `level` is asked for, or may settle a level that is: with session order a level is
  // cheaper to accept, and what holds with it holds without.
  bool useful(LevelId level) const {
    if (level_info(level).on_request()) return wanted_[index(level)] && !decided(level);
    for (const LevelInfo& other : all_levels()) {
      if (!wanted_[index(other.id)] || decided(other.id)) continue;
      if (other.id == level) return true;
      if (decides(level, other)) return true;
      if (!options_.speed_ups.has(SpeedUp::carry)) continue;
      // A violation of causal spares the search over prefixes, whose end would be no proof.
      if (options_.engine == EngineId::dbcop && level_info(level).seen.repeated &&
          implies(other.id, level))
        return true;
      // Some orders may do for Adya's levels; no verdict on another level says anything of them.
      const bool related = implies(level, other.id) || implies(other.id, level);
      const bool idle = withheld(level, other) && !may_order(level, other.id);
      if ((options_.levels.empty() || widened_) && related && !idle) return true;
      if (!other.session_order && same_rules(level_info(level), other)) return true;
    }
    return false;
  }

  // The same events and edges, session order and real time aside.
  static bool same_model(const LevelInfo& a, const LevelInfo& b) {
    return a.events == b.events && a.write_conflict == b.write_conflict;
  }
  // Session order aside.
  static bool same_rules(const LevelInfo& a, const LevelInfo& b) {
    return same_model(a, b) && a.real_time == b.real_time;
  }

  void report(std::string_view stage, LevelId level) {
    if (!options_.progress) return;
    const auto done = std::count_if(known_.begin(), known_.end(),
                                    [](const Verdict& v) { return v.outcome != Outcome::unknown; });
    options_.progress(std::string(stage) + " " + std::string(level_info(level).name),
                      static_cast<double>(done) / kLevelCount);
  }

  // False if the budget ran out.
  bool match() {
    const auto timer = stages_.time("match");
    if (!has_room_to_match()) return false;
    problem_ = make_problem(history_, {}, budget_, {.threads = options_.threads});
    if (budget_.exhausted_now()) return false;
    find_doubt();
    if (problem_.found.known.ambiguous > 0)
      stages_.count(kAmbiguousEntries, problem_.found.known.ambiguous);
    return true;
  }

  // What matching will hold: of each version its origin and its write, of each other operation a read, and indices of
  // these.
  bool has_room_to_match() {
    constexpr uint64_t kBytesAVersion = 32, kBytesARead = 16, kBytesATxn = 20;
    const uint64_t versions = history_.version_count(), ops = history_.op_count();
    return budget_.has_room(kBytesAVersion * versions +
                            kBytesARead * (ops - std::min(ops, versions)) +
                            kBytesATxn * history_.txn_count());
  }

  // The replay is complete by itself, so what it accepts needs nothing of what the reads left open.
  void replay_expected(const ExpectedOrder& expected) {
    const auto timer = stages_.time("expected order");
    const auto asked = [this](EventModel events) {
      return std::ranges::any_of(all_levels(), [&](const LevelInfo& level) {
        return wanted_[index(level.id)] && level.events == events;
      });
    };
    const ReplayModels models{asked(EventModel::single), asked(EventModel::split),
                              wanted_[index(LevelId::strong_si)] && history_.fully_timed() &&
                                  history_.clock_drift() == 0};
    ExpectedReplays found = replay_expected_order(problem_, expected, models, budget_);
    expected_order_.emplace();
    expected_order_->title = expected.title;
    expected_order_->obstacle = std::move(found.obstacle);
    for (ExpectedReplay& replay : found.replays) {
      const bool explains = replay.result.fault == OrderReplay::Fault::none;
      expected_order_->replays.push_back(replay.result);
      // The level orders commits by the times of their ends, too, which the replay does not look at.
      if (!explains || level_info(replay.result.level).real_time != RealTime::none) continue;
      settle_judgement(replay.result.level, Judgement::satisfied(std::move(replay.order)));
    }
  }

  bool refuted_by_a_read() {
    const auto repeatable = [](const LevelInfo& level) { return level.repeatable; };
    if (problem_.found.bad_read.anomaly != Anomaly::none) {
      add_bad_read(problem_.found.bad_read, has_clean_reads);
      for (const LevelInfo& level : all_levels())
        if (!has_clean_reads(level) && useful(level.id)) decide_with_dirty_reads(level.id);
      return true;
    }
    if (problem_.found.non_repeatable.anomaly != Anomaly::none)
      add_bad_read(problem_.found.non_repeatable, repeatable);
    return open_aggregates_ && refuted_by_an_aggregate();
  }

  bool refuted_by_an_aggregate() {
    const auto all = [](const LevelInfo&) { return true; };
    const auto of_one_state = [](const LevelInfo& level) { return sees_one_state(level); };
    const BadRead everywhere = impossible_aggregate(history_, false);
    if (everywhere.anomaly != Anomaly::none) return add_bad_read(everywhere, all), true;
    const BadRead in_one_state = impossible_aggregate(history_, true);
    if (in_one_state.anomaly != Anomaly::none) add_bad_read(in_one_state, of_one_state);
    return false;
  }

  template <class Refutes>
  void add_bad_read(const BadRead& bad, Refutes refutes) {
    Certificate certificate;
    certificate.kind = Certificate::Kind::bad_read;
    certificate.bad_read = bad;
    for (const LevelInfo& level : all_levels())
      if (refutes(level) && !follows_from_below(level) && is_asked(level))
        certificate.levels.push_back(level.id);
    settle(std::move(certificate));
  }

  // An operation of a transaction that takes effect saw what nobody can have left. Where dirty reads are allowed that is
  // asked anew.
  void refute_sourceless() {
    const auto of_one_state = [](const LevelInfo& level) { return sees_one_state(level); };
    const OpenRead* read = find_sourceless(open_.for_orders());
    if (read == nullptr) return;
    // And not only together with others.
    const OpenRead* alone = find_sourceless(OpenProblem::Listing::each);
    if (alone == nullptr) return add_sourceless(read->op, read->key, of_one_state);
    const BadRead bad = open_.reads(OpenProblem::Listing::each).dirty_read(*alone);
    if (bad.anomaly != Anomaly::none) return add_bad_read(bad, has_clean_reads);
    add_sourceless(alone->op, alone->key, has_clean_reads);
  }

  const OpenRead* find_sourceless(OpenProblem::Listing listing) {
    const auto& all = open_.reads(listing).all();
    const auto found = std::find_if(all.begin(), all.end(), [this](const OpenRead& read) {
      return read.sources.empty() && problem_.node_of(read.reader) != kNone;
    });
    return found == all.end() ? nullptr : &*found;
  }

  template <class Refutes>
  void add_sourceless(OpId op, KeyId key, Refutes refutes) {
    Certificate certificate;
    certificate.kind = Certificate::Kind::proof;
    ProofStep& nobody = certificate.proof.steps.emplace_back();
    nobody.kind = ProofStep::Kind::sources;
    nobody.source = op;
    nobody.key = key;
    for (const LevelInfo& level : all_levels())
      if (refutes(level) && !follows_from_below(level) && is_asked(level))
        certificate.levels.push_back(level.id);
    settle(std::move(certificate));
  }

  // Where who wrote what was read is open.
  void refute_by_counting() {
    const BadRead overdrawn = find_overdrawn(history_);
    if (overdrawn.anomaly == Anomaly::none) return;
    add_bad_read(overdrawn, [](const LevelInfo& level) { return implies(level.id, adya_si); });
  }

  // A level that does not heed reads has a matching of its own, which leaves nothing open that is no list.
  void decide_with_dirty_reads(LevelId level) {
    const auto timer = stages_.time("adya");
    if (!has_room_to_match()) return set_unknown(level, budget_.reason());
    const Problem dirty =
        make_problem(history_, {}, budget_, {.reads = Reads::dirty, .threads = options_.threads});
    if (budget_.exhausted_now()) return set_unknown(level, budget_.reason());
    const auto allows_dirty = [](const LevelInfo& other) { return !has_clean_reads(other); };
    if (dirty.found.bad_read.anomaly != Anomaly::none)
      return add_bad_read(dirty.found.bad_read, allows_dirty);
    if (dirty.found.unexplained != kNone)
      return add_sourceless(dirty.found.unexplained, dirty.found.unexplained_key, allows_dirty);
    if (!dirty.unresolved.empty()) return set_unknown(level, open_reason(dirty.unresolved));
    settle_judgement(level, AdyaLevels(dirty, UpdateOrders::ignored).decide(level, budget_));
  }

  // What the level above allows this one allows, and there updates make orders of versions known.
  void accept_what_is_allowed_above(LevelId level) {
    if (decided(level)) return;
    const LevelId next = next_stronger(level);
    if (!decided(next) && !tried_[index(next)]) decide_one(next);
    const Verdict& above = known_[index(next)];
    if (above.outcome == Outcome::satisfied) extend(certificates_[above.certificate], level);
  }

  // A dirty read changes nothing where every read is clean and every transaction that was read committed.
  bool may_be_dirty() const {
    return !problem_.unresolved.empty() ||
           std::any_of(problem_.txn.begin(), problem_.txn.end(),
                       [this](TxnId t) { return history_.status(t) != TxnStatus::committed; });
  }

  // Levels that are decided on request only do not appear without it.
  bool is_asked(const LevelInfo& level) const {
    return !level.on_request() || wanted_[index(level.id)];
  }

  void decide_single_operations() {
    if (!useful(linearizable) && !useful(strict_serializable)) return;
    if (!decidable_by_key(problem_)) return;
    report("decide", linearizable);
    Judgement found = decide_by_key(problem_, options_.speed_ups, stages_, budget_);
    if (found.outcome == Outcome::unknown) {
      if (!found.reason.empty()) set_unknown(linearizable, std::move(found.reason));
      return;
    }
    Certificate& certificate = found.certificate;
    if (found.outcome == Outcome::violated && options_.speed_ups.has(SpeedUp::carry))
      certificate.levels = {strict_serializable, linearizable};
    else
      certificate.levels = served(linearizable, certificate);
    settle(std::move(certificate));
  }

  // For what is no level's search of its own.
  CheckOptions without_counts() const {
    CheckOptions options = options_;
    options.count_constraints = false;
    return options;
  }

  // From the weakest up, as what refutes one mostly refutes those above it.
  void refute_by_the_clock() {
    ClockFaults faults(problem_);
    const CheckOptions uncounted = without_counts();
    for (const LevelId id : in_walk_order(&WalkPlace::decide)) {
      const LevelInfo& level = level_info(id);
      if (level.real_time == RealTime::none || decided(id) || !useful(id) || !timed_enough(id))
        continue;
      Judgement v = faults.refute(level, uncounted, stages_, budget_);
      if (v.outcome == Outcome::violated) add(id, std::move(v));
      if (budget_.exhausted_now()) return;
    }
  }

  void accept_what_plays() {
    if (!options_.speed_ups.has(SpeedUp::replay) || options_.engine != EngineId::graph ||
        stated_first_)
      return;
    // A level below one that was accepted is not tried.
    for (const LevelId level : in_walk_order(&WalkPlace::replay)) {
      if (decided(level) || !useful(level) || !helps_if_accepted(level) || !timed_enough(level))
        continue;
      report("replay", level);
      Judgement v =
          decide_with_orders(level, [&](const Problem& problem) { return play(problem, level); });
      if (v.outcome == Outcome::satisfied) add(level, std::move(v));  // else nothing is known
      if (budget_.exhausted_now()) return;
    }
  }

  // Satisfied, or nothing is known.
  Judgement play(const Problem& problem, LevelId level) {
    if (!options_.speed_ups.has(SpeedUp::replay)) return {};
    return accept_by_replay(problem, level_info(level), options_, stages_, budget_);
  }

  // Whether its order would be one for a level that is asked for.
  bool helps_if_accepted(LevelId level) const {
    return std::ranges::any_of(all_levels(), [&](const LevelInfo& other) {
      return wanted_[index(other.id)] && !decided(other.id) &&
             (implies(level, other.id) || may_order(level, other.id) || decides(level, other));
    });
  }

  // Hardly any level takes more than a pass over what is stated.
  static constexpr uint64_t kStatedShare = 4;

  // Time and effort are shared: half of it goes to the levels asked for in equal parts, so that each of k levels has what it takes
  // if that is no more than a share of 1 / 2k; a quarter to others that may settle them. What is left goes to those that
  // ran out of their share. A level that is one asked for and session order besides counts as asked for: it leaves far less
  // open, and an order for it is one for both.
  void decide_what_is_left() {
    std::vector<LevelId> levels = in_walk_order(&WalkPlace::decide);
    if (anything_left() && (stated_first_ || open_.has_sources())) {
      const auto strong = [](LevelId id) {
        return level_info(id).events == EventModel::single ||
               level_info(id).events == EventModel::split;
      };
      std::erase_if(levels, strong);
      const std::vector<LevelId> strongest_first = in_walk_order(&WalkPlace::replay);
      levels.insert(levels.begin(), strongest_first.begin(), strongest_first.end());
    }
    const auto count = [&](bool asked) {
      return static_cast<uint64_t>(std::ranges::count_if(levels, [&](LevelId level) {
        return has_asked_share(level) == asked && !decided(level) && useful(level);
      }));
    };
    const Allowance all = budget_.left();
    const Allowance asked = all / (2 * std::max<uint64_t>(1, count(true)));
    const Allowance other = all / (4 * std::max<uint64_t>(1, count(false)));
    std::vector<LevelId> ran_out;
    for (LevelId level : levels) {
      if (decided(level) || !useful(level) || tried_[index(level)]) continue;
      const Allowance share = stated_first_            ? all / kStatedShare
                              : has_asked_share(level) ? asked
                                                       : other;
      if (!decide_within(share, level)) ran_out.push_back(level);
    }
    for (LevelId level : ran_out)
      if (!decided(level) && useful(level)) decide_within(all, level);
  }

  bool has_asked_share(LevelId id) const {
    const LevelInfo& level = level_info(id);
    return wanted_[index(id)] || std::ranges::any_of(all_levels(), [&](const LevelInfo& asked) {
             return wanted_[index(asked.id)] && !decided(asked.id) && !asked.session_order &&
                    level.session_order && level.real_time == asked.real_time &&
                    level.events == asked.events && level.write_conflict == asked.write_conflict;
           });
  }

  // False if its share was too small.
  bool decide_within(const Allowance& share, LevelId level) {
    if (budget_.exhausted_now()) {
      if (timed_enough(level)) set_unknown(level, budget_.reason());
      return true;
    }
    Budget whole = budget_;
    budget_ = whole.within(share);
    decide_one(level);
    const std::optional<UnknownCause> cause = budget_.cause();
    if (cause != UnknownCause::memory) {  // of which there are no shares
      whole.spend(budget_.spent() - whole.spent());
      budget_ = whole;
    }
    return cause != UnknownCause::time && cause != UnknownCause::effort;
  }

  void decide_one(LevelId level) {
    tried_[index(level)] = true;
    report("decide", level);
    const LevelInfo& row = level_info(level);
    if (!has_clean_reads(row) && may_be_dirty()) {
      decide_with_dirty_reads(level);
      return accept_what_is_allowed_above(level);
    }
    if (row.events == EventModel::adya) {
      if (accept_order_of_versions(level)) return;
      if (has_clean_reads(row)) return decide_by_reads(level, "adya", adya_, UpdateOrders::known);
      decide_by_reads(level, "adya", adya_alone_, UpdateOrders::ignored);
      return accept_what_is_allowed_above(level);
    }
    if (sees_through_readers(row) && any_version_passed_over_ && follows_from_above(level)) return;
    if (row.events == EventModel::weak) return decide_by_reads(level, "weak", weak_);
    if (!timed_enough(level)) return decide_untimed(level);
    Judgement v = decide_with_orders(level, [&](const Problem& problem) {
      Judgement played = stated_first_ ? play(problem, level) : Judgement();
      return played.outcome == Outcome::satisfied ? played : open_.search(problem, row);
    });
    if (!decided(level)) add(level, std::move(v));
  }

  // What a query saw of a key that never satisfied its condition may be the last version of those whose writers it sees anyway. At
  // causal nothing follows from that. Here it does: who reads from a reader sees what that one read, and no further. So an
  // order that explains all else is taken only if it is one of causal.
  bool follows_from_above(LevelId level) {
    const LevelId above = next_stronger(level);
    if (!decided(above)) decide_one(above);
    if (known_[index(above)].outcome != Outcome::satisfied) return false;
    if (decided(level)) return true;
    const auto serves_above = [above](const Certificate& c) {
      return c.kind == Certificate::Kind::order && std::ranges::count(c.levels, above) > 0;
    };
    const auto order = std::ranges::find_if(certificates_, serves_above);
    if (order == certificates_.end()) return false;
    Certificate certificate = *order;
    certificate.levels = {level};
    settle(std::move(certificate));
    return true;
  }

  // What was asked for alone may follow from a level above or below it that is easier: tries these too.
  void look_further() {
    if (!anything_left() || open_.has_sources()) return;  // the latter were widened already
    const auto open = [this](const LevelInfo& level) {
      return wanted_[index(level.id)] && !decided(level.id) && !level.on_request() &&
             !follows_from_below(level) && timed_enough(level.id);
    };
    const auto levels = all_levels();
    if (options_.levels.empty() || !options_.speed_ups.has(SpeedUp::carry) ||
        budget_.exhausted_now() || std::none_of(levels.begin(), levels.end(), open))
      return;
    widened_ = true;
    accept_what_plays();
    decide_what_is_left();
    widened_ = false;
  }

  // Without times the level can still be refuted: by what it asks besides real time. If that is a level too, it has said
  // all that there is to say.
  void decide_untimed(LevelId level) {
    const LevelInfo& own = level_info(level);
    for (const LevelInfo& other : all_levels()) {
      const bool timeless = other.real_time == RealTime::none && same_model(own, other) &&
                            other.session_order == own.session_order;
      if (timeless && options_.speed_ups.has(SpeedUp::carry) &&
          (decided(other.id) || tried_[index(other.id)]))
        return;
    }
    LevelInfo without_time = own;
    without_time.real_time = RealTime::none;
    Judgement v = decide_with_orders(
        level, [&](const Problem& problem) { return open_.search(problem, without_time); });
    if (v.outcome == Outcome::violated) settle_judgement(level, std::move(v));
  }

  bool timed_enough(LevelId level) const {
    return level_info(level).real_time == RealTime::none || history_.fully_timed();
  }

  template <class Decide>
  Judgement decide_with_orders(LevelId level, const Decide& decide) {
    return open_.decide_with_orders(decide, [&] {
      refute_sourceless();
      return decided(level);
    });
  }

  // A level that looks at who read from whom; `levels` decides those of its kind.
  template <class Levels, class... How>
  void decide_by_reads(LevelId level, std::string_view stage, std::optional<Levels>& levels,
                       How... how) {
    Judgement v;
    {
      const auto timer = stages_.time(stage);
      if (!levels) levels.emplace(problem_, how...);
      v = levels->decide(level, budget_);
    }
    if (v.outcome == Outcome::satisfied && !problem_.unresolved.empty()) {
      if (level_info(level).events == EventModel::adya && accept_order(level)) return;
      return decide_sources(level, v.certificate.order);
    }
    add(level, std::move(v));
  }

  // What each transaction saw along an order that explains it, for Adya's levels.
  struct Along {
    Along(const History& history, std::vector<Seen> what, Budget& budget)
        : seen(std::move(what)), problem(make_problem(history, seen, budget)) {}
    std::vector<Seen> seen;
    Problem problem;
    std::optional<AdyaLevels> adya;
  };

  // An order that explains what each transaction saw, and that keeps to the stated orders of versions, satisfies Adya's
  // levels too, if these orders are known: all of them, or with what was seen along it those that matter.
  bool accept_order(LevelId level) {
    const Certificate* known = ordering(level);
    if (known == nullptr) return false;
    Order order;
    order.events = writers_in_order(known->order);
    if (states_whole(order.events)) {
      // In an order of whole transactions a row that was passed over is of the last writer of its key.
      const bool split = known->order.split;
      if (!add_sources_along(split ? OpenProblem::Listing::one_state : open_.for_orders(),
                             known->order, order.sources))
        return false;
    } else if (!add_sources_along(OpenProblem::Listing::each, known->order, order.sources) ||
               !allows_along(level, order.sources)) {
      return false;
    } else {
      // Whoever did not need to take effect for what was seen did not.
      std::erase_if(order.events, [this](TxnId t) { return along_->problem.node_of(t) == kNone; });
    }
    settle_judgement(level, Judgement::satisfied(std::move(order)));
    return true;
  }

  // False if something is open that has no single source.
  bool add_sources_along(OpenProblem::Listing listing, const Order& order,
                         std::vector<Seen>& sources) {
    const OpenReads& open = open_.reads(listing);
    if (!open.obstacle().empty() || !open.lists().all().empty()) return false;
    sources = seen_along(history_, open, order);
    return true;
  }

  // Whether each two versions of a key that follow each other in this order of all that count are stated to.
  bool states_whole(const std::vector<TxnId>& order) {
    if (order.size() != problem_.nodes() ||
        !budget_.has_room(bytes_of_version_orders(problem_) + sizeof(Node) * problem_.nodes()))
      return false;
    std::vector<Node> nodes;
    nodes.reserve(order.size());
    for (const TxnId t : order) {
      if (problem_.node_of(t) == kNone) return false;
      nodes.push_back(problem_.node_of(t));
    }
    return states_version_orders(problem_, nodes, threads_for(nodes.size(), options_.threads));
  }

  bool allows_along(LevelId level, const std::vector<Seen>& seen) {
    const auto timer = stages_.time("adya");
    if (!along_ || along_->seen != seen) {
      if (!has_room_to_match()) return false;
      along_.emplace(history_, seen, budget_);
    }
    if (budget_.exhausted_now()) return along_.reset(), false;
    if (!along_->adya) along_->adya.emplace(along_->problem, UpdateOrders::known);
    return along_->adya->decide(level, budget_).outcome == Outcome::satisfied;
  }

  // In an order of whole transactions that explains what each of them saw all dependencies run forwards, if the order of versions
  // is that of their writers. Where this is stated of each version and the next, it is known.
  bool accept_order_of_versions(LevelId level) {
    if (!problem_.unresolved.empty() || !problem_.possible.empty()) return false;
    Certificate* found = ordering(level);
    if (found == nullptr || found->order.split) return false;
    const auto timer = stages_.time("adya");
    if (!states_whole(found->order.events)) return false;
    for (const LevelId other : served(level, *found)) extend(*found, other);
    return true;
  }

  // The certificate of another level serves this one too.
  void extend(Certificate& certificate, LevelId level) {
    Verdict& v = known_[index(level)];
    if (v.outcome != Outcome::unknown) return;
    v.outcome = certificate.outcome();
    v.certificate = static_cast<uint32_t>(&certificate - certificates_.data());
    certificate.levels.push_back(level);
  }

  // A certificate whose order may do for the level; null if there is none.
  Certificate* ordering(LevelId adya) {
    if (!options_.speed_ups.has(SpeedUp::carry)) return nullptr;
    for (Certificate& c : certificates_) {
      if (c.kind != Certificate::Kind::order) continue;
      for (const LevelId level : c.levels) {
        const bool split = level_info(level).events == EventModel::split;
        if (may_order(level, adya) && c.order.split == split) return &c;
      }
    }
    return nullptr;
  }

  // Whether an order that satisfies `level` may serve a level of Adya's: where each transaction sees what those before it
  // left, all of them; where it sees a snapshot, those that follow from it.
  bool may_order(LevelId level, LevelId adya) const {
    if (level_info(level).events == EventModel::single) return true;
    return level_info(level).events == EventModel::split && implies(level, adya) &&
           !problem_.unresolved.empty();
  }

  // `first`: an order that satisfies the level if nothing is asked of the open reads.
  void decide_sources(LevelId level, const Order& first) {
    const LevelInfo& info = level_info(level);
    const OpenReads& open = open_.reads(OpenProblem::listing_of(info));
    if (!open.obstacle().empty()) return set_unknown(level, open_reason(problem_.unresolved));
    Judgement v = decide_with_sources(
        problem_, info, open, first, options_.speed_ups.has(SpeedUp::local_search),
        sees_one_state(info) ? chosen_ : chosen_each_, stages_, budget_);
    if (v.outcome == Outcome::unknown)
      v.reason.detail = open_reason(problem_.unresolved).detail + ": " + v.reason.detail;
    settle_judgement(level, std::move(v));
  }

  void add(LevelId level, Judgement v) {
    if (v.outcome == Outcome::satisfied && !open_.is_explained_by(v.certificate.order)) {
      set_unknown(level, open_reason(problem_.unresolved));
      return;
    }
    settle_judgement(level, std::move(v));
  }

  void settle_judgement(LevelId level, Judgement v) {
    if (v.outcome == Outcome::unknown) {
      set_unknown(level, std::move(v.reason));
      return;
    }
    if (sees_through_readers(level_info(level)) && v.outcome == Outcome::satisfied &&
        any_version_passed_over_) {
      set_unknown(level, {UnknownCause::ambiguous,
                          "a query may have read any version of a key that never satisfied its "
                          "condition"});
      return;
    }
    v.certificate.levels = served(level, v.certificate);
    settle(std::move(v.certificate));
  }

  // Adya's levels want the order of versions to be known, which no reason for another level shows.
  static bool withheld(LevelId level, const LevelInfo& other) {
    return other.events == EventModel::adya && level_info(level).events != EventModel::adya;
  }

  // The levels that a reason for `level` serves too.
  std::vector<LevelId> served(LevelId level, const Certificate& reason) const {
    const LevelInfo& own = level_info(level);
    if (!options_.speed_ups.has(SpeedUp::carry) || own.events == EventModel::mixed) return {level};
    std::vector<LevelId> levels;
    for (const LevelInfo& other : all_levels()) {
      if (follows_from_below(other) && level != other.id) continue;
      if (!is_asked(other) || withheld(level, other)) continue;
      if (reason.outcome() == Outcome::satisfied) {
        if (implies(level, other.id)) levels.push_back(other.id);
        continue;
      }
      const bool alike = same_model(other, own) && own.events != EventModel::weak &&
                         own.events != EventModel::adya;
      const bool above = implies(other.id, level) &&
                         (other.events == EventModel::adya || !rests_on_changes(reason.proof));
      if (above || (alike && proves_at(other, reason.proof))) levels.push_back(other.id);
    }
    return levels;
  }

  void settle(Certificate certificate) {
    if (certificate.outcome() == Outcome::satisfied && !doubt_.empty())
      return doubt(certificate.levels);
    if (certificate.outcome() == Outcome::satisfied && open_aggregates_ &&
        !explains_aggregates(certificate))
      return leave_open(std::move(certificate));
    const uint32_t id = static_cast<uint32_t>(certificates_.size());
    std::vector<LevelId> news;
    for (LevelId level : certificate.levels) {
      Verdict& v = known_[index(level)];
      if (v.outcome != Outcome::unknown) continue;
      v.outcome = certificate.outcome();
      v.certificate = id;
      news.push_back(level);
    }
    if (news.empty()) return;
    certificate.levels = std::move(news);
    certificates_.push_back(std::move(certificate));
  }

  // --- aggregates, which no engine looks at

  // Whether the order that was found explains them; at Adya's levels with what each operation saw along it.
  bool explains_aggregates(const Certificate& certificate) {
    const auto ordered = [](LevelId id) {
      return level_info(id).events == EventModel::single ||
             level_info(id).events == EventModel::split;
    };
    const Order& order = certificate.order;
    if (level_info(certificate.levels.front()).events == EventModel::mixed) return false;
    if (!std::ranges::any_of(certificate.levels, ordered) &&
        (order.split || !replays(history_, order)))
      return false;
    return unexplained_aggregates(history_, order).empty() &&
           std::ranges::all_of(certificate.levels, [&](LevelId level) {
             return level_info(level).events != EventModel::adya || knows_along(level, order);
           });
  }

  // Whether the order of versions is known if operations saw what stood at their place in an order of whole transactions.
  bool knows_along(LevelId level, const Order& order) {
    if (states_whole(order.events)) return true;
    std::vector<Seen> seen;
    return add_sources_along(OpenProblem::Listing::each, order, seen) &&
           allows_along(level, seen) && along_->problem.nodes() == order.events.size();
  }

  // Satisfied if it were not for aggregates.
  void leave_open(Certificate certificate) {
    const std::vector<OpId> open = unexplained_aggregates(history_, certificate.order);
    Unknown why{UnknownCause::aggregate,
                "no order was found that explains what was read and the aggregates too"};
    if (!open.empty()) why.detail += ": " + in_words(open.front());
    for (const LevelId level : certificate.levels) {
      if (decided(level)) continue;
      set_unknown(level, why);
      unexplained_.try_emplace(level, certificate.order);
    }
  }

  std::string in_words(OpId op) const {
    const Aggregate& aggregate = history_.predicates().aggregate(history_.selected(op).aggregate);
    return internal::in_words(history_, aggregate) + " = " + value_of(aggregate.value).to_string() +
           " in transaction " + history_.name(history_.txn_of(op));
  }

  // Levels that are satisfied but for aggregates: with the rows of some state taken for what was aggregated.
  void reconsider_aggregates() {
    for (const LevelId level : in_walk_order(&WalkPlace::replay)) {
      const auto helps = [&](const LevelInfo& other) {
        return wanted_[index(other.id)] && !decided(other.id) &&
               (level == other.id ||
                (options_.speed_ups.has(SpeedUp::carry) && implies(level, other.id)));
      };
      if (decided(level) || !timed_enough(level) || std::ranges::none_of(all_levels(), helps))
        continue;
      if (budget_.exhausted_now()) return;
      report("aggregates", level);
      if (std::optional<Order> order = order_with_rows(level))
        settle_judgement(level, Judgement::satisfied(std::move(*order)));
    }
    accept_by_whole_order();
  }

  std::optional<Order> order_with_rows(LevelId level) {
    const auto known = unexplained_.find(level);
    const Order* base = known == unexplained_.end() ? nullptr : &known->second;
    return order_with_aggregates(history_, level, base, options_, budget_);
  }

  // An order of whole transactions that explains the aggregates, where a level without such orders has nothing else against it.
  // Weak levels have been given that of a stronger level, if levels are carried.
  void accept_by_whole_order() {
    std::map<LevelId, std::optional<Order>> whole;
    for (const auto& [level, order] : unexplained_) {
      const EventModel events = level_info(level).events;
      if (decided(level) || (events != EventModel::adya && events != EventModel::weak)) continue;
      const Certificate* ordered = events == EventModel::adya ? ordering(level) : nullptr;
      const Order* found = ordered == nullptr ? nullptr : &ordered->order;
      if (!options_.speed_ups.has(SpeedUp::carry)) {
        const LevelId of = implies(serializable, level) ? serializable : session_serializable;
        const auto [known, fresh] = whole.try_emplace(of);
        if (fresh) known->second = order_with_rows(of);
        if (known->second) found = &*known->second;
      }
      if (found == nullptr || found->split) continue;
      if (events == EventModel::adya && !knows_along(level, *found)) continue;
      Certificate certificate = Judgement::satisfied(*found).certificate;
      certificate.levels = {level};
      settle(std::move(certificate));
    }
  }

  // Satisfied but for something in the history that has no meaning.
  void doubt(const std::vector<LevelId>& levels) {
    for (LevelId level : levels) {
      if (decided(level)) continue;
      settled_[index(level)] = true;
      set_unknown(level, doubt_);
    }
  }

  void find_doubt() {
    if (problem_.found.mixed != kNone) {
      doubt_ = {UnknownCause::unsupported,
                "key " + history_.key(problem_.found.mixed).to_string() +
                    " is used as a list and as a register; expected one of the two"};
    } else if (!problem_.found.known.contradiction.empty()) {
      doubt_ = {UnknownCause::evidence,
                "contradicted evidence: " + problem_.found.known.contradiction +
                    "; without it the level would be satisfied"};
    }
  }

  void set_unknown(LevelId level, Unknown why) {
    Verdict& v = known_[index(level)];
    v.cause = why.cause;
    v.reason = std::move(why.detail);
  }

  Unknown open_reason(const std::vector<OpId>& unresolved) const {
    if (problem_.found.mixed != kNone) return doubt_;
    const OpId op = unresolved.front();
    std::string many;
    if (unresolved.size() > 1)
      many = " (" + std::to_string(unresolved.size()) + " such operations)";
    const std::string text = "transaction " + history_.name(history_.txn_of(op)) +
                             " has an operation that several states of the database explain" + many;
    for (const auto& open : open_.listed())
      if (open && !open->obstacle().empty())
        return {UnknownCause::unsupported, text + ": " + open->obstacle()};
    return {UnknownCause::ambiguous, text};
  }

  // Linearizability is strict serializability where every transaction is one operation.
  void decide_linearizable() {
    Verdict& lin = known_[index(linearizable)];
    if (lin.outcome != Outcome::unknown) return;
    std::vector<TxnId> counting = problem_.txn;
    for (const auto& open : open_.listed()) {  // who may have been read may count
      if (!open) continue;
      for (const OpenRead& read : open->all())
        for (TxnId t : read.sources)
          if (t != kNone && history_.status(t) == TxnStatus::unknown) counting.push_back(t);
    }
    const bool open = problem_.found.bad_read.read != kNone || !problem_.unresolved.empty();
    if (open && !settled_[index(linearizable)]) add_unknown_that_were_read(history_, counting);
    if (std::optional<Unknown> obstacle = no_single_operation(history_, counting))
      return set_unknown(linearizable, std::move(*obstacle));
    const Verdict& strict = known_[index(strict_serializable)];
    if (strict.outcome == Outcome::unknown) {
      if (lin.reason.empty()) set_unknown(linearizable, {strict.cause, strict.reason});
      return;
    }
    extend(certificates_[strict.certificate], linearizable);
  }

  // Each transaction at the level that it declares: by itself, as it follows from no other level, and none from it.
  void decide_declared() {
    if (std::optional<Unknown> obstacle = cannot_be_mixed(history_))
      return set_unknown(mixed, std::move(*obstacle));
    BadRead bad = problem_.found.bad_read;
    if (bad.anomaly == Anomaly::none) bad = declared_non_repeatable_read(problem_);
    if (bad.anomaly != Anomaly::none) {
      Certificate certificate;
      certificate.levels = {mixed};
      certificate.kind = Certificate::Kind::bad_read;
      certificate.bad_read = bad;
      return settle(std::move(certificate));
    }
    if (!problem_.unresolved.empty()) return set_unknown(mixed, open_reason(problem_.unresolved));
    report("decide", mixed);
    settle_judgement(mixed, decide_mixed(problem_, without_counts(), stages_, budget_));
  }

  CheckResult collect() {
    CheckResult result;
    for (Verdict& v : known_) {
      if (v.outcome != Outcome::unknown) v.reason.clear();
      if (v.outcome == Outcome::unknown && v.reason.empty())
        set_unknown(v.level, bug("nothing decided the level"));
      if (wanted_[index(v.level)]) result.verdicts.push_back(v);
    }
    result.certificates = std::move(certificates_);
    result.duplicates = problem_.found.duplicates;
    result.expected_order = std::move(expected_order_);
    for (const Stage& stage : stages_.all())
      result.stages.push_back({stage.name, stage.seconds, stage.peak_memory_bytes});
    result.counters = stages_.take_counters();
    return result;
  }

  const History& history_;
  const CheckOptions& options_;
  Budget budget_;
  Stages stages_;
  Problem problem_;
  OpenProblem open_;
  const bool open_aggregates_;
  const bool any_version_passed_over_;    // see passes_over_any_version
  std::map<LevelId, Order> unexplained_;  // satisfied by it but for aggregates
  ChosenSources chosen_;                  // where transactions see one state of a key
  ChosenSources chosen_each_;             // where each read is judged by itself
  std::optional<ExpectedOrderResult> expected_order_;
  std::optional<WeakLevels> weak_;
  std::optional<AdyaLevels> adya_;
  std::optional<AdyaLevels> adya_alone_;  // where reads may be dirty: updates order nothing
  std::optional<Along> along_;            // an order that was found
  std::array<bool, kLevelCount> wanted_{};
  std::array<bool, kLevelCount> tried_{};    // decide_what_is_left did what it can
  std::array<bool, kLevelCount> settled_{};  // unknown whatever is searched
  Unknown doubt_;                            // why nothing can be called satisfied; empty if it can
  // What is stated leaves so little open that the strongest levels are decided at once.
  bool stated_first_ = false;
  bool widened_ = false;  // levels are useful for those above and below them, asked for or not
  std::array<Verdict, kLevelCount> known_{};
  std::vector<Certificate> certificates_;
};

}  // namespace

CheckResult decide_levels(const History& history, const CheckOptions& options) {
  return LatticeWalk(history, options).run();
}

}  // namespace assay::internal

namespace assay {

CheckResult::CheckResult() = default;
CheckResult::CheckResult(const CheckResult&) = default;
CheckResult::CheckResult(CheckResult&&) noexcept = default;
CheckResult& CheckResult::operator=(const CheckResult&) = default;
CheckResult& CheckResult::operator=(CheckResult&&) noexcept = default;
CheckResult::~CheckResult() = default;

const Verdict* CheckResult::find(LevelId level) const {
  for (const Verdict& v : verdicts) {
    if (v.level == level) return &v;
  }
  return nullptr;
}

}  // namespace assay
