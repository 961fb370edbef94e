// Redis: the append-only file. Commands are executed one after the other and appended as they are
// executed, so the file has the order of everything. It is read in place, so the server must be on
// this machine and its folder readable; a rewrite of the file in the middle of a run discards the
// order.
#ifdef ASSAY_REDIS
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "collect/drivers/redis_wire.h"
#include "collect/run_id.h"
#include "evidence/aof.h"
#include "evidence/log.h"

namespace assay::internal::evidence {
namespace {

namespace fs = std::filesystem;
using collect::RedisAnswer;

constexpr auto kRedisPatience = std::chrono::seconds(30);
constexpr auto kRedisPause = std::chrono::milliseconds(20);
constexpr auto kTimeout = std::chrono::milliseconds(5000);

class RedisLog : public Log {
 public:
  RedisLog(collect::Url url, uint64_t run)
      : url_(std::move(url)), run_(collect::run_id_text(run)) {}

  std::string source() const override { return "Redis's append-only file"; }

  Status start() override {
    if (Status s = find_file(); !s.ok()) return s;
    std::error_code failed;
    begin_ = fs::file_size(file_, failed);
    if (failed || !std::ifstream(file_))
      return io_error("cannot read Redis's append-only file: " + failed.message(), file_.string());
    return Ok{};
  }

  // "4711 of assay.aof.1.incr.aof"
  std::string begins() const override {
    return fmt::format("{} of {}", begin_, file_.filename().string());
  }

  Status resume(const std::string& begins) override {
    if (Status s = find_file(); !s.ok()) return s;
    const size_t of = begins.find(" of ");
    const auto [end, failed] =
        std::from_chars(begins.data(), begins.data() + std::min(of, begins.size()), begin_);
    if (of == std::string::npos || failed != std::errc() || end != begins.data() + of)
      return usage_error(
          "the history does not record where Redis's append-only file was when the run began");
    if (begins.substr(of + 4) != file_.filename().string())
      return usage_error(
          fmt::format("Redis has begun another append-only file, {}; expected {}, that of the run",
                      file_.filename().string(), begins.substr(of + 4)));
    return Ok{};
  }

  Result<LogEnd> read(const std::function<void(LoggedTxn)>& take) override {
    if (Status s = mark_end(); !s.ok()) return s.error();
    std::ifstream in(file_, std::ios::binary);
    in.seekg(static_cast<std::streamoff>(begin_));
    Aof aof(url_.path.empty() ? "0" : url_.path, begin_);
    std::string block(size_t{1} << 20, '\0');
    uint64_t at = begin_;
    const auto deadline = std::chrono::steady_clock::now() + kRedisPatience;
    while (aof.end() != run_ && std::chrono::steady_clock::now() < deadline) {
      in.read(block.data(), static_cast<std::streamsize>(block.size()));
      const auto got = static_cast<size_t>(in.gcount());
      at += got;
      if (!aof.feed({block.data(), got}, take))
        return io_error("not a file that Redis appends to", file_.string());
      if (got > 0) continue;
      if (const Result<fs::path> now = current_file(); now.ok() && *now != file_) break;
      in.clear();
      std::this_thread::sleep_for(kRedisPause);
    }
    LogEnd end{fmt::format("byte {} of {}", at, file_.string()), ""};
    if (aof.end() != run_) end.missing = "the server has meanwhile begun another append-only file";
    return end;
  }

 private:
  // The file that the server appends to.
  Status find_file() {
    if (Status s = connect(); !s.ok()) return s;
    if (setting("appendonly") != "yes")
      return usage_error("Redis keeps no append-only file; the version order needs appendonly yes");
    folder_ = setting("dir");
    if (const std::string inner = setting("appenddirname"); !inner.empty())
      folder_ /= inner;  // since Redis 7
    name_ = setting("appendfilename");
    Result<fs::path> file = current_file();
    if (!file.ok()) return file.error();
    file_ = std::move(*file);
    return Ok{};
  }

  Status connect() {
    auto wire = collect::RedisWire::open(url_, kTimeout);
    if (!wire.ok()) return wire.error();
    wire_ = std::move(*wire);
    if (!url_.password.empty())
      wire_->ask(url_.user.empty() ? std::vector<std::string>{"AUTH", url_.password}
                                   : std::vector<std::string>{"AUTH", url_.user, url_.password});
    if (!url_.path.empty()) wire_->ask({"SELECT", url_.path});
    return Ok{};
  }

  // A last command, after everything that was executed before.
  Status mark_end() {
    const auto deadline = std::chrono::steady_clock::now() + kRedisPatience;
    while (true) {
      Status s = connect();
      if (s.ok()) {
        const RedisAnswer set = wire_->ask({"SET", std::string(Aof::kEnd), run_});
        if (set && set->type == REDIS_REPLY_STATUS) return Ok{};
        s = io_error("Redis: " + (set ? std::string(set->str, set->len) : wire_->error()));
      }
      if (std::chrono::steady_clock::now() > deadline) return s;
      std::this_thread::sleep_for(kRedisPause);
    }
  }

  std::string setting(const std::string& name) {
    const RedisAnswer answer = wire_->ask({"CONFIG", "GET", name});
    if (!answer || answer->type != REDIS_REPLY_ARRAY || answer->elements != 2) return {};
    return {answer->element[1]->str, answer->element[1]->len};
  }

  // The file that commands are appended to. Since Redis 7 the manifest names it: "file
  // assay.aof.2.incr.aof seq 2 type i".
  Result<fs::path> current_file() const {
    const fs::path manifest = folder_ / (name_ + ".manifest");
    std::ifstream in(manifest);
    if (!in) {
      if (fs::exists(folder_ / name_)) return folder_ / name_;
      return io_error("cannot read where Redis appends", manifest.string());
    }
    fs::path last;
    for (std::string line; std::getline(in, line);) {
      std::istringstream words(line);
      std::string word, file, sequence, number, type, kind;
      words >> word >> file >> sequence >> number >> type >> kind;
      if (kind == "i") last = folder_ / file;
    }
    if (last.empty()) return io_error("names no file that Redis appends to", manifest.string());
    return last;
  }

  collect::Url url_;
  std::string run_;
  std::unique_ptr<collect::RedisWire> wire_;
  fs::path folder_;
  std::string name_;
  fs::path file_;
  uint64_t begin_ = 0;
};

}  // namespace

Result<std::unique_ptr<Log>> open_redis_log(const collect::VersionLogOptions& options) {
  Result<collect::Url> url = collect::Url::parse(options.urls.front());
  if (!url.ok()) return url.error();
  return std::unique_ptr<Log>(std::make_unique<RedisLog>(std::move(*url), options.run));
}

}  // namespace assay::internal::evidence
#endif
