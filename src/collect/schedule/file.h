// A schedule of SQL as people write it: sessions, their steps, and the orders in which these are
// played.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "assay/result.h"

namespace assay::internal::collect::schedule {

struct Step {
  std::string name;
  size_t session = 0;
  std::string sql;  // one statement or several
  int line = 0;
};

// Why a step that was sent is not reported as done yet, as in PostgreSQL's isolation tester.
struct Marker {
  enum class Kind : uint8_t { launched, step, notices };
  Kind kind = Kind::launched;
  size_t step = 0;
  uint64_t notices = 0;
};

struct Turn {
  size_t step = 0;
  std::vector<Marker> markers = {};
};

struct Session {
  std::string name;
  std::string setup = {}, teardown = {};
  std::vector<size_t> steps = {};  // in the order of the file
};

struct Permutation {
  std::string name;  // the file's name for it; may be empty
  std::vector<Turn> turns;
  // Whether a step of a session that still waits is sent when the session no longer does. Otherwise
  // the session is waited for first, as in PostgreSQL's tester.
  bool queues = false;
};

struct File {
  std::string path;
  std::vector<std::string> setup;  // of the tables, before everything else
  std::string teardown;
  std::vector<Session> sessions;
  std::vector<Step> steps;
  // The permutations that the file states; empty: every interleaving of the sessions.
  std::vector<Permutation> permutations;
};

// Parses a specification of PostgreSQL's isolation tester, a script whose statements say which
// session they belong to, or Markdown with such scripts or with a table that has a column for each
// session. `path` is used in messages, and for the name of the schedule.
Result<File> parse(std::string_view text, std::string_view path);

// Every interleaving of the sessions, in the order of PostgreSQL's tester, if there are at most
// `most`; otherwise `most` of them, drawn with the seed, none twice.
std::vector<Permutation> interleavings(const File& file, uint64_t most, uint64_t seed);

}  // namespace assay::internal::collect::schedule
