#include "collect/url.h"

#include <charconv>

namespace assay::collect {
namespace {

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string unescape(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 &&
                        hex_digit(text[i + 2]) >= 0;
    if (!escape) {
      plain += text[i];
      continue;
    }
    plain += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
    i += 2;
  }
  return plain;
}

// Cuts off and returns what stands before `mark`; all of it if there is none.
std::string_view take_until(std::string_view& text, char mark) {
  const size_t at = text.find(mark);
  const std::string_view head = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return head;
}

// Where "host:port" stands in the URL; empty if there is no host.
std::string_view endpoint_of(std::string_view url) {
  const size_t start = url.find("://");
  if (start == std::string_view::npos) return {};
  std::string_view rest = url.substr(start + 3);
  rest = rest.substr(0, rest.find_first_of("/?"));
  const size_t user = rest.rfind('@');
  return user == std::string_view::npos ? rest : rest.substr(user + 1);
}

}  // namespace

Result<Url> Url::parse(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return usage_error(std::string(why) + " in the URL '" + std::string(text) + "'");
  };
  const std::string_view endpoint = endpoint_of(text);
  if (endpoint.empty()) return bad("no host");
  Url url;
  url.scheme = text.substr(0, text.find(':'));
  std::string_view host = endpoint;
  const size_t colon = host.rfind(':');
  if (colon != std::string_view::npos && host.find(']', colon) == std::string_view::npos) {
    const std::string_view digits = host.substr(colon + 1);
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), url.port);
    if (end.ec != std::errc() || end.ptr != digits.data() + digits.size()) return bad("a bad port");
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  url.host = host;
  const auto before = static_cast<size_t>(endpoint.data() - text.data());
  std::string_view login = text.substr(url.scheme.size() + 3, before - url.scheme.size() - 3);
  if (login.ends_with('@')) login.remove_suffix(1);
  url.user = unescape(take_until(login, ':'));
  url.password = unescape(login);
  std::string_view rest = text.substr(before + endpoint.size());
  if (rest.starts_with('/')) rest.remove_prefix(1);
  url.path = unescape(take_until(rest, '?'));
  while (!rest.empty()) {
    std::string_view value = take_until(rest, '&');
    const std::string_view name = take_until(value, '=');
    url.query.emplace_back(unescape(name), unescape(value));
  }
  return url;
}

Result<std::string> with_endpoint(std::string_view url, std::string_view host, uint16_t port) {
  const std::string_view endpoint = endpoint_of(url);
  if (endpoint.empty()) return usage_error("no host in the URL '" + std::string(url) + "'");
  const auto before = static_cast<size_t>(endpoint.data() - url.data());
  std::string changed(url.substr(0, before));
  changed += host;
  changed += ':' + std::to_string(port);
  changed += url.substr(before + endpoint.size());
  return changed;
}

}  // namespace assay::collect
