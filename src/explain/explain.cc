// How a certificate becomes a story.
//
//   1. two operations    they are the story; where no order of one key's operations exists, the
//                        operation at which all orders end (no_order.h)
//   2. a refutation      conclude(): its cheapest contradiction; shortest_cycle(): the cheapest
//                        cycle among the transactions it mentions; classify(): the name;
//                        narrate(): the sentences
//   3. a lost update     is a pattern of three transactions that can be seen anywhere in the
//                        history, and says more than any cycle: where levels that forbid it
//                        fail, look for it first
//
// A level that was asked for alone may be violated because a much weaker one is, and then the weaker one names the
// anomaly:
//
//   s1: { w(x,1) w(y,1) }   s2: { r(y,0) r(x,1) }     not serializable; but that is a fractured read, not a write skew
//
// So the levels that nobody asked for are decided on the transactions of the counterexample alone (witness.h), which
// takes no longer for a million transactions than for ten.
//
// Linear in the history (writers of versions, one scan for lost updates, one for each witness) plus the cost of the small
// graphs.
#include "explain/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "assay/verify.h"
#include "explain/because.h"
#include "explain/cases.h"
#include "explain/classify.h"
#include "explain/conclusion.h"
#include "explain/faults.h"
#include "explain/local_graph.h"
#include "explain/names.h"
#include "explain/narrate.h"
#include "explain/no_order.h"
#include "explain/phrases.h"
#include "explain/server_names.h"
#include "explain/statements_needed.h"
#include "explain/tell_cases.h"
#include "explain/witness.h"
#include "history/accesses.h"
#include "history/aggregate.h"
#include "history/predicates.h"
#include "history/session_levels.h"
#include "levels/overdrawn.h"
#include "levels/proof_hints.h"
#include "levels/walk.h"

namespace assay::internal {
namespace {

// What a story rests on besides reads and writes; decides which other levels it refutes.
struct Uses {
  bool session = false;
  bool time = false;         // of any kind
  bool within_time = false;  // of a kind other than "ended before the other began"

  void see(const Edge& e) {
    session |= e.kind == EdgeKind::session;
    if (e.kind == EdgeKind::real_time) {
      time = true;
      within_time |= !e.from_write || e.to_write;
    }
    for (const Edge& p : e.path) session |= p.kind == EdgeKind::session;
  }
  // Anything that `level` has may have been used.
  void see_all(const LevelInfo& level) {
    session |= level.session_order;
    time |= level.real_time != RealTime::none;
    within_time |=
        level.real_time == RealTime::into_commits || level.real_time == RealTime::all_but_begins;
  }
};

// A violated level with its certificate.
struct Refuted {
  LevelId level;
  const Certificate* certificate;
};

// The weakest first.
std::vector<Refuted> refuted(const CheckResult& result) {
  std::vector<Refuted> levels;
  for (const Verdict& v : result.verdicts)
    if (v.outcome == Outcome::violated && v.certificate < result.certificates.size())
      levels.push_back({v.level, &result.certificates[v.certificate]});
  return levels;
}

// An explanation with what it rests on.
struct Story {
  Explanation explanation;
  Uses uses;
};

class Explainer {
 public:
  Explainer(const History& history, const CheckResult& result)
      : h_(history), result_(result), accesses_(history) {}

  // Of a few transactions of `whole`: what they saw is told as it stands there.
  Explainer(const Witness& few, const CheckResult& result, const History& whole)
      : Explainer(few.history(), result) {
    accesses_.taken_from(whole, few.origins());
  }

  std::vector<Explanation> run() {
    for (const Refuted& r : refuted(result_)) {
      Story* story = covering(r.level);
      if (story == nullptr) {
        Story told = tell(r);
        const std::optional<Witness> witness = witness_of(r, told);
        std::optional<Story> weaker = of_a_weaker_level(r, witness);
        story = &stories_.emplace_back(weaker ? std::move(*weaker) : std::move(told));
        if (!witness || !tell_by_itself(*witness, *story)) tell_by_whole_proof(r, *story);
      }
      story->explanation.levels.push_back(r.level);
    }
    merge_equal();
    std::vector<Explanation> explanations;
    for (Story& story : stories_) {
      if (story.explanation.levels.empty()) continue;
      tell_weakest(story.explanation);
      tell_faults(h_, story.explanation);
      tell_unknown_outcomes(h_, story.explanation);
      tell_own_names(h_, story.explanation);
      tell_server_names(h_, story.explanation);
      tell_unfinished_run(h_, story.explanation);
      tell_statements_needed(h_, accesses_, story.explanation);
      explanations.push_back(std::move(story.explanation));
    }
    return explanations;
  }

 private:
  // Levels that do not imply each other may fail for the same reason; it is explained once.
  void merge_equal() {
    for (size_t i = 0; i < stories_.size(); ++i) {
      Explanation& first = stories_[i].explanation;
      for (size_t j = i + 1; j < stories_.size() && !first.levels.empty(); ++j) {
        Explanation& later = stories_[j].explanation;
        if (!tells_same(first, later)) continue;
        first.levels.insert(first.levels.end(), later.levels.begin(), later.levels.end());
        later.levels.clear();
      }
      std::sort(first.levels.begin(), first.levels.end());
    }
  }

