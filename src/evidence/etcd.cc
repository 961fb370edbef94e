// etcd: every version has the revision at which it was made, and the transactions of a store are
// its revisions, so no log is needed: a watch from the first revision of the run returns all of
// them, until etcd compacts old ones away.
#ifdef ASSAY_CURL
#include <curl/curl.h>
#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <thread>

#include "base/json.h"
#include "collect/drivers/base64.h"
#include "collect/drivers/curl_tls.h"
#include "collect/url.h"
#include "evidence/log.h"
#include "evidence/watch_events.h"

namespace assay::internal::evidence {
namespace {

constexpr uint16_t kEtcdDefaultPort = 2379;
constexpr auto kEtcdReconnectFor = std::chrono::seconds(30);
constexpr auto kEtcdReconnectPause = std::chrono::milliseconds(200);
constexpr long kTimeoutMs = 5000;
constexpr long kWatchTimeoutMs = 600'000;
// The range of all keys that this program writes.
constexpr std::string_view kFirst = "assay", kBeyond = "assaz";
constexpr std::string_view kEnd = "assay/end";

struct CloseCurl {
  void operator()(CURL* c) const { curl_easy_cleanup(c); }
};

class EtcdLog : public Log {
 public:
  explicit EtcdLog(collect::Url url) : url_(std::move(url)) { collect::start_curl(); }

  std::string source() const override { return "etcd's revisions"; }

  Status start() override {
    Json answer;
    if (Status s = ask("kv/range", {{"key", collect::to_base64(kEnd)}}, answer); !s.ok()) return s;
    begin_ = revision_of(answer);
    return Ok{};
  }

  std::string begins() const override { return std::to_string(begin_); }

  Status resume(const std::string& begins) override {
    const char* end = begins.data() + begins.size();
    if (begins.empty() || std::from_chars(begins.data(), end, begin_).ptr != end)
      return usage_error("the history does not say which revision etcd had when the run began");
    return Ok{};
  }

  Result<LogEnd> read(const std::function<void(LoggedTxn)>& take) override {
    // A last write, after all others.
    Json answer;
    if (Status s = ask_patiently(
            "kv/put", {{"key", collect::to_base64(kEnd)}, {"value", collect::to_base64("end")}},
            answer);
        !s.ok())
      return s.error();
    const int64_t last = revision_of(answer);
    Reading reading{{}, take, last};
    const Json request = {{"create_request",
                           {{"key", collect::to_base64(kFirst)},
                            {"range_end", collect::to_base64(kBeyond)},
                            {"start_revision", std::to_string(begin_ + 1)}}}};
    const auto curl = handle("watch");
    const std::string text = request.dump();
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, text.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT_MS, kWatchTimeoutMs);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, Reading::more);
    curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &reading);
    const CURLcode code = curl_easy_perform(curl.get());
    LogEnd end{fmt::format("revision {}", reading.events.revision()), ""};
    reading.events.finish(take);
    if (reading.events.revision() >= last) return end;
    end.missing = reading.events.why();
    if (end.missing.empty()) end.missing = fmt::format("etcd: {}", curl_easy_strerror(code));
    return end;
  }

 private:
  // A watch never ends by itself: it is stopped once the last revision has arrived.
  struct Reading {
    WatchEvents events;
    const std::function<void(LoggedTxn)>& take;
    int64_t last;

    static size_t more(char* data, size_t, size_t size, void* to) {
      auto& self = *static_cast<Reading*>(to);
      const bool goes_on = self.events.feed({data, size}, self.take);
      return goes_on && self.events.revision() < self.last ? size : 0;
    }
  };

  std::unique_ptr<CURL, CloseCurl> handle(std::string_view method) const {
    std::unique_ptr<CURL, CloseCurl> curl(curl_easy_init());
    const bool tls = url_.scheme == "etcds";
    const std::string address = fmt::format("{}://{}:{}/v3/{}", tls ? "https" : "http", url_.host,
                                            url_.port == 0 ? kEtcdDefaultPort : url_.port, method);
    collect::set_up_tls(curl.get(), url_, tls);
    curl_easy_setopt(curl.get(), CURLOPT_URL, address.c_str());
    curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl.get(), CURLOPT_PROXY, "");
    curl_easy_setopt(curl.get(), CURLOPT_TIMEOUT_MS, kTimeoutMs);
    return curl;
  }

  Status ask(std::string_view method, const Json& request, Json& answer) const {
    const auto curl = handle(method);
    const std::string text = request.dump();
    std::string body;
    curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, text.c_str());
    curl_easy_setopt(
        curl.get(), CURLOPT_WRITEFUNCTION,
        +[](char* data, size_t, size_t size, void* to) -> size_t {
          static_cast<std::string*>(to)->append(data, size);
          return size;
        });
    curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &body);
    if (const CURLcode code = curl_easy_perform(curl.get()); code != CURLE_OK)
      return io_error(fmt::format("etcd: {}", curl_easy_strerror(code)));
    answer = Json::parse(body);
    if (!answer.is_object() || !answer.contains("header"))
      return io_error("etcd: " + body.substr(0, 200));
    return Ok{};
  }

  // The server may have stopped meanwhile and be restarting.
  Status ask_patiently(std::string_view method, const Json& request, Json& answer) const {
    const auto deadline = std::chrono::steady_clock::now() + kEtcdReconnectFor;
    while (true) {
      Status s = ask(method, request, answer);
      if (s.ok() || std::chrono::steady_clock::now() > deadline) return s;
      std::this_thread::sleep_for(kEtcdReconnectPause);
    }
  }

  static int64_t revision_of(const Json& answer) {
    return std::stoll(answer["header"].text("revision", "0"));
  }

  collect::Url url_;
  int64_t begin_ = 0;
};

}  // namespace

Result<std::unique_ptr<Log>> open_etcd_log(const collect::VersionLogOptions& options) {
  Result<collect::Url> url = collect::Url::parse(options.urls.front());
  if (!url.ok()) return url.error();
  return std::unique_ptr<Log>(std::make_unique<EtcdLog>(std::move(*url)));
}

}  // namespace assay::internal::evidence
#endif
