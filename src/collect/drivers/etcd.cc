// etcd over its HTTP gateway (JSON). A transaction is optimistic (drivers/optimistic.h) and, as in
// etcd's own Go library, commits with one /v3/kv/txn that compares the revision of every key it
// read:
//
//   serializable      reads see the revision of the first read; committed if none of its keys
//                     changed since
//   repeatable reads  each key is read as it is when first asked for; the same comparison
//   read committed    each key in the same way, and no comparison
//
// A transaction that wrote nothing has read one revision under `serializable` and needs no commit.
//
// Revisions are etcd's logical time. The revision of a commit, or of the comparison with which a
// transaction without writes ended, is its commit_ts; the revision that all its reads saw under
// `serializable`, or the one before a commit without reads, is its start_ts.
#ifdef ASSAY_CURL
#include <curl/curl.h>
#include <fmt/format.h>

#include <charconv>

#include "base/json.h"
#include "collect/client_library.h"
#include "collect/drivers/base64.h"
#include "collect/drivers/curl_tls.h"
#include "collect/drivers/optimistic.h"
#include "collect/drivers/registry.h"
#include "collect/run_id.h"
#include "collect/url.h"

namespace assay::internal::collect {
namespace {

constexpr IsolationName kEtcdIsolations[] = {
    {"serializable", "reads of one revision, compared at the commit"},
    {"repeatable reads", "each key read when asked for, compared at the commit"},
    {"read committed", "no comparison"},
};
constexpr uint16_t kEtcdDefaultPort = 2379;
constexpr std::string_view kEtcdPrefix = "assay/";
constexpr std::string_view kEtcdRunKey = "assay-run";
constexpr std::string_view kEtcdTxnKey = "assay-txn";  // names the writer, for the server's log

struct CloseCurl {
  void operator()(CURL* c) const { curl_easy_cleanup(c); }
};
struct FreeHeaders {
  void operator()(curl_slist* l) const { curl_slist_free_all(l); }
};

// One connection to the gateway.
class Gateway {
 public:
  Gateway(const Url& url, std::chrono::milliseconds timeout)
      : curl_(curl_easy_init()), headers_(curl_slist_append(nullptr, "Expect:")) {
    const bool tls = url.scheme == "etcds";
    base_ = fmt::format("{}://{}:{}/v3/", tls ? "https" : "http", url.host,
                        url.port == 0 ? kEtcdDefaultPort : url.port);
    CURL* c = curl_.get();
    set_up_tls(c, url, tls);
    curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(c, CURLOPT_TIMEOUT_MS, static_cast<long>(timeout.count()));
    curl_easy_setopt(c, CURLOPT_HTTPHEADER, headers_.get());
    curl_easy_setopt(c, CURLOPT_PROXY, "");
    curl_easy_setopt(
        c, CURLOPT_WRITEFUNCTION, +[](char* data, size_t, size_t size, void* to) -> size_t {
          static_cast<std::string*>(to)->append(data, size);
          return size;
        });
    curl_easy_setopt(c, CURLOPT_WRITEDATA, &body_);
  }

  // `answer` is set if the result is ok. An error that etcd is certain about is fatal; after any
  // other the outcome of the request is unknown.
  CallResult post(const char* method, const Json& request, Json& answer) {
    const std::string url = base_ + method, text = request.dump();
    body_.clear();
    // On a connection that has died meanwhile, curl sends a request twice, and the second answer to
    // a transaction would contradict the first.
    curl_easy_setopt(curl_.get(), CURLOPT_FRESH_CONNECT,
                     std::string_view(method) == "kv/txn" ? 1L : 0L);
    curl_easy_setopt(curl_.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl_.get(), CURLOPT_POSTFIELDS, text.c_str());
    const CURLcode code = curl_easy_perform(curl_.get());
    if (code != CURLE_OK) return CallResult::unknown(curl_easy_strerror(code), false);
    long status = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    answer = Json::parse(body_);
    if (status == 200 && answer.is_object()) return {};
    const std::string message = fmt::format("HTTP {} {}", status, body_.substr(0, 200));
    if (status == 400) return CallResult::fatal("etcd: " + message);
    return CallResult::unknown(message, false);
  }

 private:
  std::unique_ptr<CURL, CloseCurl> curl_;
  std::unique_ptr<curl_slist, FreeHeaders> headers_;
  std::string base_;
  std::string body_;
};

class EtcdSession : public OptimisticSession {
 public:
  EtcdSession(const Url& url, const DriverOptions& options)
      : gateway_(url, options.timeout), isolation_(options.isolation) {}

  CallResult begin() override {
    revision_.clear();
    times_ = {};
    compares_ = Json::array();
    return OptimisticSession::begin();
  }

  void name_transaction(std::string_view txn) override { name_ = txn; }

  CallResult commit() override {
    const bool one_revision = isolation_ == "serializable";
    const bool compared = isolation_ != "read committed";
    if (writes().empty() && (one_revision || !compared || compares_.empty())) return {};
    Json request = {{"compare", compared ? compares_ : Json::array()}, {"success", Json::array()}};
    if (!name_.empty() && !writes().empty())
      request["success"].push_back(
          {{"requestPut", {{"key", to_base64(kEtcdTxnKey)}, {"value", to_base64(name_)}}}});
    for (const auto& [key, text] : writes()) {
      const std::string name = to_base64(std::string(kEtcdPrefix) + key);
      if (text)
        request["success"].push_back(
            {{"requestPut", {{"key", name}, {"value", to_base64(*text)}}}});
      else
        request["success"].push_back({{"requestDeleteRange", {{"key", name}}}});
    }
    Json answer;
    CallResult result = gateway_.post("kv/txn", request, answer);
    // Without writes there is nothing that could have happened.
    if (result.outcome == CallOutcome::unknown && writes().empty())
      result.outcome = CallOutcome::aborted;
    if (!result.ok()) return result;
    if (!answer.value("succeeded").is_true())
      return CallResult::aborted("a key that was read has changed");
    times_.commit_ts = revision_of(answer);
    return {};
  }

