#include "hunt.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <thread>

namespace hunt {

bool durable() { return std::getenv("HUNT_DURABLE") != nullptr; }

namespace {

struct Operation {
  char what;  // r, w, d, s, z
  int64_t how, key, value;
};
struct Planned {
  bool read_only, commits;
  std::vector<Operation> operations;
};
struct Results {
  int at_once = -1;  // a file to which each line goes, if that is asked for
  std::string lines;
  std::map<std::string, int> counts, errors;
};

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text)
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else if (static_cast<unsigned char>(c) >= ' ')
      out += c;
  return out + '"';
}

std::string list(const Names& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ",") + quoted(name);
  return '[' + out + ']';
}

std::string object(const std::map<std::string, int>& counts, const std::string& more = {}) {
  std::string out;
  for (const auto& [name, count] : counts)
    out += (out.empty() ? "" : ",") + quoted(name) + ':' + std::to_string(count);
  if (!more.empty()) out += (out.empty() ? "" : ",") + more;
  return '{' + out + '}';
}

std::string array(const std::string& kind, int64_t key, const std::string& rest) {
  return "[\"" + kind + "\"," + std::to_string(key) + "," + rest + "]";
}

// Appends what it did as the history says it.
void operate(Txn& txn, const Operation& op, std::string& done) {
  const auto add = [&](const std::string& one) { done += (done.empty() ? "" : ",") + one; };
  const int how = static_cast<int>(op.how);
  if (op.what == 'z') {
    std::this_thread::sleep_for(std::chrono::microseconds(op.how));
  } else if (op.what == 'w') {
    txn.put(how, op.key, op.value);
    add(array("w", op.key, std::to_string(op.value)));
  } else if (op.what == 's') {
    std::string rows;
    for (const auto& [key, value] : txn.range(how, op.key, op.value))
      rows += (rows.empty() ? "[" : ",[") + std::to_string(key) + ',' + std::to_string(value) + ']';
    add(array("range", op.key, std::to_string(op.value) + ",[" + rows + "]"));
  } else {
    const std::optional<Value> seen = txn.get(how, op.key);
    if (seen == kPresent)
      add(array("insert", op.key, "0,false"));
    else
      add(array("r", op.key, seen ? std::to_string(*seen) : "null"));
    if (op.what == 'r' || !seen) return;
    txn.remove(op.key);
    add(array("d", op.key, std::to_string(op.value)));
  }
}

void transact(Store& store, const std::string& session, size_t number, const Planned& planned,
              Results& results) {
  std::string status = "aborted", done;
  std::unique_ptr<Txn> txn;
  const int64_t begin = now();
  int64_t first = 0, asked = 0;
  const auto pair = [](int64_t from, const std::string& to) {
    return '[' + std::to_string(from) + ',' + to + ']';
  };
  const auto tell = [&](const std::string& status_and_end) {
    const std::string line =
        "{\"session\":" + session + ",\"txn\":\"" + session + '-' + std::to_string(number) +
        "\",\"status\":" + status_and_end +
        ",\"begin\":" + pair(begin, std::to_string(first != 0 ? first : now())) + ",\"ops\":[" +
        done + "]}\n";
    if (results.at_once < 0)
      results.lines += line;
    else if (write(results.at_once, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
      std::abort();
  };
  try {
    txn = store.begin(planned.read_only);
    for (const Operation& op : planned.operations) {
      operate(*txn, op, done);
      if (first == 0 && op.what != 'z') first = now();
    }
    if (results.at_once >= 0 && planned.commits) tell("\"pending\"");
    asked = now();
    planned.commits ? txn->commit() : txn->abort();
    if (planned.commits) status = "committed";
  } catch (const Conflict&) {
    if (txn) txn->abort();
  } catch (const std::exception& error) {
    ++results.errors[std::string(error.what()).substr(0, 200)];
    if (asked != 0 && planned.commits) status = "unknown";
    if (txn) txn->abort();
  }
  const int64_t ended = now();
  ++results.counts[status];
  tell("\"" + status + "\",\"end\":" +
       pair(asked != 0 ? asked : ended, status == "unknown" ? "null" : std::to_string(ended)));
}

std::map<std::string, std::vector<Planned>> read_plan(const std::string& path) {
  std::map<std::string, std::vector<Planned>> sessions;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string session, kind, word;
    words >> session >> kind;
    Planned planned{kind == "q", false, {}};
    while (words >> word) {
      if (word.size() == 1) {
        planned.commits = word == "c";
        continue;
      }
      Operation op{word[0], 0, 0, 0};
      std::istringstream numbers(word.substr(2));
      char colon;
      numbers >> op.how >> colon >> op.key >> colon >> op.value;
      planned.operations.push_back(op);
    }
    sessions[session].push_back(std::move(planned));
  }
  return sessions;
}

std::string run_plan(Store& store, const std::string& plan, const std::string& history) {
  const auto sessions = read_plan(plan);
  std::ofstream(history) << "{\"assay\":1}\n";
  std::vector<Results> results(sessions.size());
  for (Results& one : results)
    if (durable()) one.at_once = open(history.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  std::vector<std::thread> threads;
  std::atomic<size_t> arrived{0};
  for (const auto& session : sessions)
    threads.emplace_back([&, session = &session, mine = &results[threads.size()]] {
      const auto& [name, transactions] = *session;
      for (++arrived; arrived < sessions.size();) std::this_thread::yield();
      for (size_t i = 0; i < transactions.size(); ++i)
        transact(store, name, i, transactions[i], *mine);
    });
  for (std::thread& thread : threads) thread.join();
  std::ofstream file(history, std::ios::app);
  std::map<std::string, int> counts, errors;
  for (const Results& one : results) {
    file << one.lines;
    if (one.at_once >= 0) close(one.at_once);
    for (const auto& [name, count] : one.counts) counts[name] += count;
    for (const auto& [name, count] : one.errors) errors[name] += count;
  }
  return object(counts, "\"errors\":" + object(errors));
}

}  // namespace
}  // namespace hunt

int main(int, char** arguments) {
  const std::unique_ptr<hunt::Store> store = hunt::open_store(arguments[1], arguments[2]);
  std::cout << "{\"version\":" << hunt::quoted(store->version)
            << ",\"reads\":" << hunt::list(store->reads)
            << ",\"writes\":" << hunt::list(store->writes)
            << ",\"ranges\":" << hunt::list(store->ranges) << "}\n"
            << std::flush;
  for (std::string plan, history; std::cin >> plan >> history;)
    std::cout << hunt::run_plan(*store, plan, history) << '\n' << std::flush;
}