  // The weakest of the levels that the transactions violate, also of those that nobody asked for.
  void tell_weakest(Explanation& e) const {
    std::vector<LevelId> broken = e.levels;
    broken.push_back(e.level);
    if (e.self_proving && e.level != LevelId::mixed) add_broken_besides(e.transactions, broken);
    std::sort(broken.begin(), broken.end());
    broken.erase(std::unique(broken.begin(), broken.end()), broken.end());
    for (const LevelId level : broken) {
      const auto is_weaker = [&](LevelId other) {
        return other != level && other != with_sessions(level) &&
               implies(with_sessions(level), other);
      };
      if (std::none_of(broken.begin(), broken.end(), is_weaker)) e.weakest.push_back(level);
    }
  }

  void add_broken_besides(const std::vector<TxnId>& txns, std::vector<LevelId>& broken) const {
    CheckOptions options = within_effort();
    const auto is_kin = [&](const LevelInfo& level) {
      return std::any_of(broken.begin(), broken.end(),
                         [&](LevelId id) { return level_info(id).group == level.group; });
    };
    for (const LevelInfo& level : all_levels())
      if ((!level.on_request() || is_kin(level)) &&
          std::find(broken.begin(), broken.end(), level.id) == broken.end())
        options.levels.push_back(level.id);
    const Result<History> few = part_of(h_, txns);
    if (options.levels.empty() || !few.ok()) return;
    const CheckResult decided = decide_levels(*few, options);
    for (const Refuted& r : refuted(decided))
      if (verify(*r.certificate, *few).ok()) broken.push_back(r.level);
  }

  static bool tells_same(const Explanation& a, const Explanation& b) {
    return a.anomaly == b.anomaly && a.sentences == b.sentences && a.arrows == b.arrows &&
           a.transactions == b.transactions && a.operations == b.operations;
  }

  // The story of the weakest level that nobody asked for and that the transactions of this one violate, if its story
  // refutes this level too.
  std::optional<Story> of_a_weaker_level(const Refuted& r,
                                         const std::optional<Witness>& witness) const {
    CheckOptions options = within_effort();
    for (const LevelInfo& level : default_levels()) {
      const bool weaker = level.id != r.level && level.id != with_sessions(r.level) &&
                          implies(with_sessions(r.level), level.id);
      if (weaker && result_.find(level.id) == nullptr) options.levels.push_back(level.id);
    }
    if (options.levels.empty()) return std::nullopt;
    if (!witness) return std::nullopt;
    const CheckResult decided = decide_levels(witness->history(), options);
    Explainer inner(*witness, decided, h_);
    for (const Refuted& weaker : refuted(decided))
      if (inner.covering(weaker.level) == nullptr &&
          verify(*weaker.certificate, witness->history()).ok())
        inner.stories_.push_back(inner.tell(weaker));
    Story* story = inner.covering(r.level);
    if (story == nullptr) return std::nullopt;
    story->explanation = witness->in_whole(std::move(story->explanation), h_);
    story->explanation.hint = recording_hint(story->explanation.anomaly, h_);
    return std::move(*story);
  }

  // The certificate of why a few transactions violate the level; none if they do not.
  static std::optional<CheckResult> refutation_of(const History& few, LevelId level) {
    CheckOptions options = within_effort();
    options.levels = {level};
    CheckResult decided = decide_levels(few, options);
    const std::vector<Refuted> violated = refuted(decided);
    if (violated.empty() || !verify(*violated[0].certificate, few).ok()) return std::nullopt;
    return decided;
  }

  static std::optional<Story> story_of(const History& few, LevelId level) {
    const std::optional<CheckResult> decided = refutation_of(few, level);
    if (!decided) return std::nullopt;
    return Explainer(few, *decided).tell(refuted(*decided)[0]);
  }

  std::optional<Story> story_of(const Witness& few, LevelId level) const {
    const std::optional<CheckResult> decided = refutation_of(few.history(), level);
    if (!decided) return std::nullopt;
    return Explainer(few, *decided, h_).tell(refuted(*decided)[0]);
  }

  // Where the witness violates the level of the story by itself: tells the story of the smallest part of it that does.
  bool tell_by_itself(const Witness& witness, Story& story) const {
    constexpr uint64_t kMostTries = 400;
    const LevelId level = story.explanation.level;
    const std::optional<Story> of_all = story_of(witness.history(), level);
    if (!of_all) return false;
    const Anomaly name = of_all->explanation.anomaly;
    const auto shows = [&](const History& part) {
      const std::optional<Story> story_of_part = story_of(part, level);
      return story_of_part && story_of_part->explanation.anomaly == name;
    };
    const auto small = witness.smallest(shows, kMostTries);
    const bool smaller = small && small->witness.shown_at_once(h_, shows);
    const Witness& few = smaller ? small->witness : witness;
    if (!smaller && !few.shown_at_once(h_, shows)) return false;
    std::optional<Story> told = story_of(few, level);
    if (!told) return false;
    Explanation& e = told->explanation;
    e = few.in_whole(std::move(e), h_);
    e.transactions = few.transactions_of(h_);
    e.hint = recording_hint(e.anomaly, h_);
    e.self_proving = true;
    e.minimal = smaller && small->minimal;
    story = std::move(*told);
    return true;
  }

  // Where what the contradiction rests on does not violate the level by itself, all that the proof goes through may.
  void tell_by_whole_proof(const Refuted& r, Story& story) const {
    if (r.certificate->kind != Certificate::Kind::proof) return;
    const std::optional<Witness> all =
        Witness::of(accesses_, mentioned(r.certificate->proof, nullptr));
    if (all) tell_by_itself(*all, story);
  }

