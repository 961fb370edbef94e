// An operation that owns its texts, for readers that hold it back.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "assay/history.h"
#include "history/value.h"

namespace assay::internal::formats {

// The members are those of Op; `where` is empty if there is none.
struct OwnedOp {
  OpKind kind = OpKind::read;
  Value key = {}, value = {}, expected = {};
  std::vector<Value> list = {};
  std::vector<std::pair<Value, Value>> rows = {};
  std::string where = {};

  // Valid until the buffers are used again.
  Op view(OpBuffers& buffers) const {
    buffers.list.clear();
    for (const Value& v : list) buffers.list.push_back(v.view());
    buffers.rows.clear();
    for (const auto& [k, v] : rows) buffers.rows.emplace_back(k.view(), v.view());
    Op op{.kind = kind,
          .key = key.view(),
          .value = value.view(),
          .expected = expected.view(),
          .list = buffers.list,
          .rows = buffers.rows};
    if (!where.empty()) op.where = where;
    return op;
  }
};

}  // namespace assay::internal::formats
