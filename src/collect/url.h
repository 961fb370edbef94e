// URLs of databases, as far as the drivers and the proxy need them:
//
//   scheme://user:password@host:port/path?name=value&name=value
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "assay/result.h"

namespace assay::internal::collect {

struct Url {
  std::string scheme, user, password, host, path;
  uint16_t port = 0;  // 0: not given
  std::vector<std::pair<std::string, std::string>> query;

  // Parses a URL; escapes (%20) are decoded. A URL without a host is a usage error.
  static Result<Url> parse(std::string_view text);
};

// Text that may contain URLs, with "***" for their passwords.
std::string redacted(std::string_view text);
// Whether this is a URL for exec, which may contain blanks, slashes and passwords anywhere.
bool holds_a_command(std::string_view url);
// A usage error for a login whose '@' or '/' are not escaped: programs disagree on where it ends,
// and would print the rest of the password as the host.
Status check_login(std::string_view url);

// The same URL with another host and port; everything else stays as it was written.
Result<std::string> with_endpoint(std::string_view url, std::string_view host, uint16_t port);

}  // namespace assay::internal::collect
