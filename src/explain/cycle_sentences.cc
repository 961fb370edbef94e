#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "explain/names.h"
#include "explain/narrate.h"
#include "explain/phrases.h"
#include "explain/sentence_table.h"

namespace assay::internal {
namespace {

bool is_anti(const Step& s) { return s.edge.kind == EdgeKind::anti_dependency; }

// Puts first how the reader came to see the writer, then the version that it missed: the first
// anti-dependency comes last.
Cycle anti_last(Cycle cycle) {
  const auto anti = std::ranges::find_if(cycle, is_anti);
  if (anti != cycle.end()) std::rotate(cycle.begin(), anti + 1, cycle.end());
  return cycle;
}

class CycleStory {
 public:
  CycleStory(Cycle cycle, const History& h, const Clauses& say)
      : cycle_(anti_last(std::move(cycle))),
        h_(h),
        say_(say),
        saw_(cycle_.front().edge),
        miss_(cycle_.back().edge),
        other_miss_(first_anti().edge),
        clock_(saw_.kind == EdgeKind::real_time ? cycle_.front() : cycle_.back()),
        beside_clock_(saw_.kind == EdgeKind::real_time ? cycle_.back() : cycle_.front()) {}

  std::vector<std::string> tell(Anomaly anomaly) const {
    const bool two = cycle_.size() == 2, far = cycle_.size() > 2;
    const bool both_wrote =
        overwrites(h_, miss_.from, miss_.key) && overwrites(h_, miss_.to, miss_.key);
    const bool same = anomaly == Anomaly::lost_update && read_the_same();
    const bool two_misses = std::ranges::count_if(cycle_, is_anti) == 2;
    // One transaction had begun before the other ended, and yet saw or overwrote what the other
    // did: this contradicts snapshots, though not locks.
    const bool overlap = two && clock_.edge.kind == EdgeKind::real_time &&
                         !clock_.edge.from_write && clock_.edge.to_write;
    const EdgeKind beside = beside_clock_.edge.kind;
    const bool stale = two && is_anti(cycle_.back()) && saw_.kind == EdgeKind::real_time;
    static constexpr std::string_view kNeitherSaw =
        "{first}, and {second}.\n"
        "Neither saw the other's write, so {writer} would have to run before {reader} and "
        "{reader} before {writer}.";
    const SentenceRow rows[] = {
        {Anomaly::fractured_read, !far,
         "{reader} saw only a part of {writer}: it {saw from it}, but not its {lost}.\n"
         "Instead it {older}."},
        {Anomaly::non_monotonic_read, !far && saw_.key == miss_.key,
         "{reader} looked at {key} twice without writing it. First it {saw}.\nAfterwards it "
         "{older}.\nWithin one transaction, the state read went back in time."},
        {Anomaly::non_monotonic_read, !far,
         "{reader} first {saw from writer}; {writer} also {did}.\nAfterwards {reader} "
         "{older}.\nWithin one transaction, the state read went back in time."},
        {Anomaly::session_guarantee_violation, !far,
         "{reader} follows {writer} in session {session}, yet it did not see {writer}'s {lost}.\n"
         "Instead it {older}."},
        {Anomaly::phantom, true,
         "{asked twice}\n"
         "In between {writer} {did}."},
        {Anomaly::lost_update, same && both_wrote,
         "{reader} and {writer} both {origin} and both overwrote it: {reader} wrote {own value}, "
         "{writer} wrote {value}.\nWhichever wrote {key} second did not see the other's update, "
         "which is lost."},
        {Anomaly::lost_update, same,
         "{reader} and {writer} both {origin}; {reader} {did itself}, and {writer} "
         "{did}.\nWhichever changed {key} second did not see the other's update."},
        {Anomaly::lost_update, both_wrote,
         "{reader} {origin} and {then}{did itself}.\n"
         "In between {writer} had written {lost}; {reader} overwrote it without having seen it."},
        {Anomaly::lost_update, true,
         "{reader} {origin} and {then}{did itself}.\n"
         "In between {writer} {did}, which {reader} did not see."},
        {Anomaly::write_skew, true, kNeitherSaw},
        {Anomaly::g2, two && two_misses, kNeitherSaw},
        {Anomaly::long_fork, two_misses,
         "{other reader} saw the effect of {writer} but not {other writer}'s {other lost}: it "
         "{other origin}.\n"
         "{reader} saw the effect of {other writer} but not {writer}'s {lost}: it {origin}.\n"
         "No single order of {other writer} and {writer} fits both."},
        {Anomaly::real_time_violation, overlap && beside == EdgeKind::read_dependency,
         "{beside clock}, but {clock}.\nSo {later} did not read the state of the moment at which "
         "it began."},
        {Anomaly::real_time_violation, overlap && beside == EdgeKind::write_dependency,
         "{edge beside clock}, but {clock}.\n"
         "{earlier} and {later} overlapped and both changed {key beside clock}; with snapshots, "
         "only one of the two may commit."},
        {Anomaly::real_time_violation, stale,
         "{first}.\n"
         "Yet {reader} did not see {writer}'s {lost}.\n"
         "It {older}."},
        {Anomaly::causality_violation, true,
         "{reader} depends on {writer} through reads and sessions: {chain}.\n"
         "So it must see {writer}'s {lost}, and did not.\n"
         "It {older}."},
        {Anomaly::none, true,
         "No order explains the reads: it would have to place {order}.\n"
         "{reasons}."},
    };
    // An observation over more than one step is described as such. Some session guarantees look
    // beyond a session.
    const bool short_ones = anomaly == Anomaly::fractured_read ||
                            anomaly == Anomaly::non_monotonic_read ||
                            anomaly == Anomaly::session_guarantee_violation;
    return sentences_for(rows, short_ones && far ? Anomaly::causality_violation : anomaly,
                         [this](std::string_view name) { return word(name); });
  }

