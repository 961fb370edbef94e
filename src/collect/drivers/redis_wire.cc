#include "collect/drivers/redis_wire.h"

#ifdef ASSAY_REDIS
#include <fmt/format.h>
#include <poll.h>

#include "collect/client_library.h"
#include "collect/drivers/curl_tls.h"

namespace assay::internal::collect {
namespace {

constexpr uint16_t kRedisDefaultPort = 6379;

uint16_t port_of(const Url& url) { return url.port == 0 ? kRedisDefaultPort : url.port; }

struct Words {
  std::vector<const char*> texts;
  std::vector<size_t> lengths;
  explicit Words(const std::vector<std::string>& words) {
    for (const std::string& word : words) {
      texts.push_back(word.data());
      lengths.push_back(word.size());
    }
  }
  int count() const { return static_cast<int>(texts.size()); }
};

class PlainWire : public RedisWire {
 public:
  static Result<std::unique_ptr<RedisWire>> open(const Url& url, std::chrono::milliseconds limit) {
    const timeval time{static_cast<time_t>(limit.count() / 1000),
                       static_cast<suseconds_t>(limit.count() % 1000 * 1000)};
    auto wire = std::make_unique<PlainWire>();
    wire->context_.reset(redisConnectWithTimeout(url.host.c_str(), port_of(url), time));
    if (!wire->context_ || wire->context_->err != 0) return io_error("Redis: " + wire->error());
    redisSetTimeout(wire->context_.get(), time);
    return std::unique_ptr<RedisWire>(std::move(wire));
  }

  RedisAnswer ask(const std::vector<std::string>& words) override {
    Words w(words);
    return RedisAnswer(static_cast<redisReply*>(
        redisCommandArgv(context_.get(), w.count(), w.texts.data(), w.lengths.data())));
  }

  std::string error() const override { return context_ ? context_->errstr : "no memory"; }

 private:
  struct Close {
    void operator()(redisContext* c) const { redisFree(c); }
  };
  std::unique_ptr<redisContext, Close> context_;
};

#ifdef ASSAY_CURL
class TlsWire : public RedisWire {
 public:
  static Result<std::unique_ptr<RedisWire>> open(const Url& url, std::chrono::milliseconds limit) {
    if (Status s = check_tls_query(url); !s.ok()) return s.error();
    if (Status s = load_client(kLibcurl); !s.ok()) return s.error();
    start_curl();
    auto wire = std::make_unique<TlsWire>();
    wire->limit_ = limit;
    CURL* c = wire->curl_.get();
    const std::string address = fmt::format("https://{}:{}", url.host, port_of(url));
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_PROXY, "");
    curl_easy_setopt(c, CURLOPT_URL, address.c_str());
    curl_easy_setopt(c, CURLOPT_CONNECT_ONLY, 1L);
    curl_easy_setopt(c, CURLOPT_SSL_ENABLE_ALPN, 0L);
    curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(limit.count()));
    set_up_tls(c, url, true);
    if (const CURLcode code = curl_easy_perform(c); code != CURLE_OK)
      return io_error(std::string("Redis: ") + curl_easy_strerror(code));
    return std::unique_ptr<RedisWire>(std::move(wire));
  }

  RedisAnswer ask(const std::vector<std::string>& words) override {
    Words w(words);
    char* text = nullptr;
    const int size = redisFormatCommandArgv(&text, w.count(), w.texts.data(), w.lengths.data());
    const std::unique_ptr<char, void (*)(void*)> owned(text, free_command);
    deadline_ = Steady::now() + limit_;
    if (size < 0 || !send({text, static_cast<size_t>(size)})) return nullptr;
    void* reply = nullptr;
    while (redisReaderGetReply(reader_.get(), &reply) == REDIS_OK) {
      if (reply != nullptr) return RedisAnswer(static_cast<redisReply*>(reply));
      if (!receive()) return nullptr;
    }
    error_ = "an answer that does not follow Redis's protocol";
    return nullptr;
  }

  std::string error() const override { return error_; }

 private:
  using Steady = std::chrono::steady_clock;
  static void free_command(void* text) { redisFreeCommand(static_cast<char*>(text)); }
  struct CloseCurl {
    void operator()(CURL* c) const { curl_easy_cleanup(c); }
  };
  struct CloseReader {
    void operator()(redisReader* r) const { redisReaderFree(r); }
  };

  bool send(std::string_view text) {
    while (!text.empty()) {
      size_t sent = 0;
      const CURLcode code = curl_easy_send(curl_.get(), text.data(), text.size(), &sent);
      text.remove_prefix(code == CURLE_OK ? sent : 0);
      if (code != CURLE_OK && !wait_after(code, POLLOUT)) return false;
    }
    return true;
  }

  bool receive() {
    char buffer[1 << 14];
    while (true) {
      size_t got = 0;
      const CURLcode code = curl_easy_recv(curl_.get(), buffer, sizeof buffer, &got);
      if (code == CURLE_OK && got > 0)
        return redisReaderFeed(reader_.get(), buffer, got) == REDIS_OK;
      if (code == CURLE_OK) {
        error_ = "the server closed the connection";
        return false;
      }
      if (!wait_after(code, POLLIN)) return false;
    }
  }

  // Returns false if the code does not mean that the socket was not ready, or if the socket is not
  // ready in time.
  bool wait_after(CURLcode code, short event) {
    error_ = curl_easy_strerror(code);
    if (code != CURLE_AGAIN) return false;
    curl_socket_t socket = CURL_SOCKET_BAD;
    curl_easy_getinfo(curl_.get(), CURLINFO_ACTIVESOCKET, &socket);
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Steady::now()).count();
    pollfd ready{socket, event, 0};
    error_ = "no answer in time";
    return left > 0 && poll(&ready, 1, static_cast<int>(left)) != 0;
  }

  std::unique_ptr<CURL, CloseCurl> curl_{curl_easy_init()};
  std::unique_ptr<redisReader, CloseReader> reader_{redisReaderCreate()};
  std::chrono::milliseconds limit_{};
  Steady::time_point deadline_{};
  std::string error_;
};
#endif

}  // namespace

Result<std::unique_ptr<RedisWire>> RedisWire::open(const Url& url,
                                                   std::chrono::milliseconds limit) {
  if (url.scheme != "rediss") return PlainWire::open(url, limit);
#ifdef ASSAY_CURL
  return TlsWire::open(url, limit);
#else
  return usage_error("rediss: needs libcurl, which this program was built without");
#endif
}

}  // namespace assay::internal::collect
#endif
