#include "oracle/draft.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <deque>

#include "history/aggregate.h"

namespace assay::internal {
namespace {

constexpr int kNamedKeys = 4096;

// The text lives as long as the program: the builder keeps views until the transaction ends.
std::string_view key_name(int key) {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list = {"x", "y", "z"};
    for (int k = 3; k < kNamedKeys; ++k) list.push_back(fmt::format("k{}", k));
    return list;
  }();
  return names[static_cast<size_t>(key % kNamedKeys)];
}

// Converts the values of a draft for the builder. Texts live as long as this object.
class Views {
 public:
  explicit Views(bool texts) : texts_(texts) {}

  ValueView operator()(const DraftValue& v) {
    if (!v) return ValueView::null();
    if (!texts_) return ValueView::of(*v);
    return ValueView::of(std::string_view(spelled_.emplace_back(spelled(*v))));
  }

 private:
  bool texts_;
  std::deque<std::string> spelled_;
};

// Returns the value as it is written in a .hist file, in which a word may be bare.
std::string text_of(const Draft& draft, const DraftValue& v) {
  if (!v) return "null";
  if (!draft.texts) return std::to_string(*v);
  return *v == 0 ? "\"\"" : spelled(*v);
}

std::vector<Op::Row> rows_of(const std::vector<std::pair<int, DraftValue>>& rows, Views& view) {
  std::vector<Op::Row> all;
  for (const auto& [k, v] : rows) all.emplace_back(ValueView::of(key_name(k)), view(v));
  return all;
}

void add_op(HistoryBuilder& b, Views& view, const Draft& draft, const DraftOp& op, Interval sent) {
  const bool range = op.kind == OpKind::range;
  const std::vector<Op::Row> rows = rows_of(op.rows, view), passed = rows_of(op.passed, view);
  std::vector<ValueView> list;
  for (const int64_t v : op.list) list.push_back(ValueView::of(v));
  for (const int k : op.matched) list.push_back(ValueView::of(key_name(k)));
  std::string source;
  Op to{.kind = op.kind,
        .effect = op.effect,
        .key = ValueView::of(key_name(op.key)),
        .value = range ? ValueView::of(key_name(op.hi)) : view(op.value),
        .expected = view(op.expected),
        .list = list,
        .rows = rows,
        .passed = passed};
  if (!op.where.empty()) to.where = op.where;
  if (op.aggregate)
    to = Op::aggregated(to.key, to.value, op.where, *op.aggregate, "value",
                        op.value ? ValueView::of(*op.value) : ValueView::null());
  if (op.source != DraftOp::kNotStated) {
    if (op.source >= 0) source = draft.name(op.source);
    to.source = source;
  }
  to.time = sent;
  b.add(to);
}

// Returns "3-1=", to put in front of the value.
std::string source_of(const Draft& draft, const DraftOp& op) {
  if (op.source == DraftOp::kNotStated) return {};
  return (op.source < 0 ? "null" : draft.name(op.source)) + "=";
}

std::string text_of(const Draft& draft, const std::vector<std::pair<int, DraftValue>>& rows) {
  std::vector<std::string> all;
  for (const auto& [k, v] : rows)
    all.push_back(fmt::format("{}={}", key_name(k), text_of(draft, v)));
  return fmt::format("{}", fmt::join(all, ","));
}

std::string text_of(const Draft& draft, const DraftOp& op) {
  const std::string_view key = key_name(op.key);
  const std::string value = text_of(draft, op.value);
  switch (op.kind) {
    case OpKind::read:
      return fmt::format("r({},{}{})", key, source_of(draft, op), value);
    case OpKind::write:
      return fmt::format("w({},{})", key, value);
    case OpKind::remove:
      return fmt::format("d({},{})", key, value);
    case OpKind::append:
      return fmt::format("a({},{})", key, value);
    case OpKind::read_list:
      return fmt::format("r({},[{}])", key, fmt::join(op.list, ","));
    case OpKind::range: {
      const std::string bounds = fmt::format("{}..{}", key, key_name(op.hi));
      if (op.where.empty()) return fmt::format("range({},[{}])", bounds, text_of(draft, op.rows));
      if (op.aggregate)
        return fmt::format("agg({}{}, {}: {},[{}])", aggregate_name(*op.aggregate),
                           op.aggregate == AggregateFunction::count ? "" : " value", bounds,
                           op.where, op.value ? std::to_string(*op.value) : "null");
      std::string out = fmt::format("p({}: {},[{}]", bounds, op.where, text_of(draft, op.rows));
      if (!op.passed.empty()) out += fmt::format(",passed[{}]", text_of(draft, op.passed));
      std::vector<std::string_view> matched;
      for (const int k : op.matched) matched.push_back(key_name(k));
      if (!matched.empty()) out += fmt::format(",matched[{}]", fmt::join(matched, ","));
      return out + (op.effect ? ")" : ",found)");
    }
    case OpKind::cas:
      return fmt::format("cas({},{},{}){}", key, text_of(draft, op.expected), value,
                         op.effect ? "" : "!");
    case OpKind::insert:
      return fmt::format("ins({},{}){}", key, value, op.effect ? "" : "!");
  }
  return {};
}

std::string text_of(const Interval& i) {
  if (!i.known()) return "_";
  return i.request == i.response ? std::to_string(i.request)
                                 : fmt::format("{}~{}", i.request, i.response);
}

std::string text_of(const Draft& draft, const DraftTxn& t) {
  std::string out;
  if (t.begin.known() || t.end.known()) {
    out += fmt::format("@[{},{}] ", text_of(t.begin), text_of(t.end));
  }
  if (t.level) out += fmt::format("level[{}] ", level_info(*t.level).name);
  out += "{ ";
  for (const DraftOp& op : t.ops) out += text_of(draft, op) + " ";
  out += "}";
  if (t.status == TxnStatus::aborted) out += "!";
  if (t.status == TxnStatus::unknown) out += "?";
  return out;
}

}  // namespace