  // What the contradiction of the proof is about, or at least what the story is about.
  std::optional<Witness> witness_of(const Refuted& r, const Story& told) const {
    std::vector<TxnId> txns = told.explanation.transactions;
    if (r.certificate->kind == Certificate::Kind::proof) {
      const Conclusion conclusion = conclude(r.certificate->proof);
      const std::vector<TxnId> more = mentioned(r.certificate->proof, &conclusion);
      txns.insert(txns.end(), more.begin(), more.end());
    }
    std::optional<Witness> witness = Witness::of(accesses_, std::move(txns));
    return witness ? std::move(witness) : Witness::of(accesses_, told.explanation.transactions);
  }

  // A story that refutes `level` too.
  Story* covering(LevelId level) {
    for (Story& story : stories_) {
      const LevelId own = story.explanation.level;
      const Uses& uses = story.uses;
      const bool plain = !uses.session && !uses.time;
      // "Ended before the other began" means the same to every level that looks at the clock.
      const bool by_clock = uses.time && !uses.within_time &&
                            implies(level, LevelId::strict_serializable) &&
                            level_info(own).events == EventModel::split;
      if (implies(level, own) || (plain && implies(with_sessions(level), own)) || by_clock)
        return &story;
    }
    return nullptr;
  }

  Story tell(const Refuted& r) {
    const Certificate& c = *r.certificate;
    Story story;
    Explanation& e = story.explanation;
    Uses& uses = story.uses;
    e.level = r.level;
    if (c.kind == Certificate::Kind::bad_read) {
      explain_bad_read(c.bad_read, e);
      // Only read committed lets a transaction read a key twice with different results; the story
      // needs neither sessions nor clocks.
    } else if (c.kind == Certificate::Kind::exhausted) {
      explain_exhausted(h_, c.exhausted, e);
      uses.time = true;
    } else {
      explain_proof(c.proof, level_info(r.level), e, uses);
    }
    std::stable_partition(e.arrows.begin(), e.arrows.end(),
                          [](const Arrow& a) { return a.in_cycle; });
    e.hint = recording_hint(e.anomaly, h_);
    tidy(e.transactions);
    tidy(e.operations);
    return story;
  }

  void explain_bad_read(const BadRead& bad, Explanation& e) const {
    e.anomaly = bad.anomaly;
    e.operations = {bad.read};
    e.transactions = {h_.txn_of(bad.read)};
    if (bad.other != kNone) {
      e.operations.push_back(bad.other);
      e.transactions.push_back(h_.txn_of(bad.other));
    }
    if (bad.anomaly == Anomaly::lost_update) return explain_overdrawn(bad.read, e);
    // Who wrote a value may just not have been recorded; two lists contradict each other whoever wrote them.
    if (bad.anomaly == Anomaly::thin_air_read && explain_contradicting_lists(all_lists(), e))
      return;
    e.sentences = narrate(bad, accesses_);
    if (bad.anomaly == Anomaly::result_set_mismatch) tell_writers_of_rows(bad.read, e);
  }

  // A value that was overwritten more often than it was there: by one more than needed. Of a value that was there once, two
  // lost an update as they do where values are unique.
  void explain_overdrawn(OpId read, Explanation& e) const {
    const VersionId version = observation_of(h_, read).version;
    const auto there = static_cast<size_t>(times_there(h_)[version]);
    std::vector<OpId> reads;
    each_update(h_, [&](OpId one, VersionId of) {
      if (of == version) reads.push_back(one);
      return reads.size() <= there;
    });
    if (there == 1 && reads.size() == 2) {
      const TxnId a = h_.txn_of(reads[0]), b = h_.txn_of(reads[1]);
      const Access seen{h_.version_key(version), version, kNone};
      const Cycle cycle = both_overwrite({a, b, seen});
      const Proof nothing;
      const Clauses clauses(accesses_, nothing);
      Uses uses;
      e.sentences = narrate(e.anomaly, cycle, accesses_, clauses);
      for (const Step& s : cycle) show(s, nothing, clauses, e, uses);
      return;
    }
    std::vector<OpId> writes;
    for (OpId i = 0; i < h_.op_count(); ++i)
      if (installs_version(h_.op(i)) && h_.op(i).version == version &&
          h_.status(h_.txn_of(i)) != TxnStatus::aborted)
        writes.push_back(i);
    e.sentences = narrate_overdrawn(h_, reads, writes);
    if (reads.size() + writes.size() > kMostWritersTold) return;
    reads.insert(reads.end(), writes.begin(), writes.end());
    for (const OpId op : reads) {
      e.operations.push_back(op);
      e.transactions.push_back(h_.txn_of(op));
    }
  }

  // Whoever may have written a row that an aggregate was computed of, unless they are many.
  void tell_writers_of_rows(OpId op, Explanation& e) const {
    const Predicates& known = h_.predicates();
    const auto keys = known.keys(known.aggregate(h_.selected(op).aggregate).where);
    std::vector<OpId> writes;
    for (OpId i = 0; i < h_.op_count(); ++i)
      if (installs_version(h_.op(i)) && std::binary_search(keys.begin(), keys.end(), h_.op(i).key))
        writes.push_back(i);
    if (writes.size() > kMostWritersTold) return;
    for (const OpId write : writes) {
      e.operations.push_back(write);
      e.transactions.push_back(h_.txn_of(write));
    }
  }
  static constexpr size_t kMostWritersTold = 32;

