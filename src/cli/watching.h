// Watches a growing history for a user at the screen: for `watch`, and `run --watch`.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "assay/audit.h"
#include "assay/budget.h"
#include "assay/history.h"
#include "cli/announcer.h"
#include "cli/exit_code.h"
#include "cli/kept_watch.h"
#include "cli/line_server.h"
#include "cli/recorder_lines.h"
#include "formats/input.h"
#include "watch/watcher.h"

namespace assay::internal::cli {

class Watching {
 public:
  Watching(const watch::WatchOptions& options, const WatchOutput& output);

  // `f` is called with each piece of the history before it is watched.
  void on_piece(std::function<void(const std::shared_ptr<const History>&)> f) {
    on_piece_ = std::move(f);
  }
  void on_alarm(std::function<void(const Audit&)> f) { announcer_.on_alarm(std::move(f)); }
  // Saves the state in `kept`, which must outlive this. Not available by timestamps.
  void keep(KeptWatch& kept);

  // Makes an input that would wait for more end once every session said that it reports nothing
  // more.
  void end_with_sessions() { end_with_sessions_ = true; }
  // Watches the input. Returns false if watching is over before the input is: because of an
  // interrupt, or is_enough().
  Result<bool> read(formats::Input& input);
  // Watches what recorders send until it is interrupted or is_enough(). Not available with keep(),
  // or by timestamps.
  Status listen(LineServer& server);
  // Watches a piece that comes from elsewhere, and decides what can be decided.
  Status add(const std::shared_ptr<const History>& piece);
  // Called when no input follows.
  Status finish();
  // True after an alarm if that is to be the last, or if output cannot be written.
  bool is_enough() const;
  // Reports how it ended.
  Exit end();

 private:
  Status begin(formats::Input& input, formats::JsonlChunks& chunks);
  Result<bool> stop(const formats::Input& input, formats::JsonlChunks& chunks);
  Status save(const formats::Input& input, formats::JsonlChunks& chunks, bool at_once);
  Status wait(const formats::Input& input, formats::JsonlChunks& chunks);
  struct Recorders;
  Status hear(LineServer& server, Recorders& recorders, LineServer::Arrival arrival);
  Status take_lines(Recorders& recorders, RecorderLines& from);
  Status take_rest(RecorderLines& from);
  void note_loss(const RecorderLines& from, uint64_t connection, const std::string& why);
  bool sessions_have_ended() const;
  Status take(const std::shared_ptr<const History>& piece);
  Status decide();
  Status tell(bool last);
  std::string sentence(const watch::Progress& p) const;
  void label(const History& piece);

  using Steady = std::chrono::steady_clock;

  watch::WatchOptions options_;
  WatchOutput output_;
  Announcer announcer_;
  std::unique_ptr<watch::Watch> watch_;
  watch::Watcher* watcher_ = nullptr;  // the same watcher, if it can be saved and certified
  std::function<void(const std::shared_ptr<const History>&)> on_piece_;
  KeptWatch* kept_ = nullptr;
  std::string labels_;  // labels of the metrics
  bool end_with_sessions_ = false;
  Steady::time_point decided_ = Steady::now();
  Steady::time_point told_ = Steady::now();
  Steady::time_point line_ = Steady::now();
};

// Whether the error is that of an interrupted budget, which a reader was given.
inline bool interrupted(const Error& e) { return e.kind == ErrorKind::budget; }

}  // namespace assay::internal::cli
