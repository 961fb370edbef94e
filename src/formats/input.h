// A stream of bytes to read a history from: a file, standard input or memory, with gzip and zstd
// decompressed on the way. Only a window of it is in memory, so neither a large file nor a
// decompression bomb costs more than the longest line (or record) that a format allows.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "assay/budget.h"
#include "assay/result.h"

namespace assay::internal::formats {

// The length of the longest line of a text format. It also limits every name and value
// (HistoryBuilder::kMaxTextBytes).
inline constexpr size_t kMaxLineBytes = size_t{1} << 24;

// The error of a budget that ran out while reading.
Error budget_error(const Budget& budget);

// A source of bytes. `read` returns how many it stored, 0 at the end.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  virtual Result<size_t> read(char* to, size_t size) = 0;
  // Whether the source has ended in the middle of compressed data.
  virtual bool cut_off() const { return false; }
  // Whether `read` would have to wait for a writer.
  virtual bool would_wait() const { return false; }
};

class Input {
 public:
  // Bytes after the window that may be read (not written) without harm; parsers that load whole
  // vectors need them.
  static constexpr size_t kPadding = 64;

  // `path` is a file or "-" for standard input. Reading, and waiting for data, fails once `budget`
  // is exhausted; it must outlive the input, and may be null.
  static Result<Input> open(const std::string& path, Budget* budget);
  // The same for a file to which lines are added while it is read: waits at its end until the
  // budget is exhausted or `ended` says that everything has been written (null: that never
  // happens). Not for compressed files.
  static Result<Input> follow(const std::string& path, Budget* budget,
                              const std::atomic<bool>* ended = nullptr);
  // The same, starting from the byte `offset` of the file, at which the line after `line` begins.
  static Result<Input> follow_from(const std::string& path, Budget* budget, uint64_t offset,
                                   uint64_t line);
  // Data from another, uncompressed source.
  static Input of(std::unique_ptr<ByteSource> source, std::string name, Budget* budget);
  // `text` must outlive the input; `name` is used in messages.
  static Result<Input> memory(std::string_view text, std::string name, Budget* budget);

  // States that the first byte is the one at `offset`, at which the line after `line` begins.
  void begins_at(uint64_t offset, uint64_t line) {
    offset_ = offset;
    line_ = line;
  }

  Budget* budget() const { return budget_; }
  bool is_compressed() const { return compressed_; }
  const std::string& name() const { return name_; }

  // Makes at least `size` bytes available in window(), or all that are left at the end of the
  // input.
  Status fill(size_t size);
  // The bytes in the buffer. Invalidated by fill, next_line and consume.
  std::string_view window() const { return {buffer_.data() + begin_, end_ - begin_}; }
  void consume(size_t size);
  // Whether everything has been consumed; may have to read to find out.
  Result<bool> at_end();
  // Whether compressed data that ends in the middle ends the input; otherwise it is an error at
  // that place.
  void allow_cut_off(bool allowed) { cut_off_allowed_ = allowed; }
  // Whether the input has ended in this way.
  bool cut_off() const { return ended_ && source_->cut_off(); }
  // The number of bytes consumed so far, after decompression.
  uint64_t offset() const { return offset_; }

  struct Line {
    std::string_view text;    // without its line end; valid until the next call
    bool terminated = false;  // false: the input ends without a line end
  };
  // Skips a byte order mark at the beginning. Readers of lines do this by themselves.
  Status skip_byte_order_mark();
  // Reads the next line; false at the end. Lines end in \n or \r\n; a byte order mark is skipped.
  Result<bool> next_line(Line& line);
  // Several whole lines, with their line ends, followed by padding for parsers.
  struct Lines {
    uint64_t first_line = 0;  // 1-based number of the first line
    std::string_view text() const { return std::string_view(bytes).substr(0, size); }
    bool terminated = false;  // false: the input ends without a line end
    std::string bytes;
    size_t size = 0;
  };
  // Reads the next lines, about `bytes` of them and at least one; false at the end.
  Result<bool> next_lines(Lines& lines, size_t bytes);
  // Whether next_line would have to wait for a writer. False for compressed input.
  bool would_wait() const;
  // The 1-based number of the line that next_line or next_lines returned last.
  uint64_t line() const { return line_; }

  // An error at the current line.
  Error error(std::string message, uint64_t column = 0) const;
  // An error `at` bytes into the input, for formats without lines.
  Error error_at_byte(const std::string& message, uint64_t at) const;
  // Puts the name of the input into an error that came from elsewhere.
  Error located(Error e) const;
  // An error in a result that was built from this input.
  template <class T>
  Result<T> located(Result<T> built) const {
    if (!built.ok()) return located(built.error());
    return built;
  }

 private:
  Input() = default;
  enum class AtEnd : uint8_t { stops, follows };
  static Result<Input> open(const std::string& path, Budget* budget, AtEnd at_end,
                            const std::atomic<bool>* ended);
  static Result<Input> start(std::unique_ptr<ByteSource> source, std::string name, Budget* budget);
  // Reads once; false at the end of the input.
  Result<bool> more(size_t want);
  Result<bool> end() const;
  Error behind_window(Error e) const;

  std::string name_;
  std::unique_ptr<ByteSource> source_;
  Budget* budget_ = nullptr;
  std::vector<char> buffer_;
  size_t begin_ = 0;
  size_t end_ = 0;
  bool ended_ = false;
  bool compressed_ = false;
  bool cut_off_allowed_ = false;
  uint64_t offset_ = 0;
  uint64_t line_ = 0;
};

}  // namespace assay::internal::formats
