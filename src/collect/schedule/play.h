// A schedule of SQL, played on a database, permutation by permutation, and the observations in
// each.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "collect/driver.h"
#include "collect/schedule/file.h"
#include "collect/schedule/observing.h"

namespace assay::internal::collect::schedule {

struct Options {
  std::vector<std::string> databases;  // URLs of endpoints of one database
  std::string isolation;
  std::chrono::milliseconds timeout{2000};  // for each statement
  uint64_t seed = 1;
};

// One statement, as it was sent and answered.
struct Statement {
  size_t session = 0;
  size_t step = SIZE_MAX;  // of the file; SIZE_MAX: of a session's setup or teardown
  std::string asked;       // as in the file
  std::string sql;         // as it was sent
  Spoken answer;
  Sight sight;
  Interval time;
  uint64_t place = 0;  // its place among the answers of all sessions
};

// The report about a step and its time, as in PostgreSQL's tester.
struct Told {
  enum class What : uint8_t { done, waiting, completed, result };
  What what = What::done;
  size_t step = SIZE_MAX;
  std::vector<size_t> statements = {};  // statements whose answers came with it
  Spoken result = {};                   // of a setup, which belongs to no step
};

struct Performance {
  std::string permutation = {};  // its name
  std::vector<Statement> statements = {};
  std::vector<Told> told = {};
  std::vector<Version> first_rows = {};
  std::vector<Table> tables = {};
  // Indexed by table and condition: the rows, and whether the database says that they satisfy it.
  std::vector<std::pair<Query, std::vector<std::pair<std::string, bool>>>> conditions = {};
  bool lost = false;  // whether a connection was lost
  // Whether changes were found by comparing rows; if so, `last_rows` is what was there when all had
  // ended.
  bool compared = false;
  bool changes_newest = false;  // and whether a change found the newest version of a row
  std::vector<Version> last_rows = {};
};

// The database's messages about the transactions, or statements outside of one, that it refused.
std::vector<std::string> refusals(const Performance& played);
// Says which steps waited, and which ended with an error: "w2 waited, c2: 40001".
std::string outcome(const File& file, const Performance& played);

class Stage {
 public:
  // Connects; the sessions are used for all permutations.
  static Result<std::unique_ptr<Stage>> open(const File& file, const Options& options);
  virtual ~Stage() = default;

  virtual Result<Performance> play(const Permutation& permutation) = 0;
  virtual const Driver& driver() const = 0;
};

}  // namespace assay::internal::collect::schedule
