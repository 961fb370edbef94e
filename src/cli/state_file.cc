#include "cli/state_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/byte_stream.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/whole_file.h"

namespace assay::internal::cli {
namespace {

constexpr std::string_view kFirstLine = "assay watch state 2\n";
constexpr size_t kDigestSize = 32;

std::string digest_of_bytes(std::string_view bytes) {
  Digest digest;
  digest.add(bytes.data(), bytes.size());
  return digest.hex();
}

void put_place(StreamWriter& to, const FilePlace& p) {
  to.number(p.offset);
  to.number(p.line);
  to.text(p.digest);
}

FilePlace take_place(StreamReader& from) {
  FilePlace p;
  p.offset = from.number();
  p.line = from.number();
  p.digest = from.text();
  if (p.offset > uint64_t{1} << 62) from.fail();
  return p;
}

std::string line_of(const watch::Omission& one) {
  return fmt::format("{{\"left_out\":{},\"alarm\":{},\"mark\":{},\"read\":{}}}\n", one.line,
                     one.alarm, one.mark, one.read);
}

std::optional<watch::Omission> left_out_of(std::string_view line) {
  const auto json = Json::parse(line);
  if (!json.is_object()) return std::nullopt;
  const auto number = [&](std::string_view name) {
    const Json* field = json.find(name);
    return field != nullptr && field->is_int64() ? std::optional(field->integer()) : std::nullopt;
  };
  const auto at = number("left_out"), mark = number("mark"), read = number("read");
  const Json* alarm = json.find("alarm");
  if (!at || !mark || !read || *at < 1 || *read < 0 || alarm == nullptr || !alarm->is_boolean())
    return std::nullopt;
  return watch::Omission{static_cast<uint64_t>(*at), *alarm == true, *mark,
                         static_cast<uint64_t>(*read)};
}

Status read_left_out(std::string_view text, std::vector<watch::Omission>& to) {
  for (size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    const auto one = left_out_of(text.substr(0, end));
    if (!one) return bad_input("damaged: expected a line about a transaction that was left out");
    to.push_back(*one);
  }
  return Ok{};
}

Result<StateFile::State> parse(std::string_view text) {
  if (!text.starts_with(kFirstLine))
    return bad_input("expected a file that `assay watch --state` wrote, of version 2");
  text.remove_prefix(kFirstLine.size());
  if (text.size() < kDigestSize) return bad_input("damaged: it is cut off");
  const std::string_view digest = text.substr(0, kDigestSize);
  StreamReader all(text.substr(kDigestSize));
  const std::string_view bytes = all.text();
  if (!all.ok()) return bad_input("damaged: it is cut off");
  if (digest_of_bytes(bytes) != digest)
    return bad_input("damaged: its digest does not match its content");
  StreamReader from(bytes);
  StateFile::State state;
  state.history = take_place(from);
  state.chain = take_place(from);
  state.saved = from.text();
  if (!from.ok() || !from.at_end()) return bad_input("damaged: its content is invalid");
  const std::string_view rest(
      bytes.data() + bytes.size(),
      static_cast<size_t>(text.data() + text.size() - bytes.data()) - bytes.size());
  if (Status s = read_left_out(rest, state.left_out); !s.ok()) return s.error();
  return state;
}

}  // namespace

Result<bool> FilePart::read_up_to(uint64_t offset) {
  constexpr uint64_t kBytesAtOnce = uint64_t{1} << 16;
  std::ifstream file(path_, std::ios::binary);
  if (!file) return io_error(std::strerror(errno), path_);
  file.seekg(static_cast<std::streamoff>(end_));
  std::string bytes;
  while (end_ < offset) {
    bytes.resize(std::min(kBytesAtOnce, offset - end_));
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (static_cast<uint64_t>(file.gcount()) != bytes.size()) return false;
    digest_.add(bytes.data(), bytes.size());
    end_ += bytes.size();
  }
  return true;
}

Result<FilePlace> FilePart::up_to(uint64_t offset, uint64_t line) {
  const auto whole = read_up_to(offset);
  if (!whole.ok()) return whole.error();
  if (!*whole) return io_error("became shorter while it was read", path_);
  return FilePlace{offset, line, digest_.hex()};
}

Status FilePart::check(const FilePlace& place) {
  const auto whole = read_up_to(place.offset);
  if (!whole.ok()) return whole.error();
  Error e;
  if (!*whole)
    e = bad_input(fmt::format("the file is shorter than the {} bytes already read", place.offset));
  else if (digest_.hex() != place.digest)
    e = bad_input(fmt::format(
        "the first {} bytes of the file have changed since the state was saved", place.offset));
  else
    return Ok{};
  e.message += "; expected the same file, with lines appended";
  e.file = path_;
  return e;
}

StateFile::~StateFile() {
  if (fd_ >= 0) ::close(fd_);
}

Result<std::optional<StateFile::State>> StateFile::read() const {
  if (::access(path_.c_str(), F_OK) != 0 && errno == ENOENT) return std::optional<State>();
  std::ifstream file(path_, std::ios::binary);
  if (!file) return io_error(std::strerror(errno), path_);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  Result<State> state = parse(text);
  if (state.ok()) return std::optional(std::move(*state));
  Error e = state.error();
  e.file = path_;
  return e;
}

Status StateFile::write(const State& state) {
  StreamWriter bytes, all;
  put_place(bytes, state.history);
  put_place(bytes, state.chain);
  bytes.text(state.saved);
  all.text(bytes.bytes());
  WholeFile file(path_);
  const std::string first = std::string(kFirstLine) + digest_of_bytes(bytes.bytes());
  for (const std::string* part : {&first, &all.bytes()})
    if (Status s = file.write(*part); !s.ok()) return s;
  if (Status s = file.close(); !s.ok()) return s;
  if (fd_ >= 0) ::close(fd_);
  fd_ = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  return fd_ >= 0 ? Status(Ok{}) : Status(io_error(std::strerror(errno), path_));
}

Status StateFile::add(const watch::Omission& one) {
  const std::string line = line_of(one);
  const ssize_t n = ::write(fd_, line.data(), line.size());
  if (n == static_cast<ssize_t>(line.size())) return Ok{};
  return io_error(n < 0 ? std::strerror(errno) : "no room for a line", path_);
}

}  // namespace assay::internal::cli
