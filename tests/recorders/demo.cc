// Sessions on SQLite, recorded: demo DATABASE HISTORY
#include <sqlite3.h>

#include <random>
#include <thread>

#include "recorder.h"

namespace {

// Zero, or SQLite's error.
int run(sqlite3* db, const std::string& sql, int64_t* value = nullptr) {
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr);
  while (code == SQLITE_OK || code == SQLITE_ROW) {
    code = sqlite3_step(statement);
    if (code == SQLITE_ROW && value != nullptr) *value = sqlite3_column_int64(statement, 0);
  }
  sqlite3_finalize(statement);
  return code == SQLITE_DONE ? SQLITE_OK : code;
}

void work(Recorder& recorder, const char* database, int number) {
  auto session = recorder.session("s" + std::to_string(number));
  std::mt19937 rng(static_cast<unsigned>(number));
  sqlite3* db = nullptr;
  sqlite3_open(database, &db);
  sqlite3_busy_timeout(db, 50);
  for (int i = 0; i < 60; ++i) {
    const int a = static_cast<int>(rng() % 5), b = (a + 1 + static_cast<int>(rng() % 4)) % 5;
    auto txn = session.begin();
    bool done = run(db, "BEGIN IMMEDIATE") == SQLITE_OK;
    for (const int k : {a, b}) {
      const std::string key = "x" + std::to_string(k);
      int64_t value = 0;
      done = done && run(db, "SELECT v FROM kv WHERE k = '" + key + "'", &value) == SQLITE_OK;
      if (done) txn.read(key, value);
    }
    const int value = 1000 * number + i + 1;
    const std::string key = "x" + std::to_string(b);
    done = done && run(db, "UPDATE kv SET v = " + std::to_string(value) + " WHERE k = '" + key +
                               "'") == SQLITE_OK;
    if (done) {
      txn.write(key, value);
      txn.committing();
      done = run(db, "COMMIT") == SQLITE_OK;
    }
    if (!done) run(db, "ROLLBACK");  // busy: SQLite says so before anything is done
    done ? txn.committed() : txn.aborted();
  }
  session.end();
  sqlite3_close(db);
}

}  // namespace

int main(int, char** argv) {
  Recorder recorder(argv[2], 0);
  sqlite3* db = nullptr;
  sqlite3_open(argv[1], &db);
  run(db, "PRAGMA journal_mode = WAL");
  run(db, "CREATE TABLE kv (k PRIMARY KEY, v)");
  for (int k = 0; k < 5; ++k) run(db, "INSERT INTO kv VALUES ('x" + std::to_string(k) + "', 0)");
  sqlite3_close(db);
  std::vector<std::thread> threads;
  for (int n = 0; n < 4; ++n) threads.emplace_back(work, std::ref(recorder), argv[1], n);
  for (std::thread& t : threads) t.join();
  // What is no integer and no string: told as one, or the transaction as of unknown outcome.
  auto odd = recorder.session("odd");
  const std::vector<RecordedValue> told{true, "1.5", 1.5, 2.0, "1180591620717411303424"};
  const std::vector<RecordedValue> not_told{"\xff", 1};
  for (const auto& values : {told, not_told}) {
    auto txn = odd.begin();
    for (size_t key = 0; key < values.size(); ++key) txn.write(key, values[key]);
    txn.committing();
    txn.committed();
  }
  odd.end();
  recorder.close();
}
