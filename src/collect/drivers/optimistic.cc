#include "collect/drivers/optimistic.h"

#include "collect/drivers/text_values.h"

namespace assay::internal::collect {
namespace {

Value value_of(const std::optional<std::string>& text) {
  return text ? decode_value(*text) : Value();
}

}  // namespace

CallResult OptimisticSession::begin() {
  seen_.clear();
  writes_.clear();
  return {};
}

CallResult OptimisticSession::look_up(const std::string& key, Text& text) {
  if (const auto it = writes_.find(key); it != writes_.end()) {
    text = it->second;
    return {};
  }
  if (const auto it = seen_.find(key); it != seen_.end()) {
    text = it->second;
    return {};
  }
  CallResult result = fetch(key, text);
  if (result.ok()) seen_[key] = text;
  return result;
}

CallResult OptimisticSession::call(const Request& request, Reply& reply) {
  const bool list = request.kind == OpKind::append || request.kind == OpKind::read_list;
  const std::string key = (list ? "list/" : "kv/") + encode_key(request.key);
  Text now;
  if (request.kind != OpKind::write && request.kind != OpKind::remove)
    if (CallResult result = look_up(key, now); !result.ok()) return result;
  switch (request.kind) {
    case OpKind::read:
      reply.value = value_of(now);
      return {};
    case OpKind::write:
      writes_[key] = encode_value(request.value);
      return {};
    case OpKind::remove:
      writes_[key] = std::nullopt;
      return {};
    case OpKind::insert:
      reply.effect = !now;
      break;
    case OpKind::cas:
      reply.effect = value_of(now) == request.expected;
      break;
    case OpKind::append:
      writes_[key] = (now ? *now + ',' : std::string()) + encode_element(request.value);
      return {};
    case OpKind::read_list:
      reply.list = now ? decode_list(*now) : std::vector<Value>();
      return {};
    case OpKind::range:
      return CallResult::fatal("unsupported kind of operation");
  }
  if (reply.effect) writes_[key] = encode_value(request.value);
  return {};
}

}  // namespace assay::internal::collect
