#include "formats/compression.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace assay::internal::formats {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 17;

// Compressed bytes on their way into a decoder.
class Feed {
 public:
  Feed(std::unique_ptr<ByteSource> source, std::string head)
      : source_(std::move(source)), bytes_(head.begin(), head.end()), size_(bytes_.size()) {
    bytes_.resize(std::max(kBufferBytes, size_));
  }
  // Makes sure that the buffer is not empty; false at the end of the source.
  Result<bool> refill() {
    if (at_ < size_) return true;
    auto n = source_->read(bytes_.data(), bytes_.size());
    if (!n.ok()) return n.error();
    at_ = 0;
    size_ = *n;
    return size_ > 0;
  }
  char* data() { return bytes_.data() + at_; }
  size_t size() const { return size_ - at_; }
  void consume(size_t n) {
    at_ += n;
    taken_ += n;
  }
  Error broken(std::string_view what, std::string_view why) const {
    return bad_input("broken " + std::string(what) + " data at byte " + std::to_string(taken_) +
                     " of the compressed file: " + std::string(why));
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<char> bytes_;
  size_t at_ = 0;
  size_t size_;
  uint64_t taken_ = 0;
};

class GzipSource : public ByteSource {
 public:
  explicit GzipSource(Feed feed) : feed_(std::move(feed)) { inflateInit2(&z_, 16 + MAX_WBITS); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;
  ~GzipSource() override { inflateEnd(&z_); }

  Result<size_t> read(char* to, size_t size) override {
    if (broken_) return *broken_;
    z_.next_out = reinterpret_cast<Bytef*>(to);
    z_.avail_out = static_cast<uInt>(std::min<size_t>(size, 1u << 30));
    const uInt room = z_.avail_out;
    while (z_.avail_out == room) {
      auto more = feed_.refill();
      if (!more.ok()) return more.error();
      if (!*more) {
        cut_off_ = inside_;
        return size_t{0};
      }
      z_.next_in = reinterpret_cast<Bytef*>(feed_.data());
      z_.avail_in = static_cast<uInt>(feed_.size());
      int code = inflate(&z_, Z_NO_FLUSH);
      feed_.consume(feed_.size() - z_.avail_in);
      inside_ = code != Z_STREAM_END;
      if (code == Z_STREAM_END) {
        inflateReset(&z_);  // further members may follow
      } else if (code != Z_OK && code != Z_BUF_ERROR) {
        broken_ = feed_.broken("gzip", z_.msg ? z_.msg : "unknown cause");
        if (z_.avail_out == room) return *broken_;  // else once the bytes before it are read
      }
    }
    return size_t{room - z_.avail_out};
  }

  bool cut_off() const override { return cut_off_; }

 private:
  Feed feed_;
  z_stream z_{};
  std::optional<Error> broken_;
  bool inside_ = true;
  bool cut_off_ = false;
};

class ZstdSource : public ByteSource {
 public:
  explicit ZstdSource(Feed feed) : feed_(std::move(feed)), z_(ZSTD_createDStream()) {
    // A frame may ask for a window of up to 2 GB; 128 MiB serves every level below --ultra --long.
    ZSTD_DCtx_setParameter(z_, ZSTD_d_windowLogMax, 27);
  }
  ZstdSource(const ZstdSource&) = delete;
  ZstdSource& operator=(const ZstdSource&) = delete;
  ~ZstdSource() override { ZSTD_freeDStream(z_); }

  Result<size_t> read(char* to, size_t size) override {
    if (broken_) return *broken_;
    ZSTD_outBuffer out{to, size, 0};
    while (out.pos == 0) {
      auto more = feed_.refill();
      if (!more.ok()) return more.error();
      // At the end of the source the decoder may still hold output back.
      ZSTD_inBuffer in{feed_.data(), feed_.size(), 0};
      size_t code = ZSTD_decompressStream(z_, &out, &in);
      feed_.consume(in.pos);
      if (ZSTD_isError(code)) {
        broken_ = feed_.broken("zstd", ZSTD_getErrorName(code));
        if (out.pos == 0) return *broken_;  // otherwise once everything before it has been read
        return out.pos;
      }
      if (!*more && out.pos == 0) {
        cut_off_ = inside_;
        return size_t{0};
      }
      if (*more || out.pos > 0) inside_ = code != 0;
    }
    return out.pos;
  }

