// The smallest store: a map. Mode locked: one transaction at a time. Mode broken: each operation
// under the lock, not the transaction, so that others read what is not committed.
#include <map>
#include <mutex>

#include "hunt.h"

namespace {

using hunt::Key;
using hunt::Value;

struct Memory : hunt::Store {
  explicit Memory(bool lock) : locked(lock) {
    version = "1";
    reads = {"find"};
    writes = {"assign"};
    ranges = {"lower_bound"};
  }
  std::unique_ptr<hunt::Txn> begin(bool read_only) override;

  const bool locked;
  std::mutex transaction, operation;
  std::map<Key, Value> values;
};

struct MemoryTxn : hunt::Txn {
  explicit MemoryTxn(Memory& memory) : store(memory), lock(store.transaction, std::defer_lock) {
    if (store.locked) lock.lock();
  }
  std::optional<Value> get(int, Key key) override {
    const std::lock_guard guard(store.operation);
    const auto found = store.values.find(key);
    return found == store.values.end() ? std::nullopt : std::optional(found->second);
  }
  void put(int, Key key, Value value) override {
    remember(key);
    const std::lock_guard guard(store.operation);
    store.values[key] = value;
  }
  void remove(Key key) override {
    remember(key);
    const std::lock_guard guard(store.operation);
    store.values.erase(key);
  }
  hunt::Rows range(int, Key low, Key high) override {
    const std::lock_guard guard(store.operation);
    return {store.values.lower_bound(low), store.values.upper_bound(high)};
  }
  void commit() override { before.clear(); }
  void abort() override {
    const std::lock_guard guard(store.operation);
    for (const auto& [key, value] : before)
      if (value)
        store.values[key] = *value;
      else
        store.values.erase(key);
    before.clear();
  }
  void remember(Key key) { before.try_emplace(key, get(0, key)); }

  Memory& store;
  std::unique_lock<std::mutex> lock;  // until it is destroyed
  std::map<Key, std::optional<Value>> before;
};

std::unique_ptr<hunt::Txn> Memory::begin(bool) { return std::make_unique<MemoryTxn>(*this); }

}  // namespace

std::unique_ptr<hunt::Store> hunt::open_store(const std::string&, const std::string& mode) {
  return std::make_unique<Memory>(mode == "locked");
}
