#include "cli/kept_watch.h"

#include <algorithm>
#include <utility>

namespace assay::internal::cli {
namespace {

using namespace std::chrono_literals;

// The minimum time between saved states; and saving takes at most one part in this many of it.
constexpr auto kBetweenStates = 1s;
constexpr int kPartOfTime = 50;

}  // namespace

KeptWatch::KeptWatch(std::string history, std::string state, std::string certificate,
                     const watch::WatchOptions& options)
    : history_(std::move(history)), history_part_(history_), options_(options) {
  if (!state.empty()) state_.emplace(std::move(state));
  if (certificate.empty()) return;
  chain_part_.emplace(certificate);
  file_.emplace(std::move(certificate));
}

Status KeptWatch::open() {
  if (state_) {
    auto before = state_->read();
    if (!before.ok()) return before.error();
    before_ = std::move(*before);
  }
  if (before_ && !of_pipe() && before_->history.digest.empty()) {
    return bad_input("it was saved for standard input, which cannot be read again; expected -")
        .in(state_->path());
  }
  if (before_ && !of_pipe())
    if (Status s = history_part_.check(before_->history); !s.ok()) return s;
  if (!file_) return Ok{};
  if (before_)
    if (Status s = chain_part_->check(before_->chain); !s.ok()) return s;
  if (Status s = file_->open(before_ ? before_->chain.offset : 0); !s.ok()) return s;
  chain_ = std::make_unique<watch::VerifiedChain>(options_.level, &*file_);
  return Ok{};
}

watch::WatchParts KeptWatch::parts(watch::Watcher& watcher, formats::JsonlChunks* chunks) const {
  return {options_, watcher, of_pipe() ? nullptr : chunks, chain_.get()};
}

Status KeptWatch::load(watch::Watcher& watcher, formats::JsonlChunks& chunks) {
  if (Status s = load_watch(before_->saved, parts(watcher, &chunks)); !s.ok()) {
    return Error(s.error()).in(state_->path());
  }
  for (const watch::Omission& one : before_->left_out) watcher.note_reported(one);
  before_->saved = {};
  return Ok{};
}

Status KeptWatch::save(const Running& running, bool at_once) {
  if (!state_ || !changed_) return Ok{};
  const auto now = Steady::now();
  const auto pause = std::max<Steady::duration>(kBetweenStates, kPartOfTime * took_);
  if (!at_once && now - saved_ < pause) return Ok{};
  if (Status s = write_state(running); !s.ok()) return s;
  saved_ = Steady::now();
  took_ = saved_ - now;
  changed_ = false;
  return Ok{};
}

Status KeptWatch::write_state(const Running& running) {
  StateFile::State state;
  Result<std::string> saved = save_watch(parts(running.watcher, running.chunks));
  if (!saved.ok()) return saved.error();
  state.saved = std::move(*saved);
  if (!of_pipe()) {
    auto place = history_part_.up_to(running.input->offset(), running.input->line());
    if (!place.ok()) return place.error();
    state.history = std::move(*place);
  }
  if (file_) {
    auto place = chain_part_->up_to(file_->size(), 0);
    if (!place.ok()) return place.error();
    state.chain = std::move(*place);
  }
  return state_->write(state);
}

Status KeptWatch::left_out(const watch::Omission& one) {
  return state_ ? state_->add(one) : Status(Ok{});
}

void KeptWatch::read(const std::shared_ptr<const History>& piece) {
  changed_ = true;
  if (chain_) chain_->read(piece);
}

void KeptWatch::sealed(const certify::Segment& segment) {
  if (chain_) chain_->sealed(segment);
}

// A decision that assumes no further lines would be wrong if a file grew, so the saved state of a
// file is left as it was.
Status KeptWatch::end(watch::Watcher& watcher) {
  changed_ = true;
  if (of_pipe())
    if (Status s = save({watcher, nullptr, nullptr}, true); !s.ok()) return s;
  return chain_ ? chain_->end() : Status(Ok{});
}

}  // namespace assay::internal::cli