  // Nobody can have left what an operation saw.
  void explain_sourceless(const ProofStep& nobody, Explanation& e) const {
    const TxnId reader = h_.txn_of(nobody.source);
    const bool range = is_range(h_.op(nobody.source));
    e.anomaly = range ? Anomaly::result_set_mismatch : Anomaly::thin_air_read;
    e.transactions = {reader};
    if (range) e.sentences = against_its_condition(h_, nobody.source);
    if (!e.sentences.empty()) {
      e.operations = {nobody.source};
      return;
    }
    const std::string name = display_txn(h_, reader), key = key_in_words(h_, nobody.key);
    if (range && explain_phantom(nobody.source, nobody.key, e)) return;
    e.sentences = {name + " " + all_looks(nobody.source, nobody.key, e) + "."};
    // It saw the key more than once, and not the same.
    if (range && e.operations.size() > 1) e.anomaly = Anomaly::non_repeatable_read;
    tell_writes_before(nobody.source, nobody.key, e);
    e.sentences.push_back("Neither the initial state of " + key +
                          " nor any state in which a transaction left it agrees with " +
                          (e.operations.size() > 1 ? "everything that " : "what ") + name +
                          " saw of it.");
    for (const OpId op : std::vector(e.operations)) note_writers(op, nobody.key, e);
  }

  // Of two queries of one transaction one found the row and the other did not, and it did not write the key itself.
  bool explain_phantom(OpId query, KeyId key, Explanation& e) const {
    const TxnId reader = h_.txn_of(query);
    OpId other = kNone;
    for (OpId i = h_.first_op(reader); i < h_.end_op(reader); ++i) {
      if (installs_version(h_.op(i)) && h_.op(i).key == key) return false;
      if (other == kNone && is_range(h_.op(i)) && looks_at(h_, i, key) &&
          returned(h_, i, key) != returned(h_, query, key))
        other = i;
    }
    if (other == kNone) return false;
    const OpId first = std::min(query, other), second = std::max(query, other);
    e.anomaly = Anomaly::phantom;
    e.operations = {first, second};
    e.sentences = {asked_twice(h_, first, second, key)};
    note_writers(returned(h_, first, key) ? first : second, key, e);
    if (returned(h_, second, key) && e.operations.size() == 3)
      e.sentences.push_back(fmt::format("In between {} {}.",
                                        display_txn(h_, h_.txn_of(e.operations.back())),
                                        did_in_words(h_, e.operations.back())));
    return true;
  }

  // Everything that the transaction of `last` saw of a key that others left, up to it: "read x = 1, and then it read x = 2 with
  // range(…)", with the operations.
  std::string all_looks(OpId last, KeyId key, Explanation& e) const {
    std::vector<std::string> looks;
    bool wrote = false;
    for (OpId i = h_.first_op(h_.txn_of(last)); i < h_.end_op(h_.txn_of(last)); ++i) {
      const bool others = !wrote || i == last;
      wrote = wrote || (installs_version(h_.op(i)) && h_.op(i).key == key);
      if (!others || !looks_at(h_, i, key)) continue;
      std::string look = saw_in_words(h_, i, key);
      if (is_range(h_.op(i)) && h_.selected(i).predicate == kNone)
        look += " with " + display_op(h_, i);
      if (std::find(looks.begin(), looks.end(), look) != looks.end()) continue;
      looks.push_back(look);
      e.operations.push_back(i);
    }
    return fmt::format("{}", fmt::join(looks, ", and then it "));
  }

  // What the transaction of an operation had done to a key before.
  void tell_writes_before(OpId op, KeyId key, Explanation& e) const {
    for (OpId i = op; i-- > h_.first_op(h_.txn_of(op));)
      if (installs_version(h_.op(i)) && h_.op(i).key == key) {
        e.sentences.push_back("Before that, " + display_txn(h_, h_.txn_of(i)) + " " +
                              did_in_words(h_, i) + ".");
        e.operations.push_back(i);
        return;
      }
  }

  // Who wrote what an operation saw of a key: without them nobody did.
  void note_writers(OpId op, KeyId key, Explanation& e) const {
    std::vector<VersionId> seen = {observation_of(h_, op).version};
    if (is_range(h_.op(op)))
      for (const VersionId row : rows_of(h_, op))
        if (h_.version_key(row) == key) seen.push_back(row);
    for (OpId i = 0; i < h_.op_count(); ++i)
      if (installs_version(h_.op(i)) && h_.op(i).key == key &&
          std::find(seen.begin(), seen.end(), h_.op(i).version) != seen.end()) {
        e.operations.push_back(i);
        e.transactions.push_back(h_.txn_of(i));
      }
  }

  // A refutation that goes through where the elements of lists come from: if two lists contradict each other, or nobody can
  // have appended what they show. False if it is neither.
  bool explain_lists(const Proof& proof, Explanation& e) const {
    std::vector<OpId> lists;  // of those who certainly took effect
    bool any = false, cycles = false;
    for (const ProofStep& step : proof.steps) {
      cycles = cycles || step.kind == ProofStep::Kind::cycle;
      if (step.kind != ProofStep::Kind::blocks) continue;
      any = true;
      if (h_.status(h_.txn_of(step.source)) == TxnStatus::committed) lists.push_back(step.source);
    }
    tidy(lists);
    if (explain_contradicting_lists(lists, e)) return true;
    if (!any || cycles) return false;
    explain_impossible_lists(lists, e);
    return true;
  }

  // Lists that committed transactions read.
  std::vector<OpId> all_lists() const {
    std::vector<OpId> lists;
    for (OpId i = 0; i < h_.op_count(); ++i)
      if (observation_of(h_, i).accepts == Accepts::list &&
          h_.status(h_.txn_of(i)) == TxnStatus::committed)
        lists.push_back(i);
    return lists;
  }

