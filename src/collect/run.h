// The runner: session threads that drive a database with a workload and record every transaction.
// It decides nothing about isolation.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "collect/faults/injector.h"
#include "collect/parts_recorder.h"
#include "collect/recorder.h"
#include "collect/version_log.h"
#include "collect/workload.h"

namespace assay::internal::collect {

struct MixedIsolation {
  std::string name;  // as the database spells it
  LevelId level;     // can be mixed
};
// Parses "serializable,read committed,deferred=session-si": isolations, each the name of a level,
// or with the level that it stands for.
Result<std::vector<MixedIsolation>> parse_mix(std::string_view text);
// The same as text, each isolation with its level.
std::string text_of(const std::vector<MixedIsolation>& mix);

struct RunProgress {
  uint64_t committed = 0;
  uint64_t aborted = 0;
  uint64_t unknown = 0;
  double seconds = 0;
  double fraction = 0;  // of the transactions or the time asked for, whichever is further advanced
};

struct RunOptions {
  // Endpoints of one database; session i uses endpoint i modulo their number. Empty: an embedded
  // SQLite database in a temporary folder that is removed at the end.
  std::vector<std::string> databases;
  std::string isolation;  // as the database spells it; empty: the driver's default
  // If not empty: several isolations, at which sessions take turns; transactions declare the level
  // that each stands for.
  std::vector<MixedIsolation> mix;
  std::string workload = "general";
  std::string sql;  // a file of the user's own SQL, instead of a workload
  WorkloadOptions workload_options;
  uint32_t sessions = 10;
  uint64_t txns = 1000;  // committed transactions per session; 0: no limit
  double seconds = 0;    // stop after this time; 0: no limit
  uint64_t seed = 1;
  std::string history;       // path of the file; empty: a new one in the current folder
  RecorderOptions recorder;  // for that file
  // The history continues in another file when one has this many bytes; 0: never. See
  // PartsRecorder.
  uint64_t part_bytes = 0;
  PartListener* parts = nullptr;  // listens to the files of a history that is read while it grows
  bool endless = false;           // needs no limit of transactions or time: runs until `stop`
  bool record = true;             // false: the same statements, but no file and no final reads
  // How many keys every session reads again at the end, at most; 0: no final reads.
  uint64_t final_read_keys = 1000;
  bool time_operations = false;             // record when each operation was sent and answered
  std::chrono::milliseconds timeout{5000};  // for each statement
  // How long a session that lost its connection tries to reconnect.
  std::chrono::milliseconds reconnect_for{30'000};
  // How long a failed run checks whether another one has prepared the database, which puts its name
  // there last.
  std::chrono::milliseconds look_for_another{1000};
  FaultOptions faults;      // no kinds: no faults
  OpenVersionLog open_log;  // opens what looks inside the database; empty: no log is read
  // Called once, when every session is connected and the history has its header.
  std::function<void(const std::string& history)> recording;
  // Called with messages that the user should see before the run goes on.
  std::function<void(const std::string& message)> warning;
  // Called a few times a second from the calling thread.
  std::function<void(const RunProgress&)> progress;
  // Set from outside (a signal handler) to end the run early; the recorded part stays valid.
  const std::atomic<bool>* stop = nullptr;
};

struct RunStats {
  uint64_t committed = 0;
  uint64_t aborted = 0;
  uint64_t unknown = 0;
  uint64_t operations = 0;           // of committed transactions
  double seconds = 0;                // seconds of driving, without preparation and final reads
  bool stopped_early = false;        // because of `stop`
  bool final_reads_aborted = false;  // repeatedly; then there are no final reads
  double waited_share = 0;  // share of the sessions' time that was spent in statements of more than
                            // a tenth of a second
  std::vector<uint64_t> committed_by_session;
  // The messages about transactions that aborted, or whose outcome is unknown.
  struct Failure {
    TxnStatus status;
    std::string message;
    uint64_t count;
  };
  std::vector<Failure> failures;        // most frequent first; at most ten
  std::optional<VersionLogReport> log;  // from what looked inside the database
  std::string driver;                   // Driver::describe() of the first endpoint
  std::string history;                  // path of the file; empty if there is none
};

// Errors: usage (unknown names, impossible combinations), io (cannot connect, cannot write the
// file, the database failed in a way that no retry helps). After an error the history file holds
// what had been recorded; if that is nothing, there is no file.
Result<RunStats> run(const RunOptions& options);

}  // namespace assay::internal::collect
