// Which transactions a snapshot of PostgreSQL shows, as txid_current_snapshot() returns it:
//
//   740:745:741,743     all below 740 have ended; none from 745 on had; 741 and 743 had not
//
// It shows those that had ended and committed. Source: PostgreSQL's manual, 9.27
// (transaction ID and snapshot information).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace assay::internal::evidence {

struct PostgresqlSnapshot {
  uint64_t least = 0, end = 0;    // the least that had not ended, and the first not yet assigned
  std::vector<uint64_t> running;  // ascending

  // Whether the transaction, which has committed, was visible.
  bool shows(uint64_t xid) const;
};

// Nothing if the text is not of that form.
std::optional<PostgresqlSnapshot> postgresql_snapshot(std::string_view text);

// The log has the lower 32 bits of a transaction's number, a snapshot all 64: the number that ends
// in these bits and is nearest to `near`. Nothing if the text is not a 32-bit number, or is so far
// away that this may be a different one.
std::optional<uint64_t> whole_xid(std::string_view logged, uint64_t near);

}  // namespace assay::internal::evidence
