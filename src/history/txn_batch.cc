#include <algorithm>
#include <cstring>
#include <utility>

#include "assay/history.h"
#include "history/predicates.h"

namespace assay {
namespace {

constexpr size_t kTextBytes = size_t{1} << 18;  // bytes allocated at once
constexpr size_t kLookBack = 64;                // operations before a read of a list that are
                                                // looked at

}  // namespace

void TxnBatch::begin_txn(const TxnHeader& header) {
  header_ = header;
  ops_.erase(ops_.begin() + static_cast<ptrdiff_t>(end_of_txns()), ops_.end());  // of a transaction
                                                                                 // that did not end
  undone_.clear();
  fault_.reset();
}

Status TxnBatch::end_txn() {
  if (fault_) return *fault_;
  if (header_.session.is_null()) return bad_input("a transaction needs a session", header_.line);
  if (header_.name.size() > HistoryBuilder::kMaxTextBytes)
    return bad_input("the name of a transaction is longer than 16 MiB", header_.line);
  for (size_t i = end_of_txns(); i < ops_.size(); ++i) {
    const RawOp& op = ops_[i];
    if (std::max(op.key.text_bytes(), op.value.text_bytes()) > HistoryBuilder::kMaxTextBytes)
      return bad_input("a key or value is longer than 16 MiB", header_.line);
    if (op.key.is_null() && op.kind != OpKind::range)
      return bad_input("a key must be an integer or a string, not null", header_.line);
    text_bytes_ += op.key.text_bytes() + op.value.text_bytes();
  }
  txns_.push_back({header_, end_of_txns(), ops_.size()});
  if (!undone_.empty() && !header_.pending)
    end_undone();  // a pending transaction is added again later
  return Ok{};
}

// Ends the transaction that has the undone writes and aborted.
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

// Stores the rare parts of the operation added last: all but key, value and effect.
bool TxnBatch::add_extra(const Op& op) {
  RawOp& raw = ops_.back();
  RawQuery query{.rows = static_cast<uint32_t>(op.rows.size()),
                 .passed = static_cast<uint32_t>(op.passed.size())};
  if (op.where)
    if (Status s = number_query(op, raw, query); !s.ok()) {
      if (!fault_) fault_ = s.error();
      ops_.pop_back();
      return false;
    }
  const auto add_rows = [this](std::span<const Op::Row> rows) {
    for (const auto& [key, value] : rows) {
      extra_.push_back(key);
      extra_.push_back(value);
    }
  };
  has_rare_ = has_rare_ || op.source;
  if (op.source)
    extra_.push_back(op.source->empty() ? ValueView::null() : ValueView::of(keep(*op.source)));
  if (op.kind == OpKind::cas) extra_.push_back(op.expected);
  if (op.kind == OpKind::read_list) raw.value = op.list.empty() ? ValueView{} : op.list.back();
  if (op.kind == OpKind::range && !op.where) raw.effect = true;  // such a range is complete
  add_rows(op.rows);
  add_rows(op.passed);
  extra_.insert(extra_.end(), op.list.begin(), op.list.end());
  raw.extra_count = static_cast<uint32_t>(extra_.size()) - raw.first_extra;
  if (op.kind == OpKind::range) {
    raw.query = static_cast<uint32_t>(queries_.size());
    queries_.push_back(query);
  }
  return true;
}

Status TxnBatch::number_query(const Op& op, RawOp& raw, RawQuery& query) {
  if (!predicates_) predicates_ = std::make_shared<internal::Predicates>();
  const Result<uint32_t> number =
      op.aggregate ? predicates_->intern(op) : predicates_->intern(*op.where);
  if (!number.ok()) return number.error();
  query.predicate = *number;
  if (op.aggregate) {
    const internal::Aggregate& known = predicates_->aggregate(*number);
    query.predicate = known.claim;
    query.aggregate = *number;
    raw.effect = known.complete;
  }
  return Ok{};
}

// Whether the last element of a list was appended by its reader. Others may have read another
// element there, as the reader had not committed.
bool TxnBatch::ends_with_own(const RawOp& list) const {
  const auto index = static_cast<size_t>(&list - ops_.data());
  const auto txn = std::ranges::upper_bound(txns_, index, {}, &RawTxn::end_op);
  const size_t count = std::min(index - txn->first_op, kLookBack);
  const auto near = std::span(ops_).subspan(index - count, count);
  const auto own = std::find_if(near.rbegin(), near.rend(), [&](const RawOp& op) {
    return op.kind == OpKind::append && ValueView(op.key) == ValueView(list.key);
  });
  return own != near.rend() && list.extra_count > 0 &&
         ValueView(own->value) == extra_[list.first_extra + list.extra_count - 1];
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
  queries_.clear();
  extra_.clear();
  has_rare_ = false;
  text_bytes_ = 0;
  fault_.reset();
  orders_.clear();
  entries_.clear();
  events_.clear();
  initial_.clear();
  predicates_.reset();
  if (text_.size() == 1) {  // the first block is used again
    text_left_ += static_cast<size_t>(text_end_ - text_.front().get());
    text_end_ = text_.front().get();
  } else {
    text_.clear();
    text_left_ = 0;
  }
}

}  // namespace assay
