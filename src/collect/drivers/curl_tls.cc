#include "collect/drivers/curl_tls.h"

#ifdef ASSAY_CURL
#include <mutex>

namespace assay::internal::collect {
namespace {

struct FileOption {
  std::string_view name;
  CURLoption option;
};
constexpr FileOption kFiles[] = {
    {"cacert", CURLOPT_CAINFO}, {"cert", CURLOPT_SSLCERT}, {"key", CURLOPT_SSLKEY}};

}  // namespace

void start_curl() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

Status check_tls_query(const Url& url) {
  for (const auto& [name, value] : url.query) {
    bool known = false;
    for (const FileOption& f : kFiles) known = known || f.name == name;
    if (!known)
      return usage_error("the URL's query has '" + name + "'; expected cacert, cert or key");
  }
  return Ok{};
}

void set_up_tls(CURL* curl, const Url& url, bool tls) {
  if (!tls) return;
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
  for (const auto& [name, value] : url.query)
    for (const FileOption& f : kFiles)
      if (f.name == name) curl_easy_setopt(curl, f.option, value.c_str());
}

}  // namespace assay::internal::collect
#endif
