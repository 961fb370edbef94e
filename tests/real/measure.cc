#include "measure.h"

#include <stdlib.h>

#include <filesystem>
#include <iostream>

#include "assay/format.h"
#include "assay/verify.h"
#include "explain/explain.h"

namespace assay::internal {

Outcome Measured::outcome(LevelId level) const {
  const Verdict* v = result.find(level);
  return v == nullptr ? Outcome::unknown : v->outcome;
}

Anomaly Measured::anomaly(LevelId level) const {
  const Verdict* v = result.find(level);
  if (v == nullptr || v->outcome != Outcome::violated) return Anomaly::none;
  const Status verified = verify(result.certificates.at(v->certificate), history);
  EXPECT_TRUE(verified.ok()) << verified.error().to_string();
  const auto explanations = explain(history, result);
  const Explanation* e = find_explanation(explanations, level);
  return e == nullptr ? Anomaly::none : e->anomaly;
}

static Recording temporary_recording() {
  std::string folder = (std::filesystem::temp_directory_path() / "assay-real-XXXXXX").string();
  EXPECT_NE(mkdtemp(folder.data()), nullptr);
  return {new std::string(folder + "/history.jsonl"), [](const std::string* history) {
            if (testing::Test::HasFailure()) {
              std::cerr << "the history is kept in " << *history << '\n';
            } else {
              std::filesystem::remove_all(std::filesystem::path(*history).parent_path());
            }
            delete history;
          }};
}

Measured measure(collect::RunOptions options, std::vector<LevelId> levels) {
  Measured measured;
  measured.recording = temporary_recording();
  options.history = *measured.recording;
  const auto stats = collect::run(options);
  EXPECT_TRUE(stats.ok()) << stats.error().to_string();
  if (stats.ok()) measured.stats = *stats;
  auto read = read_history(options.history);
  EXPECT_TRUE(read.ok()) << read.error().to_string();
  if (read.ok()) measured.history = std::move(read->history);
  CheckOptions check_options;
  check_options.levels = std::move(levels);
  measured.result = check(measured.history, check_options);
  return measured;
}

collect::RunOptions contended(std::vector<std::string> urls, std::string isolation,
                              std::string workload) {
  collect::RunOptions options;
  options.databases = std::move(urls);
  options.isolation = std::move(isolation);
  options.workload = std::move(workload);
  options.workload_options.keys = 6;
  options.sessions = 8;
  options.txns = 200;
  return options;
}

uint64_t clean_txns() {
  const char* wanted = getenv("ASSAY_REAL_TXNS");
  return wanted != nullptr ? strtoull(wanted, nullptr, 10) : 1000;
}

}  // namespace assay::internal
