// A chain: the certificate of a history that is decided stretch by stretch, one line for each
// (docs/formats/chain.md).
//
//   {"assay_chain":1,"level":"strict-serializable"}
//   {"segment":1,"previous":"6c1f…","order":[1,3,2]}
//   {"segment":2,"previous":"90ab…","order":[4],"rivals":[[1,3]]}
//   {"end":3,"previous":"17d2…","transactions":4}
//
// The orders, one after the other, are an order of the whole history. Transactions are named by
// their line. Each line has the digest of the one before, so none can be changed, taken out or
// exchanged unnoticed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "assay/level.h"
#include "assay/result.h"
#include "base/byte_stream.h"

namespace assay::internal::certify {

struct Segment {
  // The transactions in the order in which they took effect.
  std::vector<uint64_t> order;
  // `writer`, of this order, could also come right after `last`, the last to write a key that has
  // not been read since.
  struct Rival {
    uint64_t writer, last;
  };
  std::vector<Rival> rivals = {};
  // A transaction of unknown outcome that is in no order: if it took effect, it did so right after
  // `behind`, which is in this order or the last of the orders before (0: before all), and no
  // transaction has touched the keys that it wrote.
  struct Late {
    uint64_t txn, behind;
  };
  std::vector<Late> late = {};
  // Those of `late`, here or in earlier segments, that took effect.
  std::vector<uint64_t> took_effect = {};
  // Transactions that are in no order, and neither is what others saw of them: those that an alarm
  // or an unknown is about.
  std::vector<uint64_t> left_out = {};
  // Transactions that aborted, or are of unknown outcome and are assumed to have had no effect.
  std::vector<uint64_t> without_effect = {};
  // Whether all that came before is forgotten, without a verdict.
  bool gap = false;

  bool empty() const {
    return order.empty() && late.empty() && took_effect.empty() && left_out.empty() &&
           without_effect.empty() && !gap;
  }
};

// Numbers the lines. There may be more lines than a history can number, so a line's number there
// starts again; this continues from the previous line.
class LineNumbers {
 public:
  LineNumbers() = default;
  explicit LineNumbers(uint64_t last) : last_(last) {}
  uint64_t of(uint32_t line);
  uint64_t last() const { return last_; }

 private:
  uint64_t last_ = 0;
};

class ChainWriter {
 public:
  explicit ChainWriter(LevelId level) : level_(level) {}

  bool has_begun() const { return !previous_.empty(); }
  // The lines, including their ends.
  std::string header();
  std::string segment(const Segment& s);
  std::string end(uint64_t transactions);

  // Saves how far the chain has got; to be loaded into a new object of the same level.
  void save(StreamWriter& to) const;
  void load(StreamReader& from);

 private:
  std::string next(bool ends, const Segment& s, uint64_t transactions);
  std::string sealed(const std::string& line);

  LevelId level_;
  uint64_t number_ = 0;
  std::string previous_;  // digest of the previous line
};

struct ChainEnd {
  uint64_t transactions = 0;
};

class ChainReader {
 public:
  // Whether a file with this beginning is a chain.
  static bool is_chain(std::string_view beginning);

  // Reads the first line.
  Result<LevelId> header(std::string_view line);
  // Reads each further line.
  Result<std::variant<Segment, ChainEnd>> next(std::string_view line);

 private:
  uint64_t number_ = 0;
  std::string previous_;
};

}  // namespace assay::internal::certify
