#include "formats/time_order.h"

#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <queue>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "base/temporary_file.h"

namespace assay::internal::formats {
namespace {

constexpr int64_t kFirst = std::numeric_limits<int64_t>::min();
constexpr size_t kRunBufferBytes = size_t{1} << 18;

// The earliest moment; if there is none, one before all others.
int64_t begin_of(const simdjson::dom::object& fields) {
  simdjson::dom::element time;
  if (fields["begin"].get(time) != simdjson::SUCCESS) return kFirst;
  simdjson::dom::array interval;
  if (time.get(interval) == simdjson::SUCCESS && interval.at(0).get(time) != simdjson::SUCCESS)
    return kFirst;
  int64_t begin = kFirst;
  return time.get(begin) == simdjson::SUCCESS ? begin : kFirst;
}

// Determines where each line belongs.
class LineKeys {
 public:
  int64_t of(std::string_view line) {
    simdjson::dom::object fields;
    if (parser_.parse(line.data(), line.size(), false).get(fields) != simdjson::SUCCESS)
      return latest_;
    simdjson::dom::element session;
    if (fields["session"].get(session) != simdjson::SUCCESS ||
        fields["event"].error() == simdjson::SUCCESS)
      return latest_;
    int64_t& last = sessions_.try_emplace(simdjson::minify(session), kFirst).first->second;
    last = std::max(last, begin_of(fields));
    latest_ = std::max(latest_, last);
    return last;
  }

 private:
  simdjson::dom::parser parser_;
  std::unordered_map<std::string, int64_t> sessions_;  // the latest begin of each session
  int64_t latest_ = kFirst;
};

// Sorted lines, in memory or in a file. In a file each is preceded by its key and its length.
class Run {
 public:
  void add(int64_t key, std::string_view line) {
    lines_.push_back({key, text_.size(), line.size() + 1});
    text_.append(line);
    text_.push_back('\n');
  }
  bool empty() const { return lines_.empty(); }
  uint64_t bytes() const { return text_.capacity() + lines_.capacity() * sizeof(Line); }
  void sort() { std::ranges::stable_sort(lines_, {}, &Line::key); }

  Status write(const std::string& folder) {
    sort();
    Result<FileDescriptor> file = temporary_file(folder);
    if (!file.ok()) return file.error();
    file_ = std::make_unique<FileDescriptor>(std::move(*file));
    std::string buffer;
    for (const Line& line : lines_) {
      buffer.append(reinterpret_cast<const char*>(&line.key), sizeof line.key);
      const uint64_t size = line.size;
      buffer.append(reinterpret_cast<const char*>(&size), sizeof size);
      buffer.append(text_, line.at, line.size);
      if (buffer.size() < kRunBufferBytes) continue;
      if (Status s = put(buffer, folder); !s.ok()) return s;
      buffer.clear();
    }
    if (Status s = put(buffer, folder); !s.ok()) return s;
    std::vector<Line>().swap(lines_);
    std::string().swap(text_);
    release_free_memory();
    ::lseek(file_->get(), 0, SEEK_SET);
    return Ok{};
  }

  // Goes to the next line; false if there is none.
  Result<bool> next() {
    if (file_ == nullptr) {
      if (next_ == lines_.size()) return false;
      const Line& at = lines_[next_++];
      key_ = at.key;
      line_ = std::string_view(text_).substr(at.at, at.size);
      return true;
    }
    int64_t head[2];
    auto whole = fill(sizeof head);
    if (!whole.ok() || !*whole) return whole;
    std::memcpy(head, text_.data() + next_, sizeof head);
    const auto size = static_cast<size_t>(head[1]);
    whole = fill(sizeof head + size);
    if (!whole.ok()) return whole;
    if (!*whole) return io_error("a temporary file is cut off");
    key_ = head[0];
    line_ = std::string_view(text_).substr(next_ + sizeof head, size);
    next_ += sizeof head + size;
    return true;
  }
  int64_t key() const { return key_; }
  std::string_view line() const { return line_; }

 private:
  struct Line {
    int64_t key;
    size_t at, size;
  };

