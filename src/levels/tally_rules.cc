#include "levels/tally_rules.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "base/sort_by.h"

namespace assay::internal {
namespace {

using enum LevelId;
__extension__ typedef __int128 Sum;  // a sum of as many 64-bit amounts as there can be

std::string show(Sum v) {
  if (v < 0) return "-" + show(-v);
  std::string digits;
  do {
    digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(v % 10)));
    v /= 10;
  } while (v > 0);
  return digits;
}

std::string name(const TallyTxn& t) {
  return "the read of session " + std::to_string(t.session) + " in line " + std::to_string(t.line);
}

TallyVerdict judge_totals(const Tally& tally) {
  TallyVerdict v;
  const TallyTxn* first = nullptr;
  Sum expected = 0;
  for (const TallyTxn& t : tally.txns) {
    if (t.status != TxnStatus::committed || t.reads.empty()) continue;
    std::set<AccountId> seen;
    Sum total = 0;
    for (const auto& [account, amount] : t.reads) {
      seen.insert(account);
      total += amount;
    }
    if (seen.size() < tally.accounts.size() || seen.size() < t.reads.size()) {
      ++v.not_judged;
      continue;
    }
    ++v.judged;
    if (!first) {
      first = &t;
      expected = total;
    }
    if (total == expected) continue;
    if (v.wrong++ > 0) continue;
    v.lines = {first->line, t.line};
    v.why = name(*first) + " shows a total of " + show(expected) + ", " + name(t) + " one of " +
            show(total) + "; transfers do not change it";
    v.refuted = {adya_si, serializable};
  }
  return v;
}

// Bounds of what additions may sum up to.
struct Bounds {
  Sum least = 0;
  Sum most = 0;
  void certain(Sum amount) { least += amount, most += amount; }
  void possible(Sum amount) { (amount < 0 ? least : most) += amount; }
  Bounds& operator+=(const Bounds& b) {
    least += b.least, most += b.most;
    return *this;
  }
  Bounds operator-(const Bounds& b) const { return {least - b.least, most - b.most}; }
  bool allow(Sum v) const { return least <= v && v <= most; }
};

// An addition as it counts for a read that it certainly precedes, and for one that it may precede.
struct Addition {
  Bounds before, maybe;
  Addition() = default;
  Addition(const TallyTxn& t, int64_t amount) {
    maybe.possible(amount);
    if (t.status == TxnStatus::committed)
      before.certain(amount);
    else
      before = maybe;
  }
};

// The additions to one account, and their order relative to a moment or to a place in a session.
class Account {
 public:
  void add(const TallyTxn& t, size_t place, int64_t amount) {
    const Addition a(t, amount);
    all_ += a.maybe;
    const Bounds gain = a.before - a.maybe;
    auto& own = sessions_[t.session];
    own.push_back({place, gain, a.maybe});
    if (own.size() > 1) {
      own.back().gain += own[own.size() - 2].gain;
      own.back().maybe += own[own.size() - 2].maybe;
    }
    if (t.status == TxnStatus::committed && t.end.known()) ended_.push_back({t.end.response, gain});
    if (t.begin.known()) begun_.push_back({t.begin.request, a.maybe});
  }
  void finish() {
    for (auto* moments : {&ended_, &begun_}) {
      stable_sort_by(*moments, [](const Moment& m) { return m.time; });
      for (size_t i = 1; i < moments->size(); ++i) (*moments)[i].sum += (*moments)[i - 1].sum;
    }
  }

  const Bounds& all() const { return all_; }
  // The bounds by session order: earlier additions of the reader's session went before the read,
  // later ones did not.
  Bounds in_session(const TallyTxn& reader, size_t place) const {
    Bounds b = all_;
    const auto own = sessions_.find(reader.session);
    if (own == sessions_.end()) return b;
    const auto& placed = own->second;
    const auto before = [&](size_t end) {  // the number of places before `end`
      return std::partition_point(placed.begin(), placed.end(),
                                  [&](const Placed& a) { return a.place < end; }) -
             placed.begin();
    };
    const auto earlier = before(place);
    const auto not_later = before(place + 1);
    if (earlier > 0) b += placed[static_cast<size_t>(earlier - 1)].gain;
    b = b - placed.back().maybe;
    if (not_later > 0) b += placed[static_cast<size_t>(not_later - 1)].maybe;
    return b;
  }
  // The bounds by the clock: additions that ended before the reader began went before it; additions
  // that began after it ended did not.
  Bounds by_clock(const TallyTxn& reader) const {
    Bounds b = all_;
    if (reader.begin.known()) b += up_to(ended_, reader.begin.request, false);
    if (reader.end.known() && !begun_.empty())
      b = b - (begun_.back().sum - up_to(begun_, reader.end.response, true));
    return b;
  }

 private:
  struct Placed {
    size_t place;
    Bounds gain, maybe;  // sums up to here
  };
  struct Moment {
    int64_t time;
    Bounds sum;  // sum up to here, once finished
  };

  static Bounds up_to(const std::vector<Moment>& moments, int64_t time, bool inclusive) {
    const auto end = std::partition_point(moments.begin(), moments.end(), [&](const Moment& m) {
      return m.time < time || (inclusive && m.time == time);
    });
    return end == moments.begin() ? Bounds() : std::prev(end)->sum;
  }

  Bounds all_;
  std::map<int64_t, std::vector<Placed>> sessions_;
  std::vector<Moment> ended_, begun_;
};

TallyVerdict judge_bounds(const Tally& tally) {
  TallyVerdict v;
  std::vector<Account> accounts(tally.accounts.size());
  for (size_t i = 0; i < tally.txns.size(); ++i)
    if (tally.txns[i].status != TxnStatus::aborted)
      for (const auto& [account, amount] : tally.txns[i].adds)
        accounts[account].add(tally.txns[i], i, amount);
  for (Account& a : accounts) a.finish();
  for (size_t i = 0; i < tally.txns.size(); ++i) {
    const TallyTxn& t = tally.txns[i];
    if (t.status != TxnStatus::committed) continue;
    for (const auto& [account, amount] : t.reads) {
      ++v.judged;
      const struct {
        Bounds bounds;
        std::vector<LevelId> refuted;
        std::string_view what;
      } rules[] = {{accounts[account].all(), {adya_si, serializable}, "all additions together"},
                   {accounts[account].in_session(t, i),
                    {session_si, session_serializable},
                    "the additions with their place in its session"},
                   {accounts[account].by_clock(t),
                    {strong_si, strict_serializable},
                    "the additions that ended before it or began before its end"}};
      const auto* broken = std::find_if(
          std::begin(rules), std::end(rules),
          [&, amount = amount](const auto& rule) { return !rule.bounds.allow(amount); });
      if (broken == std::end(rules) || v.wrong++ > 0) continue;
      v.lines = {t.line};
      v.why = name(t) + " shows " + show(amount) + "; " + std::string(broken->what) +
              " allow from " + show(broken->bounds.least) + " to " + show(broken->bounds.most);
      v.refuted = broken->refuted;
    }
  }
  return v;
}

}  // namespace

std::string_view rule_of(Tally::Workload workload) {
  return workload == Tally::Workload::bank ? "totals" : "bounds";
}

TallyVerdict judge(const Tally& tally) {
  return tally.workload == Tally::Workload::bank ? judge_totals(tally) : judge_bounds(tally);
}

}  // namespace assay::internal
