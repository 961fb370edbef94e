#include "formats/txn_table.h"

#include <algorithm>
#include <string>

#include "assay/format.h"
#include "history/copy.h"

namespace assay::internal::formats {
namespace {

constexpr std::string_view kFormat = "assay";

}  // namespace

Status TxnTableWriter::write(StreamWriter& to) const {
  HistoryBuilder builder;
  TxnCopier copier(builder);
  if (!txns_.empty()) {
    const History& first = *txns_.begin()->second.first;
    copy_settings(first, builder);
  }
  to.number(txns_.size());
  for (const auto& [line, txn] : txns_) {
    to.number(line);
    const auto& [h, t] = txn;
    copier.begin(*h, t);
    for (OpId i = h->first_op(t); i < h->end_op(t); ++i) copier.operation(*h, i);
    if (Status s = builder.end_txn(); !s.ok()) return s;
  }
  Result<History> all = std::move(builder).finish();
  if (!all.ok()) return all.error();
  std::string text;
  if (const auto losses = write_history_text(*all, kFormat, text); !losses.ok())
    return losses.error();
  to.text(text);
  return Ok{};
}

Result<TxnTable> TxnTable::read(StreamReader& from) {
  TxnTable table;
  for (size_t n = from.count(); n > 0; --n) table.lines_.push_back(from.number());
  const std::string_view text = from.text();
  if (!from.ok()) return bad_input("it ends too early");
  if (std::ranges::adjacent_find(table.lines_, std::greater_equal()) != table.lines_.end())
    return bad_input("its lines are not in order");
  ReadOptions options;
  options.from = kFormat;
  options.threads = 1;
  Result<ReadResult> read = read_history_text(text, "a transaction that is kept", options);
  if (!read.ok()) return read.error();
  table.history_ = std::make_shared<const History>(std::move(read->history));
  const History& h = *table.history_;
  if (h.txn_count() != table.lines_.size())
    return bad_input("it does not have as many transactions as lines");
  for (KeyId key = 0; key < h.key_count(); ++key) table.keys_.emplace(h.key(key), key);
  return table;
}

TxnId TxnTable::find(uint64_t line) const {
  const auto it = std::ranges::lower_bound(lines_, line);
  if (it == lines_.end() || *it != line) return kNone;
  return static_cast<TxnId>(it - lines_.begin());
}

KeyId TxnTable::key(const ValueView& key) const {
  const auto it = keys_.find(key);
  return it == keys_.end() ? kNone : it->second;
}

}  // namespace assay::internal::formats