  Status put(std::string_view bytes, const std::string& folder) const {
    while (!bytes.empty()) {
      const ssize_t n = ::write(file_->get(), bytes.data(), bytes.size());
      if (n < 0 && errno != EINTR)
        return io_error(std::string("cannot write temporary files: ") + strerror(errno), folder);
      if (n > 0) bytes.remove_prefix(static_cast<size_t>(n));
    }
    return Ok{};
  }

  // Makes this many of the next bytes available; false at the end.
  Result<bool> fill(size_t size) {
    while (text_.size() - next_ < size) {
      text_.erase(0, next_);
      next_ = 0;
      const size_t before = text_.size();
      text_.resize(before + std::max(kRunBufferBytes, size));
      const ssize_t n = ::read(file_->get(), text_.data() + before, text_.size() - before);
      text_.resize(before + static_cast<size_t>(std::max<ssize_t>(n, 0)));
      if (n < 0 && errno != EINTR) return io_error(std::string("cannot read: ") + strerror(errno));
      if (n == 0) return false;
    }
    return true;
  }

  std::vector<Line> lines_;
  std::string text_;  // of all lines; for a file, the part that was read
  size_t next_ = 0;   // number of a line; for a file, a byte of the text
  std::unique_ptr<FileDescriptor> file_;
  int64_t key_ = kFirst;
  std::string_view line_;
};

class MergedRuns : public ByteSource {
 public:
  MergedRuns(std::vector<Run> runs, Budget* budget) : runs_(std::move(runs)), budget_(budget) {}

  Status start() {
    for (size_t i = 0; i < runs_.size(); ++i)
      if (Status s = advance(i); !s.ok()) return s;
    return Ok{};
  }

  Result<size_t> read(char* to, size_t size) override {
    if (budget_ != nullptr && budget_->exhausted_now()) return budget_error(*budget_);
    size_t done = 0;
    while (done < size) {
      if (rest_.empty()) {
        if (Status s = next_line(); !s.ok()) return s.error();
        if (rest_.empty()) break;
      }
      const size_t n = std::min(size - done, rest_.size());
      std::memcpy(to + done, rest_.data(), n);
      rest_.remove_prefix(n);
      done += n;
    }
    return done;
  }

 private:
  using Next =
      std::pair<int64_t, size_t>;  // a key, and the run that has it; earlier runs come first

  Status next_line() {
    if (current_ != kNoRun)
      if (Status s = advance(std::exchange(current_, kNoRun)); !s.ok()) return s;
    if (next_.empty()) return Ok{};
    current_ = next_.top().second;
    next_.pop();
    rest_ = runs_[current_].line();
    return Ok{};
  }

  Status advance(size_t run) {
    const auto more = runs_[run].next();
    if (!more.ok()) return more.error();
    if (*more) next_.emplace(runs_[run].key(), run);
    return Ok{};
  }

  static constexpr size_t kNoRun = std::numeric_limits<size_t>::max();

  std::vector<Run> runs_;
  Budget* budget_;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> next_;
  size_t current_ = kNoRun;  // the run of the current line
  std::string_view rest_;    // the rest of the current line
};

}  // namespace

Result<std::unique_ptr<ByteSource>> in_order_of_time(Input& lines,
                                                     const TimeOrderOptions& options) {
  const std::string folder = options.folder.empty() ? temporary_folder() : options.folder;
  std::vector<Run> runs(1);
  LineKeys keys;
  Input::Line line;
  for (;;) {
    const auto more = lines.next_line(line);
    if (!more.ok()) return more.error();
    if (!*more) break;
    // Growing takes the same amount again.
    if (runs.back().bytes() > options.memory / 2) {
      if (Status s = runs.back().write(folder); !s.ok()) return s.error();
      runs.emplace_back();
    }
    runs.back().add(keys.of(line.text), line.text);
  }
  if (runs.size() == 1)
    runs.back().sort();
  else if (Status s = runs.back().write(folder); !s.ok())
    return s.error();
  auto merged = std::make_unique<MergedRuns>(std::move(runs), options.budget);
  if (Status s = merged->start(); !s.ok()) return s.error();
  return std::unique_ptr<ByteSource>(std::move(merged));
}

}  // namespace assay::internal::formats
