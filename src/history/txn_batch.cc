#include <algorithm>
#include <cstring>
#include <utility>

#include "assay/history.h"
#include "history/predicates.h"

namespace assay {
namespace {

constexpr size_t kTextBytes = size_t{1} << 18;  // asked for at once

}  // namespace

void TxnBatch::begin_txn(const TxnHeader& header) {
  header_ = header;
  ops_.resize(end_of_txns());  // drops a transaction that did not end
  undone_.clear();
  timed_ops_ = ops_.size();
}

Status TxnBatch::end_txn() {
  const auto too_long = [](const ValueView& v) {
    return v.text.size() > HistoryBuilder::kMaxTextBytes;
  };
  if (header_.session.is_null()) return bad_input("a transaction needs a session", header_.line);
  if (header_.name.size() > HistoryBuilder::kMaxTextBytes)
    return bad_input("the name of a transaction is longer than 16 MiB", header_.line);
  for (size_t i = end_of_txns(); i < ops_.size(); ++i) {
    if (too_long(ops_[i].key) || too_long(ops_[i].value))
      return bad_input("a key or value is longer than 16 MiB", header_.line);
    if (ops_[i].key.is_null() && ops_[i].kind != OpKind::range)
      return bad_input("a key must be an integer or a string, not null", header_.line);
  }
  txns_.push_back({header_, end_of_txns(), ops_.size()});
  if (!undone_.empty() && !header_.pending)
    end_undone();  // what is pending is taken down once more
  return Ok{};
}

// The writes that were undone, as a transaction that aborted.
void TxnBatch::end_undone() {
  TxnHeader header;
  header.session = header_.session;
  if (!header_.name.empty()) header.name = keep(std::string(header_.name) + ":undone");
  header.status = TxnStatus::aborted;
  header.line = header_.line;
  ops_.insert(ops_.end(), undone_.begin(), undone_.end());
  undone_.clear();
  txns_.push_back({header, end_of_txns(), ops_.size()});
}

void TxnBatch::add(OpKind kind, ValueView key, ValueView value, bool effect) {
  ops_.push_back({.kind = kind,
                  .effect = effect,
                  .key = key,
                  .value = value,
                  .first_extra = static_cast<uint32_t>(extra_.size()),
                  .extra_count = 0});
}

void TxnBatch::read(ValueView key, ValueView value) { add(OpKind::read, key, value); }
void TxnBatch::read_from(ValueView key, ValueView value, std::string_view source) {
  read(key, value);
  extra_.push_back(source.empty() ? ValueView::null() : ValueView::of(keep(source)));
  ops_.back().extra_count = 1;
}
void TxnBatch::write(ValueView key, ValueView value) { add(OpKind::write, key, value); }
void TxnBatch::remove(ValueView key, ValueView tombstone) { add(OpKind::remove, key, tombstone); }
void TxnBatch::append(ValueView key, ValueView element) { add(OpKind::append, key, element); }

void TxnBatch::read_list(ValueView key, std::span<const ValueView> elements) {
  add(OpKind::read_list, key, elements.empty() ? ValueView::null() : elements.back());
  extra_.insert(extra_.end(), elements.begin(), elements.end());
  ops_.back().extra_count = static_cast<uint32_t>(elements.size());
}

void TxnBatch::range(ValueView lo, ValueView hi,
                     std::span<const std::pair<ValueView, ValueView>> found) {
  add(OpKind::range, lo, hi);
  for (const auto& [key, value] : found) {
    extra_.push_back(key);
    extra_.push_back(value);
  }
  ops_.back().extra_count = static_cast<uint32_t>(2 * found.size());
  ops_.back().rows = static_cast<uint32_t>(found.size());
}

Status TxnBatch::select(const Selection& selection) {
  if (!predicates_) predicates_ = std::make_shared<internal::Predicates>();
  const Result<PredicateId> predicate = predicates_->intern(selection.where);
  if (!predicate.ok()) return predicate.error();
  range(selection.lo, selection.hi, selection.rows);
  for (const auto& [key, value] : selection.passed) {
    extra_.push_back(key);
    extra_.push_back(value);
  }
  extra_.insert(extra_.end(), selection.matched.begin(), selection.matched.end());
  RawOp& op = ops_.back();
  op.extra_count = static_cast<uint32_t>(extra_.size()) - op.first_extra;
  op.passed = static_cast<uint32_t>(selection.passed.size());
  op.predicate = *predicate;
  op.effect = selection.complete;
  return Ok{};
}

Status TxnBatch::aggregate(const Aggregation& aggregation) {
  if (!predicates_) predicates_ = std::make_shared<internal::Predicates>();
  const Result<uint32_t> number = predicates_->intern(aggregation);
  if (!number.ok()) return number.error();
  const internal::Aggregate& known = predicates_->aggregate(*number);
  range(aggregation.lo, aggregation.hi, {});
  RawOp& op = ops_.back();
  op.predicate = known.claim;
  op.aggregate = *number;
  op.effect = known.complete;
  return Ok{};
}

void TxnBatch::cas(ValueView key, ValueView expected, ValueView value, bool effect) {
  add(OpKind::cas, key, value, effect);
  extra_.push_back(expected);
  ops_.back().extra_count = 1;
}

void TxnBatch::insert(ValueView key, ValueView value, bool effect) {
  add(OpKind::insert, key, value, effect);
}

void TxnBatch::timed(Interval sent_to_answered) {
  for (; timed_ops_ < ops_.size(); ++timed_ops_) ops_[timed_ops_].time = sent_to_answered;
}

void TxnBatch::known_order(ValueView key, std::span<const StatedVersion> entries, uint64_t line) {
  const size_t first = entries_.size();
  entries_.insert(entries_.end(), entries.begin(), entries.end());
  orders_.push_back({key, first, entries_.size(), line, txns_.size()});
}

void TxnBatch::event(int64_t at, std::string json, bool complete) {
  events_.push_back({at, std::move(json), complete});
}

void TxnBatch::initial(ValueView key, ValueView value, uint64_t line) {
  initial_.push_back({key, value, line});
}

std::string_view TxnBatch::keep(std::string_view text) {
  if (text.empty()) return {};
  if (text.size() > text_left_) {
    text_left_ = std::max(kTextBytes, text.size());
    text_.push_back(std::make_unique_for_overwrite<char[]>(text_left_));
    text_end_ = text_.back().get();
  }
  char* const to = text_end_;
  std::memcpy(to, text.data(), text.size());
  text_end_ += text.size();
  text_left_ -= text.size();
  return {to, text.size()};
}

void TxnBatch::clear() {
  txns_.clear();
  ops_.clear();
  extra_.clear();
  timed_ops_ = 0;
  orders_.clear();
  entries_.clear();
  events_.clear();
  initial_.clear();
  predicates_.reset();
  if (text_.size() == 1) {  // used again
    text_left_ += static_cast<size_t>(text_end_ - text_.front().get());
    text_end_ = text_.front().get();
  } else {
    text_.clear();
    text_left_ = 0;
  }
}

}  // namespace assay