  // Lists that do not contradict each other are all beginnings of the longest of their key. False if that is so.
  bool explain_contradicting_lists(const std::vector<OpId>& lists, Explanation& e) const {
    std::unordered_map<KeyId, OpId> longest;
    const auto size = [this](OpId op) { return outside_list(h_, op).elements.size(); };
    for (const OpId op : lists) {
      OpId& of_key = longest.try_emplace(h_.op(op).key, op).first->second;
      if (size(op) > size(of_key)) of_key = op;
    }
    for (const OpId op : lists) {
      const OpId other = longest.at(h_.op(op).key);
      if (contradict(op, other))
        return explain_two_lists(std::min(op, other), std::max(op, other), e);
    }
    return false;
  }

  void explain_impossible_lists(const std::vector<OpId>& lists, Explanation& e) const {
    constexpr size_t kMost = 3;
    std::string read;
    for (size_t i = 0; i < std::min(lists.size(), kMost); ++i)
      read += (i == 0 ? "" : ", ") + display_txn(h_, h_.txn_of(lists[i])) + " read " +
              list_as_read(lists[i]);
    if (lists.size() > kMost) read += ", and so on";
    e.anomaly = Anomaly::thin_air_read;
    e.operations = lists;
    for (const OpId op : lists) e.transactions.push_back(h_.txn_of(op));
    e.sentences = {
        read + (lists.empty() ? "What" : "; but what") +
        " the transactions that may have taken effect appended cannot be put together to " +
        (lists.size() == 1 ? "this list" : "what was read") +
        ": each appends all of its elements in one piece, once."};
  }

  std::string list_as_read(OpId read_list) const {
    const Accesses::InFile read = accesses_.in_file(read_list);
    return list_in_words(read.history, read.op);
  }

  // Of one key, and neither is how the other begins.
  bool contradict(OpId a, OpId b) const {
    if (h_.op(a).key != h_.op(b).key) return false;
    const std::span<const VersionId> x = outside_list(h_, a).elements,
                                     y = outside_list(h_, b).elements;
    const size_t both = std::min(x.size(), y.size());
    return !std::equal(x.begin(), x.begin() + static_cast<ptrdiff_t>(both), y.begin());
  }

  bool explain_two_lists(OpId a, OpId b, Explanation& e) const {
    e.anomaly = Anomaly::g0;
    e.operations = {a, b};
    e.transactions = {h_.txn_of(a), h_.txn_of(b)};
    e.sentences = {
        display_txn(h_, h_.txn_of(a)) + " read " + list_as_read(a) + ", and " +
        display_txn(h_, h_.txn_of(b)) + " read " + list_as_read(b) +
        ". A list grows at its end only, so one of the two has to begin like the other."};
    return true;
  }

  void explain_proof(const Proof& proof, const LevelInfo& level, Explanation& e, Uses& uses) {
    const ProofStep& last = proof.steps.back();
    if (last.kind == ProofStep::Kind::sources) return explain_sourceless(last, e);
    if (explain_lists(proof, e)) return;
    const Conclusion conclusion = conclude(proof);
    const Clauses clauses(accesses_, proof);
    Cycle cycle;
    if (forbids_lost_update(level)) cycle = lost_update(proof);
    // Levels that ask what kinds of edges a path has know best which cycle they mean.
    if (cycle.empty() && !level.on_request()) cycle = tell_tale_cycle(proof, conclusion, level);
    if (cycle.empty()) cycle = own_cycle(proof, conclusion);
    if (!is_proven(cycle, proof)) {
      if (const std::optional<CaseTree> tree = case_tree(proof)) {
        e.anomaly = of_every_cycle(proof, level);
        uses.see_all(level);
        return tell_cases(*tree, proof, accesses_, e);
      }
    }
    cycle = without_forced(std::move(cycle));
    // The earliest transaction first.
    std::rotate(
        cycle.begin(),
        std::min_element(cycle.begin(), cycle.end(),
                         [](const Step& a, const Step& b) { return a.edge.from < b.edge.from; }),
        cycle.end());
    e.anomaly = classify(cycle, level, h_);
    e.sentences = narrate(e.anomaly, cycle, accesses_, clauses);
    for (const Step& s : cycle) show(s, proof, clauses, e, uses);
    tell_sources_left_open(proof, e, uses);
  }

  // What all cycles of the proof show; where they differ, the class of most such contradictions.
  Anomaly of_every_cycle(const Proof& proof, const LevelInfo& level) const {
    std::optional<Anomaly> common;
    for (const ProofStep& step : proof.steps) {
      if (step.kind != ProofStep::Kind::cycle) continue;
      Cycle cycle;
      for (const Edge& edge : step.cycle) cycle.push_back({edge, Step::Because::plain, {}, kNone});
      const Anomaly shown = classify(without_forced(std::move(cycle)), level, h_);
      if (common && *common != shown) return Anomaly::g2_item;
      common = shown;
    }
    return common.value_or(Anomaly::g2_item);
  }

  // Whether each order of writers that the cycle assumes has a reason that can be told.
  static bool is_proven(const Cycle& cycle, const Proof& proof) {
    return std::none_of(cycle.begin(), cycle.end(), [&](const Step& s) {
      if (s.because == Step::Because::proof)
        return proof.steps[s.proof_step].kind == ProofStep::Kind::derived;
      return order_assumed(s.edge) &&
             (s.because == Step::Because::plain || s.because == Step::Because::assumed);
    });
  }

