// Redis: reads WATCH their keys, writes wait in the client (drivers/optimistic.h), and the commit
// is MULTI … EXEC, which Redis refuses if a watched key has changed. A transaction that wrote
// nothing checks the same with an empty one.
#ifdef ASSAY_REDIS
#include <fmt/format.h>

#include "collect/client_library.h"
#include "collect/drivers/optimistic.h"
#include "collect/drivers/redis_wire.h"
#include "collect/drivers/registry.h"
#include "collect/run_id.h"
#include "collect/url.h"

namespace assay::internal::collect {
namespace {

constexpr IsolationName kRedisIsolations[] = {
    {"watch", "WATCH each key read, then MULTI and EXEC"},
    {"multi", "only MULTI and EXEC: reads are not compared"},
};
constexpr std::string_view kRedisPrefix = "assay:";
constexpr const char* kRedisRunKey = "assay-run";
constexpr const char* kRedisTxnKey = "assay-txn";  // names the writer, for the server's log

using RedisConnection = std::unique_ptr<RedisWire>;
using Answer = RedisAnswer;

std::string message_of(const RedisWire& wire, const Answer& answer) {
  if (answer && answer->type == REDIS_REPLY_ERROR) return {answer->str, answer->len};
  return answer ? "an answer of the wrong kind" : wire.error();
}

class RedisSession : public OptimisticSession {
 public:
  RedisSession(RedisConnection connection, bool watches)
      : connection_(std::move(connection)), watches_(watches) {}

  void name_transaction(std::string_view txn) override { name_ = txn; }

  CallResult commit() override {
    if (writes().empty() && !watching_) return {};
    if (!watches_ && writes().empty()) return {};
    // Everything up to EXEC can be lost without harm: the server does nothing before it.
    Answer answer = connection_->ask({"MULTI"});
    if (!answer || answer->type == REDIS_REPLY_ERROR) return refused(answer);
    if (!name_.empty() && !writes().empty()) {
      answer = connection_->ask({"SET", kRedisTxnKey, name_});
      if (!answer || answer->type == REDIS_REPLY_ERROR) return refused(answer);
    }
    for (const auto& [key, text] : writes()) {
      const std::string name = std::string(kRedisPrefix) + key;
      answer = text ? connection_->ask({"SET", name, *text}) : connection_->ask({"DEL", name});
      if (!answer || answer->type == REDIS_REPLY_ERROR) return refused(answer);
    }
    watching_ = false;
    answer = connection_->ask({"EXEC"});
    if (!answer && writes().empty()) return refused(answer);
    if (!answer) return CallResult::unknown(message_of(*connection_, answer));
    if (answer->type == REDIS_REPLY_NIL) return CallResult::aborted("a watched key has changed");
    if (answer->type == REDIS_REPLY_ARRAY) return {};
    const std::string message = message_of(*connection_, answer);
    if (message.starts_with("EXECABORT")) return CallResult::aborted(message);
    return CallResult::unknown(message);
  }

  CallResult abort() override {
    const bool kept = !watching_ || connection_->ask({"UNWATCH"}) != nullptr;
    watching_ = false;
    return CallResult::aborted("rolled back by the client", !kept);
  }

 protected:
  CallResult fetch(const std::string& key, Text& text) override {
    const std::string name = std::string(kRedisPrefix) + key;
    if (watches_) {
      const Answer watched = connection_->ask({"WATCH", name});
      if (!watched || watched->type == REDIS_REPLY_ERROR) return refused(watched);
      watching_ = true;
    }
    const Answer answer = connection_->ask({"GET", name});
    if (!answer || answer->type == REDIS_REPLY_ERROR) return refused(answer);
    text.reset();
    if (answer->type == REDIS_REPLY_STRING) text.emplace(answer->str, answer->len);
    return {};
  }

 private:
  // A new connection forgets everything that was watched or queued.
  CallResult refused(const Answer& answer) {
    watching_ = false;
    return CallResult::aborted(message_of(*connection_, answer), true);
  }

  RedisConnection connection_;
  std::string name_;  // name of the transaction; empty if not needed
  bool watches_;
  bool watching_ = false;
};

class RedisDriver : public Driver {
 public:
  RedisDriver(const DriverOptions& options, Url url) : options_(options), url_(std::move(url)) {}

