// How transactions, keys and values are written for people: printable (base/printable.h), and cut
// if they are long, since no value may flood a report.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "assay/history.h"

namespace assay::internal {

// The text in printable form, at most `limit` bytes (a text that is cut ends in "…").
std::string display(std::string_view text, size_t limit = 40);
std::string display(const ValueView& v);

std::string display_txn(const History& h, TxnId t);
std::string display_key(const History& h, KeyId k);
// A key as a word of a sentence: "x", or "key 7" for a number.
std::string key_in_words(const History& h, KeyId k);
// The value of a version. For a long row, a JSON object, the columns in which it differs from other
// rows of its key: {"on_call":0,…}.
std::string display_value(const History& h, VersionId v);
// "x = 5", "key 7 = 5"
std::string display_version(const History& h, VersionId v);
// "s3"; a session with a text name is shown by that name.
std::string display_session(const History& h, SessionId s);
// "1.2 ms"
std::string duration(uint64_t nanoseconds);
// The duration from the earlier to the later time; times may be as far apart as 64 bits allow.
std::string duration_between(int64_t earlier, int64_t later);
// The keys of a range, "a..f"; for the keys of one table, "t:" up to "t;", the table's name.
std::string display_bounds(const History& h, OpId range);
// An operation as the .hist form writes it: "r(x,1)", "w(x,2)".
std::string display_op(const History& h, OpId i);
// A transaction as "{ r(x,0) w(x,1) }": all operations of a short one; of a long one only those in
// `telling` (sorted), with "…" for the others.
std::string display_ops(const History& h, TxnId t, const std::vector<OpId>& telling);

}  // namespace assay::internal
