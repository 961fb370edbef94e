// The trace of an application, line by line, as it happens: it stays when everything else is
// killed. Each line is an object.
//
//   {"trace":1,"at":1,"bound":731,"database":{…}}                   the header: numbers below are
//                                                                   of transactions before the
//                                                                   recording
//   {"table":"accounts","oid":16385,"logged":"public.accounts","key":["id"]}
//   {"row":"accounts","key":["7"],"xmin":729,"is":{…}}              that was there at first
//   {"q":3,"kind":"select","sql":"SELECT …","from":[["accounts",3]]}    a statement, the first time
//                                                                       that it is seen
//   {"s":1,"open":…,"user":"ann","program":"shop"}                  a connection
//   {"s":1,"rows":["(16385,731,7)"]}                                versions that the statement to
//                                                                   come read
//   {"s":1,"q":3,"t":[sent,answered],"tag":"SELECT 1"}              a statement was answered;
//                                                                   "error" if it failed; "p": with
//                                                                   which values, false where one
//                                                                   is binary or long; "cursor":
//                                                                   its rows come in several such
//                                                                   lines, "whole": that is all of
//                                                                   them; "outlives": its
//                                                                   transaction
//   {"s":1,"closed":2}                                              a cursor that outlived it
//   {"s":1,"xid":"740","isolation":"serializable"}                  the number of its transaction
//   {"s":1,"idle":…}                                                no transaction is open
//   {"s":1,"close":…,"in_flight":true}                              the connection is lost, while
//                                                                   it might have committed
//   {"log":"table public.accounts: UPDATE: …"}                      a line of the server's log
//   {"xid":740,"below":" 741 743"}                                  numbers of savepoints of a
//                                                                   transaction of the log
//   {"marked":true}                                                 up to here it has whatever was
//                                                                   committed at the moment that
//                                                                   follows
//   {"logged":5,"seen":6,"snapshot":"731:740:733"}                  it has whatever was committed
//                                                                   at 5; of that, everybody sees
//                                                                   at 6 what this snapshot does
//   {"answered":7,"since":5}                                        whatever clients sent before 7
//                                                                   and commits something is
//                                                                   answered, and before 5 all
//   {"forgotten":3}                                                 statements up to this come no
//                                                                   more under these numbers
//   {"lost":"public.accounts"}                                      a change of it is too long
//   {"end":…}                                                       the log was read to here
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "assay/history.h"
#include "assay/result.h"
#include "base/json.h"
#include "record/rewriting.h"
#include "record/veil.h"

namespace assay::internal::record {

// From any thread.
class Trace {
 public:
  // Of a file that it does not close. With a veil, it has no values.
  explicit Trace(int fd, std::optional<Veil> veil = {}) : fd_(fd), veil_(veil) {}

  Json veiled(const Json& values) const { return veil_ ? veil_->values(values) : values; }
  std::string veiled_log(std::string_view line) const {
    return veil_ ? veil_->logged(line) : std::string(line);
  }
  std::string veiled_versions(const Part& part, const std::string& told) const {
    return veil_ ? veil_->versions(part, told) : told;
  }

  void write(const Json& line) { write_text(line.dump()); }
  void write_text(std::string_view line);
  // The number of a statement, which is described when it comes first; from one thread only.
  // `untouched`: why it was sent as it came.
  uint64_t statement(const Plan& plan, size_t part, const std::string& untouched);
  // Hands everything to the operating system.
  Status flush();
  size_t pending() const;
  // Lines so far, without those about answers.
  uint64_t written() const { return written_; }

  // Everything committed at a moment is in the trace; the relay then reports when everything sent
  // by then is answered.
  void logged(int64_t at) { logged_ = at; }
  int64_t answer_awaited() const { return logged_; }
  void answered(int64_t before, int64_t since);

 private:
  void append(std::string_view line);

  int fd_;
  std::optional<Veil> veil_;
  mutable std::mutex mutex_;
  std::string lines_;
  std::map<std::tuple<uint64_t, size_t, std::string>, uint64_t> statements_;
  uint64_t described_ = 0;
  std::atomic<uint64_t> written_ = 0;
  std::atomic<int64_t> logged_ = Interval::kUnknown;
};

}  // namespace assay::internal::record