  bool supports(OpKind kind) const override { return OptimisticSession::can_do(kind); }

  // Removes the keys of earlier runs, and no others.
  Status prepare() override {
    auto connection = open();
    if (!connection.ok()) return connection.error();
    std::string cursor = "0";
    do {
      const Answer page =
          (*connection)
              ->ask({"SCAN", cursor, "MATCH", std::string(kRedisPrefix) + "*", "COUNT", "1000"});
      if (!page || page->type != REDIS_REPLY_ARRAY || page->elements != 2)
        return io_error("Redis: " + message_of(**connection, page));
      cursor.assign(page->element[0]->str, page->element[0]->len);
      std::vector<std::string> words = {"DEL"};
      for (size_t i = 0; i < page->element[1]->elements; ++i)
        words.emplace_back(page->element[1]->element[i]->str, page->element[1]->element[i]->len);
      if (words.size() > 1 && !(*connection)->ask(words))
        return io_error("Redis: " + message_of(**connection, nullptr));
    } while (cursor != "0");
    mark_ = begin_mark(options_.run);
    if (!(*connection)->ask({"SET", kRedisRunKey, mark_text(mark_)}))
      return io_error("Redis: " + message_of(**connection, nullptr));
    const Answer info = (*connection)->ask({"INFO", "server"});
    if (info && info->type == REDIS_REPLY_STRING) {
      const std::string_view text(info->str, info->len), mark = "redis_version:";
      const size_t at = text.find(mark);
      if (at != std::string_view::npos)
        version_ = text.substr(at + mark.size(), text.find('\r', at) - at - mark.size());
    }
    return Ok{};
  }

  Result<std::unique_ptr<DriverSession>> connect() override {
    auto connection = open();
    if (!connection.ok()) return connection.error();
    return std::unique_ptr<DriverSession>(
        std::make_unique<RedisSession>(std::move(*connection), options_.isolation == "watch"));
  }

  Status mark_finished() override {
    auto connection = open();
    if (!connection.ok()) return connection.error();
    mark_.finished = true;
    if (!(*connection)->ask({"SET", kRedisRunKey, mark_text(mark_)}))
      return io_error("Redis: " + message_of(**connection, nullptr));
    return Ok{};
  }

  Result<RunMark> prepared_by() override {
    auto connection = open();
    if (!connection.ok()) return connection.error();
    const Answer run = (*connection)->ask({"GET", kRedisRunKey});
    if (!run || run->type != REDIS_REPLY_STRING) return RunMark{};
    return parse_mark({run->str, run->len});
  }

  std::unique_ptr<LockView> lock_view() override { return std::make_unique<NoWaits>(); }

  std::string describe() const override {
    return fmt::format(R"({{"name":"Redis","version":"{}","isolation":"{}"}})", version_,
                       options_.isolation);
  }

 private:
  Result<RedisConnection> open() const {
    Result<RedisConnection> connection = RedisWire::open(url_, options_.timeout);
    if (!connection.ok()) return connection;
    std::vector<std::vector<std::string>> greetings;
    if (!url_.password.empty())
      greetings.push_back(url_.user.empty()
                              ? std::vector<std::string>{"AUTH", url_.password}
                              : std::vector<std::string>{"AUTH", url_.user, url_.password});
    if (!url_.path.empty()) greetings.push_back({"SELECT", url_.path});
    for (const auto& words : greetings)
      if (const Answer answer = (*connection)->ask(words);
          !answer || answer->type == REDIS_REPLY_ERROR)
        return io_error("Redis: " + message_of(**connection, answer));
    return connection;
  }

  DriverOptions options_;
  RunMark mark_;
  Url url_;
  std::string version_;
};

Result<std::unique_ptr<Driver>> open_redis(const DriverOptions& options) {
  Result<Url> url = Url::parse(options.url);
  if (!url.ok()) return url.error();
  return std::unique_ptr<Driver>(std::make_unique<RedisDriver>(options, std::move(*url)));
}

}  // namespace

const DriverInfo kRedis = {"redis",
                           "Redis, by WATCH, MULTI and EXEC; rediss:// through TLS",
                           "redis://HOST:PORT/0",
                           kRedisIsolations,
                           open_redis,
                           "rediss",
                           &kLibhiredis};

}  // namespace assay::internal::collect
#endif
