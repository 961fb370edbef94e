// A connection to Redis: words are sent, an answer comes back. Plain connections are hiredis's own;
// TLS connections go through libcurl, since Debian's hiredis has no TLS, and hiredis parses the
// answers.
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
  // Opens a connection by the URL's scheme, redis or rediss. No call takes much longer than
  // `limit`.
  static Result<std::unique_ptr<RedisWire>> open(const Url& url, std::chrono::milliseconds limit);
  virtual ~RedisWire() = default;
  // Returns null if the connection is lost; then `error` says why.
  virtual RedisAnswer ask(const std::vector<std::string>& words) = 0;
  virtual std::string error() const = 0;
};

}  // namespace assay::internal::collect
#endif
