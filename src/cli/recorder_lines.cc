#include "cli/recorder_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "watch/session_news.h"

namespace assay::internal::cli {

class RecorderLines::Given : public formats::ByteSource {
 public:
  void give(std::string text) {
    text_ = std::move(text);
    read_ = 0;
  }
  Result<size_t> read(char* to, size_t size) override {
    if (would_wait()) return bad_input("expected a line");
    const size_t n = std::min(size, text_.size() - read_);
    std::memcpy(to, text_.data() + read_, n);
    read_ += n;
    return n;
  }
  bool would_wait() const override { return read_ == text_.size(); }

 private:
  std::string text_;
  size_t read_ = 0;
};

RecorderLines::RecorderLines(uint64_t connection)
    : given_(new Given),
      input_(formats::Input::of(std::unique_ptr<formats::ByteSource>(given_),
                                fmt::format("connection {}", connection), nullptr)),
      chunks_(input_, notes_) {}

void RecorderLines::give(std::string lines) { given_->give(std::move(lines)); }

Result<std::shared_ptr<const History>> RecorderLines::next(size_t lines) {
  if (input_.would_wait()) return std::shared_ptr<const History>();
  auto read = piece(lines);
  recorder_ = recorder_ || read.ok();
  return read;
}

Result<std::shared_ptr<const History>> RecorderLines::rest() {
  if (Status s = give_up_before(Interval::kOpen); !s.ok()) return s.error();
  return piece(0);
}

Result<std::shared_ptr<const History>> RecorderLines::piece(size_t lines) {
  auto chunk = chunks_.next(lines);
  notes_.clear();
  if (!chunk.ok()) return chunk.error();
  auto piece = std::make_shared<const History>(std::move(chunk->history));
  if (Status s = note_sessions(*piece); !s.ok()) return s.error();
  return std::shared_ptr<const History>(std::move(piece));
}

Status RecorderLines::note_sessions(const History& piece) {
  for (SessionId s = 0; s < piece.session_count(); ++s)
    open_.insert(HeldValue(piece.session_name(s)));
  for (const Event& event : piece.events()) {
    auto news = watch::session_news(event);
    if (!news.ok()) return news.error();
    if (!*news) continue;
    if ((*news)->ends)
      open_.erase((*news)->session);
    else
      open_.insert(std::move((*news)->session));
  }
  return Ok{};
}

}  // namespace assay::internal::cli