Result<History> Draft::history() const {
  HistoryBuilder b;
  Views view(texts);
  if (!meta.empty()) b.set_meta(meta);
  b.set_initial(view(initial));
  for (const auto& [key, value] : initials)
    b.set_initial(ValueView::of(key_name(key)), view(value));
  const bool joined = std::ranges::any_of(
      txns, [](const DraftTxn& t) { return std::ranges::any_of(t.ops, &DraftOp::joins); });
  int64_t statement = 0;
  for (const DraftTxn& t : txns) {
    b.begin_txn({.session = ValueView::of(int64_t{t.session + 1}),
                 .status = t.status,
                 .begin = t.begin,
                 .end = t.end,
                 .start_ts = t.start_ts,
                 .commit_ts = t.commit_ts,
                 .level = t.level});
    for (const DraftOp& op : t.ops) {
      if (!op.joins) ++statement;
      add_op(b, view, *this, op, joined ? Interval::point(statement) : Interval{});
    }
    if (Status s = b.end_txn(); !s.ok()) return s.error();
  }
  for (const DraftOrder& order : orders) {
    std::vector<std::string> names;
    for (const int t : order.txns) names.push_back(t < 0 ? "" : name(t));
    std::vector<StatedVersion> entries;
    for (const int64_t v : order.values) {
      entries.push_back({.value = view(v)});
      if (!names.empty()) entries.back().txn = names[entries.size() - 1];
    }
    b.known_order(ValueView::of(key_name(order.key)), entries);
  }
  if (complete_to != Interval::kUnknown)
    b.event(complete_to, fmt::format(R"({{"event":"complete","at":{}}})", complete_to), true);
  Result<History> built = std::move(b).finish();
  if (built.ok()) built->set_clock_drift(clock_drift);
  return built;
}

std::string spelled(int64_t number) {
  std::string text;
  for (; number > 0; number = (number - 1) / 3)
    text.insert(text.begin(), static_cast<char>('a' + (number - 1) % 3));
  return text;
}

