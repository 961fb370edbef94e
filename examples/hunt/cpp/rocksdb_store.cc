// RocksDB's TransactionDB with a snapshot. Modes: when a transaction's writes reach the memory
// table (committed, prepared, unprepared); with -update reads are GetForUpdate.
#include <rocksdb/utilities/transaction.h>
#include <rocksdb/utilities/transaction_db.h>
#include <rocksdb/version.h>

#include "hunt.h"

namespace {

using namespace rocksdb;
using hunt::Key;
using hunt::Value;

// In the order of the numbers, which are not negative.
std::string bytes_of(int64_t number) {
  std::string bytes(8, '\0');
  for (int i = 7; i >= 0; --i, number >>= 8)
    bytes[static_cast<size_t>(i)] = static_cast<char>(number);
  return bytes;
}
int64_t number_of(const Slice& bytes) {
  uint64_t number = 0;
  for (size_t i = 0; i < 8; ++i) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return static_cast<int64_t>(number);
}

void check(const Status& status) {
  if (status.ok()) return;
  if (status.IsBusy() || status.IsTimedOut() || status.IsTryAgain())
    throw hunt::Conflict(status.ToString());
  throw std::runtime_error(status.ToString());
}

struct RocksTxn : hunt::Txn {
  RocksTxn(Transaction* begun, bool for_update) : txn(begun), update(for_update) {
    read.snapshot = txn->GetSnapshot();
  }

  std::optional<Value> get(int how, Key key) override {
    std::string value;
    if (how == 1 && !update) {
      const std::unique_ptr<Iterator> at(txn->GetIterator(read));
      at->Seek(bytes_of(key));
      if (at->Valid() && number_of(at->key()) == key) return number_of(at->value());
      check(at->status());
      return std::nullopt;
    }
    const Status status = update ? txn->GetForUpdate(read, bytes_of(key), &value)
                                 : txn->Get(read, bytes_of(key), &value);
    if (status.IsNotFound()) return std::nullopt;
    check(status);
    return number_of(value);
  }
  void put(int, Key key, Value value) override { check(txn->Put(bytes_of(key), bytes_of(value))); }
  void remove(Key key) override { check(txn->Delete(bytes_of(key))); }
  hunt::Rows range(int how, Key low, Key high) override {
    hunt::Rows rows;
    const std::unique_ptr<Iterator> at(txn->GetIterator(read));
    if (how == 0)
      for (at->Seek(bytes_of(low)); at->Valid() && number_of(at->key()) <= high; at->Next())
        rows.emplace_back(number_of(at->key()), number_of(at->value()));
    else
      for (at->SeekForPrev(bytes_of(high)); at->Valid() && number_of(at->key()) >= low; at->Prev())
        rows.emplace(rows.begin(), number_of(at->key()), number_of(at->value()));
    check(at->status());
    return rows;
  }
  void commit() override { check(txn->Commit()); }
  void abort() override { txn->Rollback(); }

  std::unique_ptr<Transaction> txn;
  bool update;
  ReadOptions read;
};

struct RocksStore : hunt::Store {
  RocksStore(const std::string& directory, const std::string& mode)
      : update(mode.ends_with("-update")) {
    Options options;
    options.create_if_missing = true;
    TransactionDBOptions how;
    how.transaction_lock_timeout = 50;
    how.write_policy = mode.starts_with("committed")  ? WRITE_COMMITTED
                       : mode.starts_with("prepared") ? WRITE_PREPARED
                                                      : WRITE_UNPREPARED;
    TransactionDB* opened = nullptr;
    check(TransactionDB::Open(options, how, directory, &opened));
    db.reset(opened);
    version = GetRocksVersionAsString();
    reads = update ? hunt::Names{"GetForUpdate"} : hunt::Names{"Get", "iterator"};
    writes = {"Put"};
    if (!update) ranges = {"Next", "Prev"};
  }
  std::unique_ptr<hunt::Txn> begin(bool) override {
    TransactionOptions options;
    options.set_snapshot = true;
    options.deadlock_detect = true;
    WriteOptions how;
    how.sync = hunt::durable();
    return std::make_unique<RocksTxn>(db->BeginTransaction(how, options), update);
  }

  std::unique_ptr<TransactionDB> db;
  bool update;
};

}  // namespace

std::unique_ptr<hunt::Store> hunt::open_store(const std::string& directory,
                                              const std::string& mode) {
  return std::make_unique<RocksStore>(directory, mode);
}
