#include "collect/step.h"

namespace assay::internal::collect {

Op op_of(const Step& step, OpBuffers& buffers) {
  const Request& request = step.request;
  const Reply& reply = step.reply;
  if (step.only_saw_absence()) return Op::read(request.key.view(), ValueView::null());
  Op op{.kind = request.kind,
        .key = request.key.view(),
        .value = request.value.view(),
        .expected = request.expected.view()};
  if (op.kind == OpKind::read) op.value = reply.value.view();
  if (op.kind == OpKind::cas || op.kind == OpKind::insert) op.effect = reply.effect;
  if (op.kind != OpKind::range && op.kind != OpKind::read_list) return op;
  const bool range = op.kind == OpKind::range;
  buffers.list.clear();
  for (const Value& v : range ? reply.matched : reply.list) buffers.list.push_back(v.view());
  op.list = buffers.list;
  if (!range) return op;
  op.value = request.high.view();
  if (request.selects()) {
    buffers.text = request.condition();
    if (request.aggregate)
      return Op::aggregated(op.key, op.value, buffers.text, *request.aggregate, request.column,
                            reply.value.view());
    op.where = buffers.text;
    op.effect = !request.found;
  }
  buffers.rows.clear();
  for (const auto& [k, v] : reply.rows) buffers.rows.emplace_back(k.view(), v.view());
  op.rows = buffers.rows;
  return op;
}

}  // namespace assay::internal::collect
