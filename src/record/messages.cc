#include "record/messages.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace assay::internal::record {
namespace {

constexpr uint32_t kCancelRequest = 80877102, kGssRequest = 80877104;
constexpr size_t kHeader = 5;
constexpr uint32_t kSasl = 10;  // authentication by one of the mechanisms that are named
// Behind the name of a column in a RowDescription.
constexpr size_t kFieldBytes = 18;

}  // namespace

uint64_t Fields::number(size_t bytes) {
  uint64_t n = 0;
  for (const char c : this->bytes(bytes)) n = n << 8 | static_cast<unsigned char>(c);
  return n;
}

std::string_view Fields::bytes(size_t n) {
  if (n > rest_.size()) {
    ok_ = false;
    rest_ = {};
    return {};
  }
  const std::string_view found = rest_.substr(0, n);
  rest_.remove_prefix(n);
  return found;
}

std::string_view Fields::text() {
  const size_t end = rest_.find('\0');
  if (end == std::string_view::npos) {
    static_cast<void>(bytes(rest_.size() + 1));
    return {};
  }
  const std::string_view found = rest_.substr(0, end);
  rest_.remove_prefix(end + 1);
  return found;
}

std::optional<std::string_view> Fields::cell() {
  const uint32_t size = int32();
  if (size == UINT32_MAX) return std::nullopt;
  return bytes(size);
}

void put_int16(std::string& to, uint16_t n) {
  to += static_cast<char>(n >> 8);
  to += static_cast<char>(n);
}

void put_int32(std::string& to, uint32_t n) {
  put_int16(to, static_cast<uint16_t>(n >> 16));
  put_int16(to, static_cast<uint16_t>(n));
}

void put_text(std::string& to, std::string_view text) {
  to += text;
  to += '\0';
}

void put_message(std::string& to, char type, std::string_view body) {
  to += type;
  put_int32(to, static_cast<uint32_t>(body.size() + 4));
  to += body;
}

std::optional<Startup> read_startup(std::string_view bytes) {
  if (bytes.size() < 4) return std::nullopt;
  Fields fields(bytes);
  Startup found;
  found.size = fields.int32();
  if (found.size < 8 || found.size > kMostStartupBytes) return found;
  if (bytes.size() < found.size) return std::nullopt;
  fields = Fields(bytes.substr(4, found.size - 4));
  const uint32_t code = fields.int32();
  if (code == kCancelRequest) found.kind = Startup::Kind::cancel;
  if (code == kSslRequest) found.kind = Startup::Kind::tls;
  if (code == kGssRequest) found.kind = Startup::Kind::gss;
  if (code >> 16 != 3) return found;
  found.kind = Startup::Kind::start;
  for (;;) {
    const std::string_view name = fields.text();
    if (name.empty()) break;
    const std::string_view value = fields.text();
    if (name == "user") found.user = value;
    if (name == "database") found.database = value;
    if (name == "application_name") found.program = value;
    if (name == "replication") found.replicates = true;
  }
  if (found.database.empty()) found.database = found.user;
  return found;
}

std::optional<BindMessage> read_bind(std::string_view body) {
  Fields fields(body);
  BindMessage bind;
  bind.portal = fields.text();
  bind.statement = fields.text();
  std::vector<uint16_t> formats(fields.int16());
  for (uint16_t& f : formats) f = fields.int16();
  const size_t values = fields.int16();
  for (size_t i = 0; i < values && fields.ok(); ++i) {
    bind.values.push_back(fields.cell());
    const uint16_t format = formats.empty()       ? uint16_t{0}
                            : formats.size() == 1 ? formats[0]
                            : i < formats.size()  ? formats[i]
                                                  : uint16_t{0};
    bind.binary.push_back(format != 0);
  }
  const size_t before = body.size() - fields.rest().size();
  const uint16_t columns = fields.int16();
  const std::string_view rest = fields.rest();
  if (!fields.ok() || rest.size() != size_t{2} * columns || columns == UINT16_MAX)
    return std::nullopt;
  bind.one_more = body.substr(0, before);
  // One format is that of all columns, whose text in binary is the same.
  put_int16(bind.one_more, columns > 1 ? static_cast<uint16_t>(columns + 1) : columns);
  bind.one_more += rest;
  if (columns > 1) put_int16(bind.one_more, 0);
  return bind;
}

