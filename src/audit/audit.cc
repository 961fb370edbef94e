#include "assay/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "assay/verify.h"
#include "audit/candidates.h"
#include "audit/in_place.h"
#include "audit/notes.h"
#include "audit/vacuity.h"
#include "audit/verified.h"
#include "base/memory.h"
#include "base/parallel.h"
#include "explain/explain.h"
#include "history/aborted_reads.h"
#include "infer/known_orders.h"
#include "infer/slices.h"
#include "levels/walk.h"

namespace assay {
namespace {

class Auditor {
 public:
  Auditor(Audit& audit, const AuditOptions& options)
      : options_(options), budget_(options.check.budget), audit_(audit) {
    audit_.requested = options.check.levels;
  }

  // `read_from` is read_history or a similar function, with its path.
  template <class ReadFrom>
  void read_and_run(ReadFrom read_from) {
    ReadOptions reading = options_.read;
    reading.budget = &budget_;
    Result<ReadResult> read = read_from(reading);
    if (!read.ok()) {
      audit_.error = std::move(read.error());
      return;
    }
    audit_.format = std::move(read->format);
    for (const ReadNote& n : read->notes)
      audit_.notes.push_back(internal::placed_note(audit_.file, n));
    lap("read");
    audit_.history = std::move(read->history);
    run();
  }

  void run() {
    audit_.history.set_clock_drift(options_.clock_drift);
    audit_.history.define_level(options_.defined_level);
    if (options_.aborted_reads && !count_aborted_reads()) return;
    decide();
    lap("check");
    verify_and_explain();
  }

 private:
  void lap(const char* stage) {
    const auto now = Clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    audit_.stages.push_back({stage, seconds, internal::peak_resident_memory_bytes()});
  }

  bool count_aborted_reads() {
    auto counted = internal::count_aborted_reads(audit_.history);
    if (!counted.ok()) {
      audit_.error = std::move(counted.error());
      return false;
    }
    audit_.history = std::move(counted->history);
    audit_.aborted_reads = counted->companions;
    return true;
  }

  void decide() {
    CheckOptions checking = options_.check;
    checking.budget = budget_;  // minus what reading took
    audit_.result = internal::decide_levels(audit_.history, checking);
    note_ambiguous_entries();
  }

  // Unusable evidence is reported, not ignored.
  void note_ambiguous_entries() {
    for (const auto& [name, count] : audit_.result.counters) {
      if (name != internal::kAmbiguousEntries) continue;
      const bool one = count == 1;
      audit_.notes.push_back(
          fmt::format("{}: {} of the stated orders name{} a value that several transactions wrote, "
                      "and {} ignored",
                      audit_.file, one ? "1 entry" : fmt::format("{} entries", count),
                      one ? "s" : "", one ? "is" : "are"));
    }
  }

  // Explanations need only the decided verdicts, and the verifier nearly always agrees, so both are
  // made at the same time if memory suffices.
  void verify_and_explain() {
    const unsigned threads =
        internal::threads_for(audit_.history.txn_count(), options_.check.threads);
    const bool at_once = threads > 1 && has_room_for_both();
    Budget memory = budget_.memory_only();
    std::vector<internal::Refusals> refusals;
    internal::call_all(
        threads,
        [&] {
          refusals =
              internal::refusals_of(audit_.result.certificates, audit_.history, memory, threads);
          lap("verify");
        },
        [&] {
          audit_.observations = internal::count_observations(audit_.history);
          count_stakes();
        },
        [&] {
          if (at_once) explain();
        });
    bool withheld = internal::withhold_refused(audit_.result, refusals, memory);
    if (!options_.allow_empty)
      withheld |= internal::withhold_vacuous(audit_.result, audit_.history, audit_.observations);
    if (options_.require_contention) withheld |= withhold_uncontended();
    if (!at_once || withheld) explain();
    lap("explain");
  }

  void count_stakes() {
    // What a run could have shown, its first transactions could usually have shown already;
    // examining only those takes almost no time.
    constexpr uint64_t kEnough = 10'000;
    const uint64_t most = options_.require_contention ? UINT64_MAX : kEnough;
    if (budget_.memory_only().has_room(internal::contention_bytes(audit_.history)))
      audit_.stakes =
          internal::stakes_of(audit_.history, internal::find_contention(audit_.history, most));
  }

  // If there was no memory to count the stakes, they count as none.
  bool withhold_uncontended() {
    return internal::withhold_uncontended(audit_.result, audit_.stakes.value_or(Stakes{}));
  }

  bool has_room_for_both() const {
    uint64_t bytes = explanation_bytes();
    for (const Certificate& certificate : audit_.result.certificates)
      bytes += verification_bytes(certificate, audit_.history);
    return budget_.memory_only().has_room(bytes);
  }

  // Per version: its writers (twice), its updaters, the number of its writes that stay, and how
  // often it was there.
  uint64_t explanation_bytes() const { return 32 * uint64_t{audit_.history.version_count()}; }

  void explain() {
    if (budget_.memory_only().has_room(explanation_bytes()))
      audit_.explanations = internal::explain(audit_.history, audit_.result);
  }

  using Clock = std::chrono::steady_clock;
  const AuditOptions& options_;
  Budget budget_;
  Audit& audit_;
  Clock::time_point last_ = Clock::now();
};

}  // namespace

Audit audit(const std::string& path, const AuditOptions& options) {
  Audit audit;
  audit.file = path;
  Auditor(audit, options).read_and_run([&](const ReadOptions& reading) {
    return read_history(path, reading);
  });
  return audit;
}

Audit audit_together(std::span<const std::string> paths, const AuditOptions& options) {
  Audit audit;
  audit.file = paths.empty() ? "nothing" : paths[0];
  if (paths.size() > 1) audit.file += fmt::format(" and {} more", paths.size() - 1);
  Auditor(audit, options).read_and_run([&](const ReadOptions& reading) {
    return read_together(paths, reading);
  });
  return audit;
}

Audit audit(History history, const std::string& name, const AuditOptions& options) {
  Audit audit;
  audit.file = name;
  audit.history = std::move(history);
  internal::audit_in_place(audit, options);
  return audit;
}

void internal::audit_in_place(Audit& audit, const AuditOptions& options) {
  Auditor(audit, options).run();
}

bool Audit::is_known(LevelId level) const {
  return known && std::find(known->begin(), known->end(), level) != known->end();
}

CertificateFile certificates_of(const Audit& audit) {
  CertificateFile file;
  file.history_hash = audit.history.content_hash();
  file.clock_drift = audit.history.clock_drift();
  file.defined_level = audit.history.defined_level();
  file.aborted_reads = audit.aborted_reads.has_value();
  for (uint32_t i = 0; i < audit.result.certificates.size(); ++i) {
    const bool stands = std::ranges::any_of(audit.result.verdicts,
                                            [&](const Verdict& v) { return v.certificate == i; });
    if (stands) file.certificates.push_back(audit.result.certificates[i]);
  }
  return file;
}

}  // namespace assay