 private:
  std::string word(std::string_view name) const {
    if (name == "reader") return say_.txn(miss_.from);
    if (name == "writer") return say_.txn(miss_.to);
    if (name == "key") return key_in_words(h_, miss_.key);
    if (name == "session") return display_session(h_, h_.session(miss_.from));
    if (name == "lost") return say_.effect(miss_.to, miss_.key);
    if (name == "did") return say_.did(miss_.to, miss_.key);
    if (name == "did itself") return say_.did(miss_.from, miss_.key);
    if (name == "value") return value_written(h_, miss_.to, miss_.key);
    if (name == "own value") return value_written(h_, miss_.from, miss_.key);
    if (name == "origin") return say_.saw_with_origin(miss_);
    if (name == "older") return older();
    if (name == "then") return wrote_before_reading() ? "" : "then ";
    if (name == "saw") return say_.saw(saw_);
    if (name == "saw from it") return say_.saw_of(saw_, "from", "it");
    if (name == "saw from writer") return say_.saw_of(saw_, "from", say_.txn(miss_.to));
    if (name == "asked twice") return both_queries();
    if (name == "other reader") return say_.txn(other_miss_.from);
    if (name == "other writer") return say_.txn(other_miss_.to);
    if (name == "other lost") return say_.effect(other_miss_.to, other_miss_.key);
    if (name == "other origin") return say_.saw_with_origin(other_miss_);
    if (name == "first") return say_.in_sentence(cycle_.front());
    if (name == "second") return say_.in_sentence(cycle_.back());
    if (name == "clock") return say_.because(clock_);
    if (name == "beside clock") return say_.because(beside_clock_);
    if (name == "edge beside clock") return say_.because(beside_clock_.edge);
    if (name == "key beside clock") return key_in_words(h_, beside_clock_.edge.key);
    if (name == "earlier") return say_.txn(clock_.edge.to);
    if (name == "later") return say_.txn(clock_.edge.from);
    if (name == "chain") return chain();
    if (name == "order") return order();
    assert(name == "reasons");
    return reasons();
  }

  const Step& first_anti() const {
    const auto anti = std::ranges::find_if(cycle_, is_anti);
    return anti == cycle_.end() ? cycle_.back() : *anti;
  }

  // "read x = 1 (written by T1), an older version (…)"
  std::string older() const {
    std::string s = say_.saw_with_origin(miss_);
    if (miss_.via == kNone) return s;
    const OpId read = say_.reading(miss_);
    if (read != kNone && saw_a_value(h_, read, miss_.key)) s += ", an older version";
    const std::string why = say_.justification(cycle_.back());
    return why.empty() ? s : fmt::format("{} ({})", s, why);
  }

  // Whether both transactions of a lost update read the same.
  bool read_the_same() const {
    const Access a = first_read(h_, miss_.from, miss_.key), b = first_read(h_, miss_.to, miss_.key);
    return a.op != kNone && b.op != kNone && a.version == b.version &&
           say_.saw(a.op, miss_.key) == say_.saw(b.op, miss_.key);
  }

  bool wrote_before_reading() const {
    const OpId own = last_write(h_, miss_.from, miss_.key), read = say_.reading(miss_);
    return own != kNone && read != kNone && own < read;
  }

  std::string both_queries() const {
    const auto [first, second] = std::minmax({say_.reading(miss_), say_.reading(saw_)});
    return asked_twice(h_, first, second, miss_.key);
  }

  std::string chain() const {
    std::vector<Edge> path;
    for (size_t i = 0; i + 1 < cycle_.size(); ++i) path.push_back(cycle_[i].edge);
    return say_.chain(path);
  }

  static constexpr size_t kMost = 8;

  std::string order() const {
    std::string order;
    for (size_t i = 0; i < cycle_.size() && i < kMost; ++i) {
      if (i > 0) order += i + 1 == cycle_.size() ? ", and " : ", ";
      order += say_.txn(cycle_[i].edge.from) + " before " + say_.txn(cycle_[i].edge.to);
    }
    if (cycle_.size() > kMost) order += fmt::format(" and {} more", cycle_.size() - kMost);
    return order;
  }

  // If something shows an order of writers directly, says what shows it.
  std::string reasons() const {
    std::string why;
    for (size_t i = 0; i < cycle_.size() && i < kMost; ++i) {
      const bool stated = cycle_[i].because == Step::Because::stated;
      why +=
          (i > 0 ? "; " : "") + (stated ? say_.because(cycle_[i]) : say_.because(cycle_[i].edge));
    }
    return why;
  }

  const Cycle cycle_;
  const History& h_;
  const Clauses& say_;
  const Edge& saw_;
  const Edge& miss_;        // the reader, and the writer that it missed
  const Edge& other_miss_;  // the anti-dependency before the last one, if there are two
  const Step& clock_;       // the other edge of a cycle of two, if one is of real time
  const Step& beside_clock_;
};

}  // namespace

std::vector<std::string> narrate(Anomaly anomaly, Cycle cycle, const History& h,
                                 const Clauses& clauses) {
  if (cycle.empty()) return {};
  return CycleStory(std::move(cycle), h, clauses).tell(anomaly);
}

}  // namespace assay::internal
