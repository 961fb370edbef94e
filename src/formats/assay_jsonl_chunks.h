// `assay` JSON Lines that do not end: read in pieces, each a separate history, by the reader of
// whole files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "assay/format.h"
#include "assay/history.h"
#include "assay/result.h"
#include "base/byte_stream.h"
#include "formats/input.h"

namespace assay::internal::formats {

class JsonlChunks {
 public:
  // Both must outlive this.
  JsonlChunks(Input& input, std::vector<ReadNote>& notes);
  ~JsonlChunks();

  struct Chunk {
    History history;   // the transactions and events of these lines
    bool end = false;  // no lines follow
  };
  // The next lines, as many as are there, at most `lines`; waits for the first one. Transactions
  // without a name get that of their place in the session. A `pending` line is held back until the
  // line with its outcome comes, or the end.
  Result<Chunk> next(size_t lines);

  // Lines held back that began before this moment are in the next piece, as transactions of unknown
  // outcome.
  Status give_up_before(int64_t begin);

  // Between two pieces, before it is known what the next one begins with: saves the lines that were
  // read and are not in a piece, and the number of each session's transactions; loads into a new
  // reader of an input that goes on after the lines read.
  void save(StreamWriter& to) const;
  Status load(StreamReader& from);

 private:
  struct Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace assay::internal::formats
