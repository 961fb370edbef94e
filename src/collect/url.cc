#include "collect/url.h"

#include <charconv>

namespace assay::internal::collect {
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

// Cuts off and returns the text before `mark`; all of it if there is none.
std::string_view take_until(std::string_view& text, char mark) {
  const size_t at = text.find(mark);
  const std::string_view head = text.substr(0, at);
  text.remove_prefix(at == std::string_view::npos ? text.size() : at + 1);
  return head;
}

// The "host:port" of the URL; empty if there is no host.
std::string_view endpoint_of(std::string_view url) {
  const size_t start = url.find("://");
  if (start == std::string_view::npos) return {};
  std::string_view rest = url.substr(start + 3);
  rest = rest.substr(0, rest.find_first_of("/?"));
  const size_t user = rest.rfind('@');
  return user == std::string_view::npos ? rest : rest.substr(user + 1);
}

bool ends_text(char c) { return c == ' ' || c == '\'' || c == '"' || c == '\n' || c == '\t'; }

// Length of the URL's part that begins `text`, up to blanks and quotes.
size_t extent(std::string_view text) {
  size_t size = 0;
  while (size < text.size() && !ends_text(text[size])) ++size;
  return size;
}

bool is_port(std::string_view text) {
  return text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The end of the password in "user:password@host…"; npos if there is none.
size_t password_end(std::string_view rest) {
  const std::string_view authority = rest.substr(0, rest.find_first_of("/?#"));
  if (const size_t at = authority.rfind('@'); at != std::string_view::npos) return at;
  // This also finds the end of a password with a '/' that is not escaped.
  const size_t colon = authority.find(':');
  if (colon == std::string_view::npos || is_port(authority.substr(colon + 1)))
    return std::string_view::npos;
  return rest.rfind('@');
}

bool names_a_secret(std::string_view name) {
  std::string lower;
  for (const char c : name) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  for (const char* secret : {"password", "passwd", "pwd", "secret", "token"})
    if (lower.ends_with(secret)) return true;
  return false;
}

constexpr std::string_view kStandsForOne = "PASSWORD";  // placeholder for a password in a URL, as
                                                        // help shows it

std::string without_logins(std::string_view text) {
  std::string out;
  while (true) {
    const size_t start = text.find("://");
    if (start == std::string_view::npos) return out + std::string(text);
    out += text.substr(0, start + 3);
    text.remove_prefix(start + 3);
    const std::string_view rest = text.substr(0, extent(text));
    const size_t end = password_end(rest);
    const size_t colon = rest.find(':');
    if (end == std::string_view::npos || colon >= end) continue;
    if (rest.substr(colon + 1, end - colon - 1) == kStandsForOne) continue;
    out += rest.substr(0, colon + 1);
    out += "***";
    text.remove_prefix(end);
  }
}

// Removes secrets from name=value, in a URL's query or a command.
std::string without_secrets(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] != '=') continue;
    const std::string_view before = text.substr(0, i);
    const size_t name = before.find_last_of("?& '\"-") + 1;
    if (!names_a_secret(before.substr(name))) continue;
    const bool quoted = i + 1 < text.size() && (text[i + 1] == '\'' || text[i + 1] == '"');
    if (quoted) out += text[++i];
    out += "***";
    while (i + 1 < text.size() && text[i + 1] != '&' && !ends_text(text[i + 1])) ++i;
  }
  return out;
}

}  // namespace

std::string redacted(std::string_view text) { return without_secrets(without_logins(text)); }

bool holds_a_command(std::string_view url) {
  return url.starts_with("exec:") || url.starts_with("exec+unix:");
}

Status check_login(std::string_view url) {
  const size_t start = url.find("://");
  if (start == std::string_view::npos || holds_a_command(url)) return Ok{};
  const std::string_view rest = url.substr(start + 3);
  const size_t end = password_end(rest);
  if (end == std::string_view::npos) return Ok{};
  const std::string_view login = rest.substr(0, end);
  if (login.find_first_of("@/?#") == std::string_view::npos) return Ok{};
  return usage_error(
      "in the URL's user and password, '@', '/', '?' and '#' must be written as %40, "
      "%2F, %3F and %23");
}

Result<Url> Url::parse(std::string_view text) {
  const auto bad = [&](std::string_view why) {
    return usage_error(std::string(why) + " in the URL '" + redacted(text) + "'");
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
  if (endpoint.empty()) return usage_error("no host in the URL '" + redacted(url) + "'");
  const auto before = static_cast<size_t>(endpoint.data() - url.data());
  std::string changed(url.substr(0, before));
  changed += host;
  changed += ':' + std::to_string(port);
  changed += url.substr(before + endpoint.size());
  return changed;
}

}  // namespace assay::internal::collect