  // That the refutation goes through the possible writers of some reads, if it does.
  void tell_sources_left_open(const Proof& proof, Explanation& e, Uses& uses) const {
    const auto reads = std::count_if(proof.steps.begin(), proof.steps.end(), several_sources);
    if (reads == 0) return;
    e.sentences.insert(e.sentences.begin(),
                       "Several writers could explain what was read (" + std::to_string(reads) +
                           (reads == 1 ? " read" : " reads") +
                           " that the proof looks at); whichever it was, something is wrong.");
    uses.session = uses.time = uses.within_time = true;  // what is not shown may use them
  }

  static bool several_sources(const ProofStep& step) {
    return (step.kind == ProofStep::Kind::sources ||
            (step.kind == ProofStep::Kind::blocks && step.element != kNone)) &&
           step.clause.size() > 1;
  }

  // The proof's own cycle, unadorned.
  Cycle own_cycle(const Proof& proof, const Conclusion& conclusion) const {
    Cycle cycle;
    for (const Edge& edge : conclusion.cycle) {
      const Literal order{edge.kind == EdgeKind::anti_dependency ? edge.via : edge.from, edge.to};
      const uint32_t stated = stating(proof, order);
      const bool assumes =
          edge.kind == EdgeKind::write_dependency || edge.kind == EdgeKind::anti_dependency;
      const auto forced = std::ranges::find(conclusion.forced, order, &ConcludedOrder::pair);
      const bool proved = assumes && stated == kNone && forced != conclusion.forced.end();
      const Access update = proved ? Accesses::find(accesses_.reads(edge.to), edge.key) : Access{};
      const bool read_first = update.op != kNone && accesses_.writer(update.version) == order.from;
      const Step::Because because = source_is_open(proof, edge)  ? Step::Because::assumed
                                    : assumes && stated != kNone ? Step::Because::stated
                                    : read_first                 ? Step::Because::read_first
                                    : proved                     ? Step::Because::proof
                                                                 : Step::Because::plain;
      cycle.push_back({edge,
                       because,
                       {},
                       because == Step::Because::stated  ? stated
                       : because == Step::Because::proof ? forced->step
                                                         : kNone});
    }
    return cycle;
  }

  // The step of the proof that says that the history states `order`; kNone if there is none.
  static uint32_t stating(const Proof& proof, const Literal& order) {
    for (uint32_t s = 0; s < proof.steps.size(); ++s)
      if (proof.steps[s].kind == ProofStep::Kind::fact && proof.steps[s].clause.size() == 1 &&
          proof.steps[s].clause[0] == order)
        return s;
    return kNone;
  }

  // Whether the proof takes the source of the edge's read for one of several.
  static bool source_is_open(const Proof& proof, const Edge& edge) {
    if (edge.kind != EdgeKind::read_dependency && edge.kind != EdgeKind::anti_dependency)
      return false;
    const bool reads = edge.kind == EdgeKind::read_dependency;
    const Literal seen =
        Literal::seen(reads ? edge.to : edge.from, edge.key, reads ? edge.from : edge.via);
    const auto says_so = [&](Literal literal) {
      if (literal.kind == Literal::Kind::block)
        return literal.key == seen.key && literal.from == seen.from;
      const bool same_operation = literal.op == kNone || literal.op == edge.op;
      literal.op = kNone;
      return same_operation && literal == seen;
    };
    return std::any_of(proof.steps.begin(), proof.steps.end(), [&](const ProofStep& step) {
      return several_sources(step) && std::any_of(step.clause.begin(), step.clause.end(), says_so);
    });
  }

  static bool forbids_lost_update(const LevelInfo& level) {
    return level.write_conflict || level.events == EventModel::single;
  }

  // Two transactions that read one version of a key and both overwrite it; the pair that the proof
  // mentions, or else the first of the file.
  Cycle lost_update(const Proof& proof) {
    if (!divergences_known_) find_divergences();
    if (divergences_.empty()) return {};
    const std::vector<TxnId> named = mentioned(proof, nullptr);
    const auto is_named = [&](TxnId t) {
      return std::binary_search(named.begin(), named.end(), t);
    };
    const Divergence* best = &divergences_[0];
    for (const Divergence& d : divergences_)
      if (is_named(d.first) && is_named(d.second)) {
        best = &d;
        break;
      }
    return both_overwrite(*best);
  }

  struct Divergence {
    TxnId first, second;
    Access read;
  };

  Cycle both_overwrite(const Divergence& two) const {
    const auto anti = [&](TxnId from, TxnId to) {
      Step s;
      s.edge.kind = EdgeKind::anti_dependency;
      s.edge.from = from;
      s.edge.to = to;
      s.edge.key = two.read.key;
      s.edge.via = accesses_.writer(two.read.version);
      s.edge.op = Accesses::find(accesses_.reads(from), two.read.key).op;
      if (s.edge.via != kNone) s.because = Step::Because::read_first;
      return s;
    };
    return {anti(two.first, two.second), anti(two.second, two.first)};
  }

  void find_divergences() {
    divergences_known_ = true;
    constexpr size_t kMost = 1000;
    std::vector<TxnId> updater(h_.version_count(), kNone);
    std::vector<TxnId> reader(h_.key_count(), kNone);  // per key: who read it last
    for (TxnId t = 0; t < h_.txn_count() && divergences_.size() < kMost; ++t) {
      if (h_.status(t) != TxnStatus::committed || !may_update(t, reader)) continue;
      std::unordered_set<KeyId> written;
      for (const Access& w : accesses_.writes(t)) written.insert(w.key);
      for (const Access& r : accesses_.certain(accesses_.reads(t))) {
        if (!written.contains(r.key)) continue;
        TxnId& first = updater[r.version];
        if (first == kNone) {
          first = t;
        } else {
          divergences_.push_back({first, t, r});
        }
      }
    }
  }