  bool cut_off() const override { return cut_off_; }

 private:
  Feed feed_;
  ZSTD_DStream* z_;
  std::optional<Error> broken_;
  bool inside_ = true;
  bool cut_off_ = false;
};

class GzipSink : public ByteSink {
 public:
  explicit GzipSink(std::unique_ptr<ByteSink> sink) : sink_(std::move(sink)), out_(kBufferBytes) {
    deflateInit2(&z_, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  }
  GzipSink(const GzipSink&) = delete;
  GzipSink& operator=(const GzipSink&) = delete;
  ~GzipSink() override { deflateEnd(&z_); }
  Status write(std::string_view bytes) override { return run(bytes, Z_NO_FLUSH); }
  Status finish() override {
    if (auto s = run({}, Z_FINISH); !s.ok()) return s;
    return sink_->finish();
  }

 private:
  Status run(std::string_view bytes, int flush) {
    z_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    z_.avail_in = static_cast<uInt>(bytes.size());
    do {
      z_.next_out = reinterpret_cast<Bytef*>(out_.data());
      z_.avail_out = static_cast<uInt>(out_.size());
      deflate(&z_, flush);
      if (auto s = sink_->write({out_.data(), out_.size() - z_.avail_out}); !s.ok()) return s;
    } while (z_.avail_out == 0);
    return Ok{};
  }

  std::unique_ptr<ByteSink> sink_;
  std::vector<char> out_;
  z_stream z_{};
};

class ZstdSink : public ByteSink {
 public:
  explicit ZstdSink(std::unique_ptr<ByteSink> sink)
      : sink_(std::move(sink)), out_(kBufferBytes), z_(ZSTD_createCCtx()) {}
  ZstdSink(const ZstdSink&) = delete;
  ZstdSink& operator=(const ZstdSink&) = delete;
  ~ZstdSink() override { ZSTD_freeCCtx(z_); }
  Status write(std::string_view bytes) override { return run(bytes, ZSTD_e_continue); }
  Status finish() override {
    if (auto s = run({}, ZSTD_e_end); !s.ok()) return s;
    return sink_->finish();
  }

 private:
  Status run(std::string_view bytes, ZSTD_EndDirective end) {
    ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{out_.data(), out_.size(), 0};
      size_t left = ZSTD_compressStream2(z_, &out, &in, end);
      if (ZSTD_isError(left)) return io_error(std::string("zstd: ") + ZSTD_getErrorName(left));
      if (auto s = sink_->write({out_.data(), out.pos}); !s.ok()) return s;
      if (end == ZSTD_e_end ? left == 0 : in.pos == in.size) return Ok{};
    }
  }

  std::unique_ptr<ByteSink> sink_;
  std::vector<char> out_;
  ZSTD_CCtx* z_;
};

}  // namespace

Compression detect_compression(std::string_view head) {
  if (head.starts_with("\x1f\x8b")) return Compression::gzip;
  if (head.starts_with("\x28\xb5\x2f\xfd")) return Compression::zstd;
  return Compression::none;
}

Compression compression_of_path(std::string_view path) {
  if (path.ends_with(".gz")) return Compression::gzip;
  if (path.ends_with(".zst")) return Compression::zstd;
  return Compression::none;
}

std::unique_ptr<ByteSource> decompress(Compression kind, std::unique_ptr<ByteSource> source,
                                       std::string head) {
  Feed feed(std::move(source), std::move(head));
  if (kind == Compression::gzip) return std::make_unique<GzipSource>(std::move(feed));
  return std::make_unique<ZstdSource>(std::move(feed));
}

Status compress_frame(Compression kind, std::string_view text, std::string& to) {
  const auto sink = compress(kind, std::make_unique<StringSink>(to));
  if (Status s = sink->write(text); !s.ok()) return s;
  return sink->finish();
}

std::unique_ptr<ByteSink> compress(Compression kind, std::unique_ptr<ByteSink> sink) {
  if (kind == Compression::gzip) return std::make_unique<GzipSink>(std::move(sink));
  if (kind == Compression::zstd) return std::make_unique<ZstdSink>(std::move(sink));
  return sink;
}

}  // namespace assay::internal::formats