  OwnTimes own_times() const override {
    OwnTimes times = times_;
    const bool committed = times.commit_ts != Interval::kUnknown;
    if (isolation_ == "serializable" && times.start_ts == Interval::kUnknown && committed)
      times.start_ts = times.commit_ts - 1;
    return times;
  }

  CallResult abort() override { return CallResult::aborted("rolled back by the client"); }

 protected:
  CallResult fetch(const std::string& key, Text& text) override {
    const std::string name = to_base64(std::string(kEtcdPrefix) + key);
    Json request = {{"key", name}};
    if (!revision_.empty() && isolation_ == "serializable") request["revision"] = revision_;
    Json answer;
    CallResult result = gateway_.post("kv/range", request, answer);
    if (result.outcome == CallOutcome::unknown) result.outcome = CallOutcome::aborted;
    if (!result.ok()) return result;
    if (revision_.empty()) {
      revision_ = answer["header"].text("revision", "0");
      if (isolation_ == "serializable") times_.start_ts = revision_of(answer);
    }
    std::string changed = "0";  // what etcd says about a key that is absent
    text.reset();
    if (answer.contains("kvs") && !answer["kvs"].empty()) {
      const Json& found = answer["kvs"][0];
      changed = found.text("mod_revision", "0");
      text = from_base64(found.text("value"));
    }
    compares_.push_back({{"key", name}, {"target", "MOD"}, {"modRevision", changed}});
    return {};
  }

 private:
  // The gateway writes 64-bit numbers as texts.
  static int64_t revision_of(const Json& answer) {
    const std::string text = answer["header"].text("revision");
    int64_t revision = Interval::kUnknown;
    std::from_chars(text.data(), text.data() + text.size(), revision);
    return revision;
  }

  Gateway gateway_;
  std::string isolation_;
  std::string revision_;  // the one of the first read
  OwnTimes times_;
  std::string name_;  // name of the transaction; empty if not needed
  Json compares_;
};

class EtcdDriver : public Driver {
 public:
  EtcdDriver(const DriverOptions& options, Url url) : options_(options), url_(std::move(url)) {
    start_curl();
  }

  bool supports(OpKind kind) const override { return OptimisticSession::can_do(kind); }

  Status prepare() override {
    Gateway gateway(url_, options_.timeout);
    std::string end(kEtcdPrefix);
    ++end.back();
    Json answer;
    CallResult result = gateway.post(
        "kv/deleterange", {{"key", to_base64(kEtcdPrefix)}, {"range_end", to_base64(end)}}, answer);
    mark_ = begin_mark(options_.run);
    if (result.ok()) result = put_mark(gateway);
    if (!result.ok()) return io_error("etcd: " + result.message);
    if (gateway.post("maintenance/status", Json::object(), answer).ok())
      version_ = answer.text("version");
    return Ok{};
  }

  Status mark_finished() override {
    mark_.finished = true;
    Gateway gateway(url_, options_.timeout);
    const CallResult result = put_mark(gateway);
    if (!result.ok()) return io_error("etcd: " + result.message);
    return Ok{};
  }

  Result<RunMark> prepared_by() override {
    Json answer;
    const CallResult result =
        Gateway(url_, options_.timeout).post("kv/range", {{"key", to_base64(kEtcdRunKey)}}, answer);
    if (!result.ok()) return io_error("etcd: " + result.message);
    if (!answer.contains("kvs") || answer["kvs"].empty()) return RunMark{};
    return parse_mark(from_base64(answer["kvs"][0].text("value")));
  }

  Result<std::unique_ptr<DriverSession>> connect() override {
    return std::unique_ptr<DriverSession>(std::make_unique<EtcdSession>(url_, options_));
  }

  std::unique_ptr<LockView> lock_view() override { return std::make_unique<NoWaits>(); }

  std::string describe() const override {
    return fmt::format(R"({{"name":"etcd","version":"{}","isolation":"{}"}})", version_,
                       options_.isolation);
  }

 private:
  CallResult put_mark(Gateway& gateway) const {
    Json answer;
    return gateway.post("kv/put",
                        {{"key", to_base64(kEtcdRunKey)}, {"value", to_base64(mark_text(mark_))}},
                        answer);
  }

  DriverOptions options_;
  RunMark mark_;
  Url url_;
  std::string version_;
};

Result<std::unique_ptr<Driver>> open_etcd(const DriverOptions& options) {
  Result<Url> url = Url::parse(options.url);
  if (!url.ok()) return url.error();
  if (Status s = check_tls_query(*url); !s.ok()) return s.error();
  return std::unique_ptr<Driver>(std::make_unique<EtcdDriver>(options, std::move(*url)));
}

}  // namespace

const DriverInfo kEtcd = {
    "etcd",
    "etcd, by compare-and-set transactions over its HTTP gateway; etcds:// through TLS",
    "etcd://HOST:PORT",
    kEtcdIsolations,
    open_etcd,
    "etcds",
    &kLibcurl};

}  // namespace assay::internal::collect
#endif