  // Whether `t` writes a key after reading it; most transactions do not, and this rules them out quickly.
  bool may_update(TxnId t, std::vector<TxnId>& reader) const {
    bool range = false;
    for (OpId i = h_.first_op(t); i < h_.end_op(t); ++i) {
      const Operation op = h_.op(i);
      if (is_range(op)) {
        range = true;
      } else if (installs_version(op)) {
        const bool reads = observation_of(h_, i).accepts == Accepts::equals;
        if (range || reads || reader[op.key] == t) return true;
      } else {
        reader[op.key] = t;
      }
    }
    return false;
  }

  // Every transaction of the cycles of the proof, and those that read what it appeals to; of those only that `conclusion`
  // rests on if given.
  std::vector<TxnId> mentioned(const Proof& proof, const Conclusion* conclusion) const {
    std::vector<TxnId> txns;
    const auto see = [&](const Edge& e) {
      txns.push_back(e.from);
      txns.push_back(e.to);
      if (e.via != kNone) txns.push_back(e.via);
      for (const Edge& p : e.path) {
        txns.push_back(p.from);
        txns.push_back(p.to);
      }
    };
    const auto see_step = [&](const ProofStep& s) {
      for (const Edge& e : s.cycle) see(e);
      const bool of_operation = s.kind == ProofStep::Kind::sources ||
                                s.kind == ProofStep::Kind::blocks ||
                                (s.kind == ProofStep::Kind::fact && s.source_is_op);
      if (of_operation && s.source != kNone) txns.push_back(h_.txn_of(s.source));
    };
    if (conclusion) {
      for (const Edge& e : conclusion->cycle) see(e);
      for (const ConcludedOrder& f : conclusion->forced) see_step(proof.steps[f.step]);
    } else {
      for (const ProofStep& s : proof.steps) see_step(s);
    }
    std::sort(txns.begin(), txns.end());
    txns.erase(std::unique(txns.begin(), txns.end()), txns.end());
    txns.erase(std::remove(txns.begin(), txns.end(), kNone), txns.end());
    return txns;
  }

  Cycle tell_tale_cycle(const Proof& proof, const Conclusion& conclusion, const LevelInfo& level) {
    std::vector<TxnId> txns = mentioned(proof, &conclusion);
    if (txns.size() > kMaxLocal) {
      txns.clear();
      for (const Edge& e : conclusion.cycle) txns.insert(txns.end(), {e.from, e.to});
    }
    add_short_cuts(conclusion.cycle, level.session_order, txns);
    FoundCycle found = shortest_cycle(accesses_, level, txns, conclusion, proof);
    const Conclusion other = other_end(conclusion, proof);
    if (!other.cycle.empty()) {
      FoundCycle turned = shortest_cycle(accesses_, level, std::move(txns), other, proof);
      const bool tells = !turned.cycle.empty() && (found.cycle.empty() || turned.cost < found.cost);
      if (tells && classify(turned.cycle, level, h_) == Anomaly::lost_update)
        return std::move(turned.cycle);
    }
    return std::move(found.cycle);
  }

  // Where the cycle winds through several sessions and reads there may be a shorter way between the
  // same two ends; its transactions join the others.
  void add_short_cuts(const std::vector<Edge>& cycle, bool sessions,
                      std::vector<TxnId>& txns) const {
    const auto causal = [](const Edge& e) {
      return e.kind == EdgeKind::read_dependency || e.kind == EdgeKind::session;
    };
    const auto join = [&](const std::vector<Edge>& run) {
      if (run.size() < 3 || run.front().from == run.back().to) return;
      for (const Edge& e : causal_path(accesses_, run.front().from, run.back().to, sessions))
        txns.insert(txns.end(), {e.from, e.to});
    };
    std::vector<Edge> run;
    for (const Edge& e : cycle) {
      if (causal(e)) {
        run.push_back(e);
        continue;
      }
      join(run);
      join(e.path);
      run.clear();
    }
    join(run);
  }

  void show(const Step& s, const Proof& proof, const Clauses& clauses, Explanation& e,
            Uses& uses) const {
    const Edge& edge = s.edge;
    const auto place = static_cast<uint32_t>(
        std::count_if(e.arrows.begin(), e.arrows.end(), [](const Arrow& a) { return a.in_cycle; }));
    e.arrows.push_back({edge.kind, edge.from, edge.to, edge.key, true, clauses.because(s)});
    e.transactions.insert(e.transactions.end(), {edge.from, edge.to});
    uses.see(edge);
    note_operations(edge, e);
    for (const Edge& p : s.path) {
      uses.see(p);
      support(p, place, clauses, e);
    }
    if (edge.kind == EdgeKind::anti_dependency && edge.via != kNone) {
      Edge read = edge;
      read.kind = EdgeKind::read_dependency;
      read.from = edge.via;
      read.to = edge.from;
      support(read, place, clauses, e);
      if (s.because == Step::Because::read_first) {
        read.to = edge.to;
        read.op = Accesses::find(accesses_.reads(edge.to), edge.key).op;
        if (read.op != kNone) support(read, place, clauses, e);
      }
      support_order(s, place, clauses, e);
    }
    if (s.because == Step::Because::stated) show_list(s, proof, place, clauses, e);
    if (s.because == Step::Because::proof) {
      uses.see_all(level_info(e.level));  // the deeper reasons are not looked at
      show_refutation(proof.steps[s.proof_step],
                      {edge.to, edge.kind == EdgeKind::anti_dependency ? edge.via : edge.from},
                      place, clauses, e);
    }
  }