std::optional<std::string> without_last_field(std::string_view description) {
  Fields fields(description);
  const uint16_t n = fields.int16();
  if (n == 0) return std::nullopt;
  const std::string_view all = fields.rest();
  for (uint16_t i = 1; i < n; ++i) {
    static_cast<void>(fields.text());
    static_cast<void>(fields.bytes(kFieldBytes));
  }
  if (!fields.ok()) return std::nullopt;
  std::string shorter;
  put_int16(shorter, static_cast<uint16_t>(n - 1));
  shorter += all.substr(0, all.size() - fields.rest().size());
  return shorter;
}

std::string_view last_field(std::string_view description) {
  Fields fields(description);
  std::string_view name;
  for (uint16_t n = fields.int16(); n > 0 && fields.ok(); --n) {
    name = fields.text();
    static_cast<void>(fields.bytes(kFieldBytes));
  }
  return fields.ok() ? name : "";
}

std::optional<ShorterRow> without_last_cell(std::string_view row) {
  Fields fields(row);
  const uint16_t n = fields.int16();
  if (n == 0) return std::nullopt;
  const std::string_view all = fields.rest();
  for (uint16_t i = 1; i < n; ++i) static_cast<void>(fields.cell());
  const size_t kept = all.size() - fields.rest().size();
  const auto last = fields.cell();
  if (!fields.ok() || !fields.rest().empty()) return std::nullopt;
  ShorterRow shorter;
  shorter.body.reserve(kept + 2);
  put_int16(shorter.body, static_cast<uint16_t>(n - 1));
  shorter.body += all.substr(0, kept);
  if (last) shorter.last = std::string(*last);
  return shorter;
}

std::vector<std::string> cells_of(std::string_view row) {
  Fields fields(row);
  const uint16_t n = fields.int16();
  std::vector<std::string> cells;
  for (uint16_t i = 0; i < n && fields.ok(); ++i) cells.emplace_back(fields.cell().value_or(""));
  return cells;
}

std::string without_channel_binding(std::string_view body) {
  Fields fields(body);
  if (fields.int32() != kSasl) return std::string(body);
  std::string shorter;
  put_int32(shorter, kSasl);
  for (std::string_view name = fields.text(); !name.empty(); name = fields.text())
    if (!name.ends_with("-PLUS")) put_text(shorter, name);
  put_text(shorter, "");
  return shorter;
}

std::string_view error_field(std::string_view body, char field) {
  Fields fields(body);
  while (fields.ok() && !fields.rest().empty()) {
    const std::string_view text = fields.text();
    if (text.empty()) break;
    if (text[0] == field) return text.substr(1);
  }
  return {};
}

std::string with_position_moved(std::string_view body, size_t behind, size_t back) {
  const std::string_view text = error_field(body, 'P');
  size_t at = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), at);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || at <= behind)
    return std::string(body);
  const size_t before = static_cast<size_t>(text.data() - body.data());
  std::string moved(body.substr(0, before));
  moved += std::to_string(at - std::min(back, at - behind));
  return moved.append(body.substr(before + text.size()));
}

bool Cutter::feed(std::string_view bytes, std::string& out, const std::function<bool(char)>& wants,
                  const std::function<bool(char, std::string_view)>& take) {
  while (!bytes.empty()) {
    if (passing_ > 0) {
      const size_t n = static_cast<size_t>(std::min<uint64_t>(passing_, bytes.size()));
      out += bytes.substr(0, n);
      bytes.remove_prefix(n);
      passing_ -= n;
      continue;
    }
    if (begun_.size() < kHeader) {
      const size_t n = std::min(kHeader - begun_.size(), bytes.size());
      begun_ += bytes.substr(0, n);
      bytes.remove_prefix(n);
      if (begun_.size() < kHeader) return true;
    }
    const uint32_t length = Fields(std::string_view(begun_).substr(1)).int32();
    if (length < 4 || length > kMostBytes) return false;
    if (begun_.size() == kHeader && !wants(begun_[0])) {
      out += begun_;
      begun_.clear();
      passing_ = length - 4;
      continue;
    }
    const size_t n = std::min(size_t{length} + 1 - begun_.size(), bytes.size());
    begun_ += bytes.substr(0, n);
    bytes.remove_prefix(n);
    if (begun_.size() < size_t{length} + 1) return true;
    const std::string whole = std::exchange(begun_, {});
    if (!take(whole[0], std::string_view(whole).substr(kHeader))) return false;
  }
  return true;
}

}  // namespace assay::internal::record
