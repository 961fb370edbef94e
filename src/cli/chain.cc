#include "cli/chain.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "assay/format.h"
#include "certify/chain.h"
#include "certify/chain_verifier.h"
#include "cli/console.h"
#include "explain/names.h"
#include "formats/assay_jsonl_chunks.h"
#include "formats/input.h"
#include "report/summary.h"

namespace assay::internal::cli {
namespace {

constexpr size_t kLinesAtOnce = 4096;

class ChainCheck {
 public:
  ChainCheck(formats::Input& chain, formats::Input& history)
      : chain_(chain), history_(history), chunks_(history, notes_) {}

  // If a file cannot be read, the error is that of the file; any other error is a refusal.
  Status run() {
    formats::Input::Line line;
    const auto first = chain_.next_line(line);
    if (!first.ok()) return first.error();
    const Result<LevelId> level = reader_.header(line.text);
    if (!level.ok()) return in_chain(level.error());
    level_ = *level;
    Result<certify::ChainVerifier> verifier = certify::ChainVerifier::of(level_);
    if (!verifier.ok()) return verifier.error();
    verifier_.emplace(std::move(*verifier));
    while (true) {
      const auto more = chain_.next_line(line);
      if (!more.ok()) return more.error();
      if (!*more && segments_ == 0)
        return in_chain(bad_input("expected another segment, or the end of the chain"));
      if (!*more) return Ok{};  // the chain may go on
      auto item = reader_.next(line.text);
      if (!item.ok()) return in_chain(item.error());
      if (const auto* end = std::get_if<certify::ChainEnd>(&*item)) {
        const auto behind = chain_.next_line(line);
        if (!behind.ok()) return behind.error();
        if (*behind) return in_chain(bad_input("expected nothing after the end of the chain"));
        return finish(*end);
      }
      if (Status s = accept(std::get<certify::Segment>(*item)); !s.ok()) return s;
    }
  }

  // Whether the chain is whole; if not, it says nothing about the whole history.
  bool is_whole() const { return has_end_ && verifier_->left_out() == 0 && verifier_->gaps() == 0; }

  std::string sentence() const {
    const std::string what =
        fmt::format("{}: {} in {}", level_info(level_).name,
                    counted(has_end_ ? transactions_ : named_, "transaction", "transactions"),
                    counted(segments_, "segment", "segments"));
    if (is_whole()) return fmt::format("verified  satisfied {}\n", what);
    return fmt::format("verified  unknown   {}; {} left out, {}{}\n", what,
                       counted(verifier_->left_out(), "transaction", "transactions"),
                       counted(verifier_->gaps(), "gap", "gaps"),
                       has_end_ ? "" : ", and the chain has no end yet");
  }

 private:
  Error in_chain(Error e) const {
    e.line = chain_.line();
    return chain_.located(e);
  }

  Status accept(const certify::Segment& segment) {
    ++segments_;
    named_ += segment.order.size() + segment.took_effect.size() + segment.left_out.size() +
              segment.without_effect.size();
    for (const auto* lines : {&segment.order, &segment.left_out, &segment.without_effect})
      for (const uint64_t line : *lines)
        if (Status s = read_up_to(line); !s.ok()) return s;
    for (const certify::Segment::Late& late : segment.late)
      if (Status s = read_up_to(late.txn); !s.ok()) return s;
    return verifier_->accept(segment);
  }

  // Reads the history up to a line. A line without its outcome is held back until the end, or until
  // it is asked for.
  Status read_up_to(uint64_t line) {
    while (!verifier_->holds(line) && !ended_)
      if (Status s = read_more(); !s.ok()) return s;
    return Ok{};
  }

  Status read_more() {
    auto chunk = chunks_.next(kLinesAtOnce);
    if (!chunk.ok()) return history_.located(chunk.error());
    ended_ = chunk->end;
    transactions_ += chunk->history.txn_count();
    return verifier_->read(std::make_shared<const History>(std::move(chunk->history)));
  }

  Status finish(const certify::ChainEnd& end) {
    has_end_ = true;
    while (!ended_)
      if (Status s = read_more(); !s.ok()) return s;
    return verifier_->end(end);
  }

  formats::Input& chain_;
  formats::Input& history_;
  std::vector<ReadNote> notes_;
  formats::JsonlChunks chunks_;
  certify::ChainReader reader_;
  LevelId level_ = LevelId::strict_serializable;
  std::optional<certify::ChainVerifier> verifier_;
  bool ended_ = false;
  bool has_end_ = false;
  uint64_t transactions_ = 0, segments_ = 0;
  uint64_t named_ = 0;  // according to the segments
};

}  // namespace

bool is_chain(const std::string& path) {
  if (path == "-") return false;
  auto input = formats::Input::open(path, nullptr);
  return input.ok() && input->fill(64).ok() && certify::ChainReader::is_chain(input->window());
}

Exit verify_chain(const std::string& path, const std::vector<std::string>& histories) {
  if (histories.size() != 1)
    return fail(usage_error("a chain certifies one history in one file; expected that file"));
  auto chain = formats::Input::open(path, nullptr);
  if (!chain.ok()) return fail(chain.error());
  auto history = formats::Input::open(histories[0], nullptr);
  if (!history.ok()) return fail(history.error());
  ChainCheck check(*chain, *history);
  const Status s = check.run();
  if (!s.ok() && !s.error().file.empty()) return fail(s.error());
  const std::string out =
      s.ok() ? check.sentence() : fmt::format("REFUSED   {}\n", display(s.error().message, 300));
  if (Status printed = print(out); !printed.ok()) return fail(printed.error());
  if (!s.ok()) return Exit::violated;
  return check.is_whole() ? Exit::satisfied : Exit::unknown;
}

}  // namespace assay::internal::cli
