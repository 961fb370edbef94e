// Watching takes neither stated sources nor initial values of single keys nor conditions: values
// alone must identify their writers. So a row names its writer, which makes it differ from all
// others of its key, and all initial rows are one value.
//
//   history: 1-1 w(t:1,{"v":5})   2-1 r(t:1,{"v":5}) from 1-1    3-1 r(t:2,{"v":7}), which was
//                                                                there
//   watched: 1-1 w(t:1,{"(written by)":"1-1","v":5})   2-1 r(t:1,{"(written
//                                                      by)":"1-1","v":5})   3-1 r(t:2,{"row":"from
//                                                      before"})
//
// Of several changes of a row by one transaction the last is kept. An omission, such as that other
// rows did not satisfy a condition, can hide a violation and cause none.
//
// Cost: the operations.
#include "record/watchable.h"

#include <fmt/format.h>

#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::internal::record {
namespace {

using collect::schedule::kUnseenRow;
using collect::schedule::RowHistory;
using collect::schedule::RowOperation;
using collect::schedule::RowTxn;

std::string signed_row(const std::string& row, const std::string& writer) {
  const std::string name = fmt::format("{{\"(written by)\":\"{}\"", writer);
  return row.size() > 2 ? name + "," + row.substr(1) : name + "}";
}

}  // namespace

void Watchable::begin_piece() {
  piece_ = std::make_unique<RowHistory>();
  piece_->initial_of_all(std::string(kUnseenRow));
  any_ = false;
}

Status Watchable::joined(const RowTxn& txn) {
  RowTxn watched{.session = txn.session,
                 .name = txn.name,
                 .status = txn.status,
                 .begin = txn.begin,
                 .end = txn.end,
                 .meta = txn.meta,
                 .line = ++joined_};
  std::map<std::string_view, size_t> last;  // change of each row
  for (size_t i = 0; i < txn.ops.size(); ++i)
    if (txn.ops[i].kind != RowOperation::Kind::read) last[txn.ops[i].key] = i;
  for (size_t i = 0; i < txn.ops.size(); ++i) {
    const RowOperation& op = txn.ops[i];
    if (op.kind == RowOperation::Kind::query) continue;
    const bool reads = op.kind == RowOperation::Kind::read;
    if (!reads && last[op.key] != i) continue;
    RowOperation to{.kind = op.kind, .key = op.key, .time = op.time};
    if (reads)
      to.row = op.source.empty() ? std::string(kUnseenRow) : signed_row(op.row, op.source);
    else if (op.kind == RowOperation::Kind::write)
      to.row = signed_row(op.row, txn.name);
    watched.ops.push_back(std::move(to));
  }
  any_ = true;
  return piece_->add(watched);
}

Status Watchable::joined_all() {
  if (!any_) return Ok{};
  auto piece = piece_->finish();
  begin_piece();
  if (!piece.ok()) return piece.error();
  return take_(std::make_shared<const History>(std::move(*piece)));
}

}  // namespace assay::internal::record
