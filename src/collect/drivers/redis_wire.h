// A connection to Redis: words go out, an answer comes back. Plain ones are hiredis's own; those of
// TLS go through libcurl, since Debian's hiredis has no TLS, and hiredis reads what comes.
#pragma once
#ifdef ASSAY_REDIS
#include <hiredis/hiredis.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "collect/url.h"

namespace assay::internal::collect {

struct FreeRedisReply {
  void operator()(redisReply* r) const { freeReplyObject(r); }
};
using RedisAnswer = std::unique_ptr<redisReply, FreeRedisReply>;

class RedisWire {
 public:
  // By the URL's scheme, redis or rediss. No call takes much longer than `limit`.
  static Result<std::unique_ptr<RedisWire>> open(const Url& url, std::chrono::milliseconds limit);
  virtual ~RedisWire() = default;
  // None if the connection is lost; then `error` says why.
  virtual RedisAnswer ask(const std::vector<std::string>& words) = 0;
  virtual std::string error() const = 0;
};

}  // namespace assay::internal::collect
#endif
