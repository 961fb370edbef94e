// Small histories of every kind of operation, value, name and status, from a seed: everything that
// a reader or a writer may meet. They did not come from a database, so levels cannot be tested with
// them; oracle/random_draft.h makes those. For tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "assay/history.h"
#include "base/rng.h"

namespace assay::internal::formats {

struct MixedHistoryOptions {
  int txns = 12;
  int sessions = 3;
  int max_ops = 6;
  bool strings = true;          // keys, values and session names may be strings
  bool registers_only = false;  // reads and writes only
  bool times = true;
  bool aborted = true;
  bool unknown = true;
};

class MixedHistory {
 public:
  MixedHistory(uint64_t seed, MixedHistoryOptions options) : rng_(seed), o_(options) {}

  History build() {
    HistoryBuilder b;
    if (!o_.registers_only && chance(3)) b.set_initial(ValueView::of(0));
    if (!o_.registers_only && chance(4)) b.set_meta("{\"seed\":1}");
    if (!o_.registers_only && chance(4)) b.event(5, "{\"event\":\"fault\",\"at\":5}");
    for (int t = 0; t < o_.txns; ++t) add_txn(b, t);
    if (!o_.registers_only && chance(2)) {
      std::vector<ValueView> order = {value(), value(), value()};
      b.known_order(key(), order);
    }
    if (!o_.registers_only && !names_.empty() && chance(2)) {
      std::vector<StatedVersion> order(static_cast<size_t>(1 + pick(4)));
      for (StatedVersion& entry : order) {
        entry.value = maybe_null(value());
        if (chance(2)) continue;
        entry.txn = names_[static_cast<size_t>(pick(static_cast<int>(names_.size())))];
        entry.final = chance(3);
      }
      b.known_order(key(), order);
    }
    auto h = std::move(b).finish();
    if (!h.ok()) std::abort();
    return std::move(*h);
  }

 private:
  bool chance(int one_in) { return pick(one_in) == 0; }
  int pick(int n) { return static_cast<int>(rng_.below(static_cast<uint64_t>(n))); }

  ValueView text(const std::vector<std::string>& words) {
    return ValueView::of(std::string_view(words[static_cast<size_t>(pick(int(words.size())))]));
  }
  ValueView key() {
    static const std::vector<std::string> kWords = {
        "x", "a-b", "", "null", "17", "ts", "q\"\\\n\t", "\xC3\xA9 \x01", "order", "a b:c#{}"};
    return o_.strings && chance(2) ? text(kWords) : ValueView::of(int64_t{pick(5)});
  }
  ValueView value() {
    static const std::vector<std::string> kWords = {"v",   "-1",  "null",        "-",
                                                    "[1]", "x,y", "\xE2\x82\xAC"};
    if (o_.strings && chance(4)) return text(kWords);
    if (!o_.registers_only && chance(9)) return ValueView::of(INT64_MIN);
    return ValueView::of(int64_t{1 + pick(50)});
  }
  ValueView maybe_null(ValueView v) {
    return !o_.registers_only && chance(4) ? ValueView::null() : v;
  }
  std::vector<ValueView> list() {
    std::vector<ValueView> l;
    for (int n = pick(4); n > 0; --n) l.push_back(value());
    return l;
  }

  void add_txn(HistoryBuilder& b, int t) {
    TxnHeader h;
    const int session = pick(o_.sessions);
    h.session = o_.strings && session == 0 ? ValueView::of(std::string_view("s a"))
                                           : ValueView::of(int64_t{session});
    std::string name = "t " + std::to_string(t);
    if (chance(3)) {
      h.name = name;
      names_.push_back(name);
    }
    if (o_.aborted && chance(5)) h.status = TxnStatus::aborted;
    if (o_.unknown && chance(5)) h.status = TxnStatus::unknown;
    if (o_.times && chance(2)) {
      h.begin = chance(2) ? Interval::point(t * 10) : Interval{t * 10, t * 10 + 2};
      if (chance(2))
        h.end = chance(2) ? Interval::point(t * 10 + 4) : Interval{t * 10 + 4, t * 10 + 5};
      if (chance(3)) h.start_ts = t;
      if (chance(3)) h.commit_ts = t + 100;
    }
    b.begin_txn(h);
    for (int n = pick(o_.max_ops + 1); n > 0; --n) add_op(b);
    if (!b.end_txn().ok()) std::abort();
  }

  void add_op(HistoryBuilder& b) {
    switch (o_.registers_only ? pick(2) : pick(8)) {
      case 0:
        b.add(Op::read(key(), maybe_null(value())));
        break;
      case 1:
        b.add(Op::write(key(), value()));
        break;
      case 2:
        b.add(Op::remove(key(), value()));
        break;
      case 3:
        b.add(Op::append(key(), value()));
        break;
      case 4:
        b.add(Op::read_list(key(), list()));
        break;
      case 5: {
        std::vector<std::pair<ValueView, ValueView>> rows;
        for (int n = pick(3); n > 0; --n) rows.emplace_back(key(), value());
        ValueView lo = maybe_null(key());
        b.add(Op::range(lo, maybe_null(key()), rows));
        break;
      }
      case 6:
        b.add(Op::cas(key(), maybe_null(value()), value(), chance(2)));
        break;
      default:
        b.add(Op::insert(key(), value(), chance(2)));
    }
  }

  Rng rng_;
  MixedHistoryOptions o_;
  std::vector<std::string> names_;  // names of transactions
};

}  // namespace assay::internal::formats
