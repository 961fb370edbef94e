// An operation that owns its texts, for readers that hold it back.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "assay/history.h"

namespace assay::internal::formats {

struct OwnedValue {
  ValueView::Type type = ValueView::Type::null;
  int64_t integer = 0;
  std::string text;
  ValueView view() const { return {type, integer, text}; }
};

// As Op; `where` is empty if there is none.
struct OwnedOp {
  OpKind kind = OpKind::read;
  OwnedValue key = {}, value = {}, expected = {};
  std::vector<OwnedValue> list = {};
  std::vector<std::pair<OwnedValue, OwnedValue>> rows = {};
  std::string where = {};

  // Valid until the buffers are used again.
  Op view(OpBuffers& buffers) const {
    buffers.list.clear();
    for (const OwnedValue& v : list) buffers.list.push_back(v.view());
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