  // The read of the list that shows in which order its elements were appended.
  void show_list(const Step& s, const Proof& proof, uint32_t place, const Clauses& clauses,
                 Explanation& e) const {
    const OpId list = Clauses::list_behind(s, proof);
    if (list == kNone) return;
    e.operations.push_back(list);
    e.transactions.push_back(h_.txn_of(list));
    const std::span<const VersionId> elements = outside_list(h_, list).elements;
    if (elements.empty() || accesses_.writer(elements.back()) != s.edge.to) return;
    Edge read;
    read.kind = EdgeKind::read_dependency;
    read.from = s.edge.to;
    read.to = h_.txn_of(list);
    read.key = h_.op(list).key;
    read.op = list;
    support(read, place, clauses, e);
  }

  // That what was missed overwrote what was read, where something says so.
  void support_order(const Step& anti, uint32_t place, const Clauses& clauses,
                     Explanation& e) const {
    if (anti.because == Step::Because::plain || anti.because == Step::Because::assumed) return;
    Step order = anti;
    order.edge.kind = EdgeKind::write_dependency;
    order.edge.from = anti.edge.via;
    order.edge.via = order.edge.op = kNone;
    support(order.edge, place, clauses, e, clauses.because(order));
  }

  // The cycle that the order `assumed` would close, if it is short: what holds of it, and what would hold.
  void show_refutation(const ProofStep& step, const Literal& assumed, uint32_t place,
                       const Clauses& clauses, Explanation& e) const {
    if (step.cycle.size() > Clauses::kMostRefuting) return;
    for (const Edge& p : step.cycle) {
      const bool refuted =
          (p.kind == EdgeKind::write_dependency && Literal{p.from, p.to} == assumed) ||
          (p.kind == EdgeKind::anti_dependency && Literal{p.via, p.to} == assumed);
      if (refuted) {
        show_alternative(p, place, clauses, e);
      } else {
        support(p, place, clauses, e);
      }
    }
  }

  // What the proof excludes, shown once for each arrow that it is the alternative to.
  void show_alternative(const Edge& edge, uint32_t place, const Clauses& clauses,
                        Explanation& e) const {
    e.arrows.push_back({edge.kind,
                        edge.from,
                        edge.to,
                        edge.key,
                        false,
                        "it cannot be that " + clauses.because(edge),
                        true,
                        {place}});
    e.transactions.insert(e.transactions.end(), {edge.from, edge.to});
    note_operations(edge, e);
  }

  // An arrow that the one of the cycle at `place` rests on, shown once.
  void support(const Edge& edge, uint32_t place, const Clauses& clauses, Explanation& e) const {
    support(edge, place, clauses, e, clauses.because(edge));
  }

  void support(const Edge& edge, uint32_t place, const Clauses& clauses, Explanation& e,
               const std::string& because) const {
    for (Arrow& a : e.arrows) {
      if (a.from != edge.from || a.to != edge.to || a.kind != edge.kind || a.refuted) continue;
      if (std::find(a.supports.begin(), a.supports.end(), place) == a.supports.end())
        a.supports.push_back(place);
      return;
    }
    if (edge.kind == EdgeKind::forced) {
      for (const Edge& p : edge.path) support(p, place, clauses, e);
      e.transactions.push_back(edge.via);
    }
    e.arrows.push_back({edge.kind, edge.from, edge.to, edge.key, false, because, false, {place}});
    e.transactions.insert(e.transactions.end(), {edge.from, edge.to});
    note_operations(edge, e);
  }

  // The reads and writes that an edge is about.
  void note_operations(const Edge& edge, Explanation& e) const {
    if (edge.key == kNone) return;
    const auto note = [&](const Access& a) {
      if (a.op != kNone) e.operations.push_back(a.op);
    };
    const bool reads_at_end = edge.kind == EdgeKind::read_dependency;
    if (edge.kind == EdgeKind::anti_dependency || reads_at_end)
      note(
          {edge.key, kNone,
           edge.op != kNone
               ? edge.op
               : Accesses::find(accesses_.reads(reads_at_end ? edge.to : edge.from), edge.key).op});
    if (edge.kind != EdgeKind::anti_dependency)
      note(Accesses::find(accesses_.writes(edge.from), edge.key));
    if (!reads_at_end) note(Accesses::find(accesses_.writes(edge.to), edge.key));
  }

  template <class T>
  static void tidy(std::vector<T>& v) {
    std::sort(v.begin(), v.end());
    v.erase(std::unique(v.begin(), v.end()), v.end());
    while (!v.empty() && v.back() == kNone) v.pop_back();
  }

  const History& h_;
  const CheckResult& result_;
  Accesses accesses_;
  std::vector<Story> stories_;  // those of weaker levels first
  std::vector<Divergence> divergences_;
  bool divergences_known_ = false;
};

}  // namespace

std::vector<Explanation> explain(const History& history, const CheckResult& result) {
  bool any = false;
  for (const Verdict& v : result.verdicts) any = any || v.outcome == Outcome::violated;
  if (!any) return {};
  return Explainer(history, result).run();
}

const Explanation* find_explanation(const std::vector<Explanation>& explanations, LevelId level) {
  for (const Explanation& e : explanations)
    if (std::find(e.levels.begin(), e.levels.end(), level) != e.levels.end()) return &e;
  return nullptr;
}

}  // namespace assay::internal
