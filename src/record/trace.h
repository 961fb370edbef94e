// What was seen of an application, line by line, as it happens: what stays when everything else is killed. Each line is an object.
//
//   {"trace":1,"bound":731,"database":{…}}                          the header: numbers below are of transactions before the recording
//   {"table":"accounts","oid":16385,"logged":"public.accounts","key":["id"]}
//   {"row":"accounts","key":["7"],"xmin":729,"is":{…}}              that was there at first
//   {"q":3,"kind":"select","sql":"SELECT …","from":[["accounts",3]]}    a statement, the first time that it is seen
//   {"s":1,"open":…,"user":"ann","program":"shop"}                  a connection
//   {"s":1,"rows":["(16385,731,7)"]}                                versions that the statement to come read
//   {"s":1,"q":3,"t":[sent,answered],"tag":"SELECT 1"}              a statement was answered; "error" if it failed; "p": with
//                                                                   which values, false where one is binary or long
//   {"s":1,"xid":"740","isolation":"serializable"}                  the number of its transaction
//   {"s":1,"idle":…}                                                no transaction is open
//   {"s":1,"close":…,"in_flight":true}                              the connection is lost, while it might have committed
//   {"log":"table public.accounts: UPDATE: …"}                      a line of the server's log
//   {"end":…}                                                       the log was read to here
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "assay/result.h"
#include "base/json.h"
#include "record/rewriting.h"

namespace assay::internal::record {

// From any thread.
class Trace {
 public:
  // Of a file that it does not close.
  explicit Trace(int fd) : fd_(fd) {}

  void write(const Json& line);
  // The number of a statement, which is described when it comes first; from one thread only. `untouched`: why it was sent as it came.
  uint64_t statement(const Plan& plan, size_t part, const std::string& untouched);
  // Hands everything to the operating system.
  Status flush();
  size_t pending() const;

 private:
  int fd_;
  mutable std::mutex mutex_;
  std::string lines_;
  std::map<std::tuple<uint64_t, size_t, std::string>, uint64_t> statements_;
  uint64_t described_ = 0;
};

}  // namespace assay::internal::record
