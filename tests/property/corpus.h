// The histories of tests/corpus and tests/boundary with the verdicts their comments state.
//
//   # verdicts: read-committed=+ causal=-     satisfied, violated
//   # anomaly: long-fork                      the name the source gives it
//   # boundary: causal read-atomic            violates the first, satisfies the second, and no
//                                             smaller history does
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "assay/anomaly.h"
#include "assay/certificate.h"
#include "assay/history.h"
#include "assay/level.h"

namespace assay::internal {

struct CorpusFile {
  std::string path;
  std::string name;       // file name without the ending
  std::string directory;  // last part of its folder
  std::vector<std::pair<LevelId, Outcome>> verdicts;
  std::optional<Anomaly> anomaly;
  std::optional<std::pair<LevelId, LevelId>> boundary;
  std::vector<std::string> mistakes;  // in the comments
};

// For messages of failed tests.
void PrintTo(const CorpusFile& file, std::ostream* out);

// Every .hist file below tests/<folder>, sorted by path.
std::vector<CorpusFile> corpus_files(const std::string& folder);

// The history in the file. A test failure and an empty history if it cannot be read.
History read_corpus_file(const CorpusFile& file);

// Its name as the name of a test.
std::string test_name(const CorpusFile& file);

}  // namespace assay::internal
