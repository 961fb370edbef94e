// A schedule of SQL as people write it down: sessions, their steps, and the orders in which these
// are played.
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

// Why a step that was sent is not told as done yet, as PostgreSQL's isolation tester has it.
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
  std::string name;  // what the file calls it; may be empty
  std::vector<Turn> turns;
  // A step of a session that still waits is sent when it no longer does. Else the session is waited
  // for first, as PostgreSQL's tester does.
  bool queues = false;
};

struct File {
  std::string path;
  std::vector<std::string> setup;  // of the tables, before all else
  std::string teardown;
  std::vector<Session> sessions;
  std::vector<Step> steps;
  // Those that the file states; empty: every interleaving of the sessions.
  std::vector<Permutation> permutations;
};

// An isolation specification of PostgreSQL's, a script whose statements say of which session they
// are, or Markdown with such scripts or with a table that has a column for each session. `path`: of
// messages, and of what is played.
Result<File> parse(std::string_view text, std::string_view path);

// Every interleaving of the sessions, in the order of PostgreSQL's tester, if there are at most
// `most`; else `most` of them, drawn with the seed, none twice.
std::vector<Permutation> interleavings(const File& file, uint64_t most, uint64_t seed);

}  // namespace assay::internal::collect::schedule
