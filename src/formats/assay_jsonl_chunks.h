// Reads `assay` JSON Lines without end in pieces, each a separate history, with the reader of whole
// files.
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
  // Both must outlive this object.
  JsonlChunks(Input& input, std::vector<ReadNote>& notes);
  ~JsonlChunks();

  struct Chunk {
    History history;   // the transactions and events of these lines
    bool end = false;  // whether no lines follow
  };
  // The next lines, as many as are there, at most `lines`; waits for the first one. Transactions
  // without a name are named after their place in the session. A `pending` line is held back until
  // the line with its outcome comes, or the end.
  Result<Chunk> next(size_t lines);

  // Puts lines that are held back and began before this moment into the next piece, as transactions
  // of unknown outcome.
  Status give_up_before(int64_t begin);

  // To be called between two pieces, before it is known what the next one begins with. `save` saves
  // the lines that were read and are not yet in a piece, and the number of each session's
  // transactions; `load` loads these into a new reader, whose input continues after the lines read.
  void save(StreamWriter& to) const;
  Status load(StreamReader& from);

 private:
  struct Reader;
  std::unique_ptr<Reader> reader_;
};

}  // namespace assay::internal::formats
