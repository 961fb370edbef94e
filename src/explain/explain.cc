// From verdicts to explanations. The stories come from story.h; this file decides which
// transactions they are about, and which levels share one.
//
// A level that was asked for alone may be violated because a much weaker one is, and then the
// weaker one names the anomaly:
//
//   s1: { w(x,1) w(y,1) }   s2: { r(y,0) r(x,1) }     not serializable; but that is a fractured
//                                                     read, not a write skew
//
// So the levels that were not asked for are decided on the transactions of the counterexample alone
// (witness.h), which takes no longer for a million transactions than for ten. Then as many
// transactions as possible are removed; the rest still violate the level by themselves in the same
// way, and the story is about these.
//
// Linear in the history (one scan for lost updates, one for each witness) plus the cost of each
// witness.
#include "explain/explain.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "explain/circumstances.h"
#include "explain/narrate.h"
#include "explain/other_levels.h"
#include "explain/story.h"
#include "explain/witness.h"
#include "history/session_levels.h"

namespace assay::internal {
namespace {

constexpr uint64_t kMostTries = 400;

class Explainer {
 public:
  Explainer(const History& history, const CheckResult& result) : h_(history), result_(result) {}

  std::vector<Explanation> run() {
    for (const Verdict& v : result_.verdicts)
      if (v.outcome == Outcome::violated && v.certificate < result_.certificates.size())
        explain(v.level, result_.certificates[v.certificate]);
    merge_equal();
    std::vector<Explanation> explanations;
    for (Story& story : stories_) {
      if (story.explanation.levels.empty()) continue;
      set_weakest(h_, story.explanation);
      add_circumstances(h_, story.explanation);
      set_statements_needed(h_, story.explanation);
      explanations.push_back(std::move(story.explanation));
    }
    return explanations;
  }

 private:
  void explain(LevelId level, const Certificate& certificate) {
    Story* story = refuting(stories_, level);
    if (story == nullptr) {
      Story told = story_of({h_}, level, certificate);
      const std::optional<Witness> witness = witness_of(certificate, told);
      std::optional<Story> weaker;
      if (witness) weaker = of_a_weaker_level(level, *witness);
      story = &stories_.emplace_back(weaker ? std::move(*weaker) : std::move(told));
      if (!witness || !explain_by_itself(*witness, *story))
        explain_by_whole_proof(certificate, *story);
    }
    story->explanation.levels.push_back(level);
  }

  static Story* refuting(std::vector<Story>& stories, LevelId level) {
    const auto story =
        std::ranges::find_if(stories, [&](const Story& s) { return s.refutes(level); });
    return story == stories.end() ? nullptr : &*story;
  }

  // Levels that do not imply each other may fail for the same reason; it is explained once.
  void merge_equal() {
    for (size_t i = 0; i < stories_.size(); ++i) {
      Explanation& first = stories_[i].explanation;
      for (size_t j = i + 1; j < stories_.size() && !first.levels.empty(); ++j) {
        Explanation& later = stories_[j].explanation;
        if (!same_story(first, later)) continue;
        first.levels.insert(first.levels.end(), later.levels.begin(), later.levels.end());
        later.levels.clear();
      }
      std::sort(first.levels.begin(), first.levels.end());
    }
  }

  static bool same_story(const Explanation& a, const Explanation& b) {
    return a.anomaly == b.anomaly && a.sentences == b.sentences && a.arrows == b.arrows &&
           a.transactions == b.transactions && a.operations == b.operations;
  }

  // A witness of what the contradiction of the proof is about, or otherwise of what the story is
  // about.
  std::optional<Witness> witness_of(const Certificate& certificate, const Story& told) const {
    std::vector<TxnId> txns = told.explanation.transactions;
    if (certificate.kind == Certificate::Kind::proof) {
      const Conclusion conclusion = conclude(certificate.proof);
      const std::vector<TxnId> more = mentioned(h_, certificate.proof, &conclusion);
      txns.insert(txns.end(), more.begin(), more.end());
    }
    std::optional<Witness> witness = Witness::of(h_, std::move(txns));
    return witness ? std::move(witness) : Witness::of(h_, told.explanation.transactions);
  }

  // The story of the weakest level that was not asked for and that this level's witness violates,
  // provided that the story refutes this level, too.
  std::optional<Story> of_a_weaker_level(LevelId level, const Witness& witness) const {
    std::vector<LevelId> weaker;
    for (const LevelInfo& other : default_levels())
      if (is_weaker(other.id, level) && result_.find(other.id) == nullptr)
        weaker.push_back(other.id);
    std::vector<Story> stories;
    for (const Refuted& r : refuted(witness.history(), std::move(weaker)))
      if (refuting(stories, r.level) == nullptr)
        stories.push_back(story_of(witness.excerpt_of(h_), r.level, r.certificate));
    Story* story = refuting(stories, level);
    if (story == nullptr) return std::nullopt;
    restate(witness, *story);
    return std::move(*story);
  }

  void restate(const Witness& witness, Story& story) const {
    Explanation& e = story.explanation;
    e = witness.in_whole(std::move(e), h_);
    e.hint = recording_hint(e.anomaly, h_);
  }

  // The story of why these transactions violate a level by themselves.
  static std::optional<Story> story_of_part(const Excerpt& part, LevelId level) {
    const std::vector<Refuted> violated = refuted(part.history, {level});
    if (violated.empty()) return std::nullopt;
    return story_of(part, level, violated[0].certificate);
  }

  // If the witness violates the level of the story by itself: explains the smallest part of it that
  // does.
  bool explain_by_itself(const Witness& witness, Story& story) const {
    const LevelId level = story.explanation.level;
    const std::optional<Story> of_all = story_of_part({witness.history()}, level);
    if (!of_all) return false;
    const auto shows = [&](const History& part) {
      const std::optional<Story> same = story_of_part({part}, level);
      return same && same->explanation.anomaly == of_all->explanation.anomaly;
    };
    const auto small = witness.smallest(shows, kMostTries);
    const bool smaller = small && small->witness.shown_at_once(h_, shows);
    const Witness& few = smaller ? small->witness : witness;
    if (!smaller && !few.shown_at_once(h_, shows)) return false;
    std::optional<Story> told = story_of_part(few.excerpt_of(h_), level);
    if (!told) return false;
    story = std::move(*told);
    restate(few, story);
    story.explanation.transactions = few.transactions_of(h_);
    story.explanation.self_proving = true;
    story.explanation.minimal = smaller && small->minimal;
    return true;
  }

  // If the transactions on which the contradiction rests do not violate the level by themselves,
  // all that the proof mentions may.
  void explain_by_whole_proof(const Certificate& certificate, Story& story) const {
    if (certificate.kind != Certificate::Kind::proof) return;
    const std::optional<Witness> all = Witness::of(h_, mentioned(h_, certificate.proof, nullptr));
    if (all) explain_by_itself(*all, story);
  }

  const History& h_;
  const CheckResult& result_;
  std::vector<Story> stories_;  // stories of weaker levels come first
};

}  // namespace

std::vector<Explanation> explain(const History& history, const CheckResult& result) {
  return Explainer(history, result).run();
}

const Explanation* find_explanation(const std::vector<Explanation>& explanations, LevelId level) {
  for (const Explanation& e : explanations)
    if (std::find(e.levels.begin(), e.levels.end(), level) != e.levels.end()) return &e;
  return nullptr;
}

}  // namespace assay::internal
