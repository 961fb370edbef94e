// Runs plans of transactions against a store in this process, a thread for each session, and writes
// histories of assay. `harness DIRECTORY MODE`, then a line `PLAN HISTORY` of standard input for
// each plan (dev/hunt.d/plans.py).
//
// Where HUNT_DURABLE is set, what is committed must survive kill -9, and each line of the history
// is written at once: what is to be committed before the commit, as pending.
//
// A store's file includes this and defines open_store; hunt.cc runs the plans.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace hunt {

using Key = int64_t;
using Value = int64_t;
using Names = std::vector<std::string>;
using Rows = std::vector<std::pair<Key, Value>>;

// The store refused, and nothing of the transaction remains. Any other exception is counted as an
// error: the transaction is aborted, or of unknown outcome if it was committing.
struct Conflict : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr Value kPresent = INT64_MIN;  // where a way to read tells only that the key is there

struct Txn {
  virtual ~Txn() = default;
  virtual std::optional<Value> get(int how, Key key) = 0;
  virtual void put(int how, Key key, Value value) = 0;
  virtual void remove(Key key) = 0;
  virtual Rows range(int how, Key low, Key high) = 0;  // in order, both ends included
  virtual void commit() = 0;
  virtual void abort() = 0;  // also after a refusal
};

struct Store {
  std::string version;
  Names reads, writes, ranges;  // the ways to read a key, to write one, to read a range
  virtual ~Store() = default;
  virtual std::unique_ptr<Txn> begin(bool read_only) = 0;
};

std::unique_ptr<Store> open_store(const std::string& directory, const std::string& mode);

// Whether HUNT_DURABLE is set.
bool durable();

}  // namespace hunt