std::string Draft::name(int txn) const {
  const int session = txns[static_cast<size_t>(txn)].session;
  const auto before = std::count_if(txns.begin(), txns.begin() + txn,
                                    [&](const DraftTxn& t) { return t.session == session; });
  return fmt::format("{}-{}", session + 1, before);
}

std::string Draft::text() const {
  std::string out;
  if (clock_drift > 0) out += fmt::format("# --clock-drift {}ns\n", clock_drift);
  if (initial) out += fmt::format("initial {}\n", text_of(*this, initial));
  for (const auto& [key, value] : initials)
    out += fmt::format("initial {}: {}\n", key_name(key), text_of(*this, value));
  std::vector<int> sessions;
  for (const DraftTxn& t : txns) {
    if (std::count(sessions.begin(), sessions.end(), t.session) == 0) sessions.push_back(t.session);
  }
  for (const int session : sessions) {
    out += fmt::format("{}:", session + 1);
    for (const DraftTxn& t : txns) {
      if (t.session == session) out += " " + text_of(*this, t);
    }
    out += "\n";
  }
  for (const DraftOrder& order : orders) {
    out += fmt::format("order {}:", key_name(order.key));
    for (size_t i = 0; i < order.values.size(); ++i) {
      const bool named = !order.txns.empty() && order.txns[i] >= 0;
      out += fmt::format(" {}{}", named ? name(order.txns[i]) + "=" : "",
                         text_of(*this, order.values[i]));
    }
    out += "\n";
  }
  if (complete_to != Interval::kUnknown)
    out += fmt::format("event {{\"event\":\"complete\",\"at\":{}}}\n", complete_to);
  return out;
}

namespace {

void remove_txn(Draft& draft, size_t txn) {
  draft.txns.erase(draft.txns.begin() + static_cast<ptrdiff_t>(txn));
  const int gone = static_cast<int>(txn);
  for (DraftTxn& t : draft.txns)
    for (DraftOp& op : t.ops) {
      if (op.source == gone) op.source = DraftOp::kNotStated;
      if (op.source > gone) --op.source;
    }
  for (DraftOrder& order : draft.orders)
    for (size_t i = order.txns.size(); i-- > 0;) {
      if (order.txns[i] > gone) {
        --order.txns[i];
      } else if (order.txns[i] == gone) {
        order.txns.erase(order.txns.begin() + static_cast<ptrdiff_t>(i));
        order.values.erase(order.values.begin() + static_cast<ptrdiff_t>(i));
      }
    }
}

}  // namespace

Draft shrink(Draft draft, const std::function<bool(const Draft&)>& keeps) {
  const auto try_without = [&](const auto& remove) {
    Draft smaller = draft;
    remove(smaller);
    if (!keeps(smaller)) return false;
    draft = std::move(smaller);
    return true;
  };
  for (bool progress = true; progress;) {
    progress = draft.clock_drift > 0 && try_without([](Draft& d) { --d.clock_drift; });
    for (size_t t = draft.txns.size(); t-- > 0;) {
      progress |= try_without([t](Draft& d) { remove_txn(d, t); });
    }
    for (const auto& [key, value] : std::map(draft.initials))
      progress |= try_without([key = key](Draft& d) { d.initials.erase(key); });
    for (size_t t = 0; t < draft.txns.size(); ++t) {
      for (size_t i = draft.txns[t].ops.size(); i-- > 0;) {
        progress |= try_without([t, i](Draft& d) {
          auto& ops = d.txns[t].ops;
          ops.erase(ops.begin() + i);
        });
      }
      if (draft.txns[t].begin.known() || draft.txns[t].end.known()) {
        progress |= try_without([t](Draft& d) { d.txns[t].begin = d.txns[t].end = {}; });
      }
      if (draft.txns[t].status != TxnStatus::committed) {
        progress |= try_without([t](Draft& d) { d.txns[t].status = TxnStatus::committed; });
      }
    }
  }
  return draft;
}

}  // namespace assay::internal
