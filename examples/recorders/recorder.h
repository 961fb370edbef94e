// Records what an application's transactions did and saw, for `assay check`. Copy it into the application; C++17.
//
//   Recorder recorder("history.jsonl", 0);          // the value that every key has at the beginning
//   auto session = recorder.session("worker 1");    // one for each thread or connection
//
//   auto txn = session.begin();                     // before the first statement is sent
//   txn.read("x", value); txn.write("x", 7);        // after each statement has answered
//   txn.committing();                               // before COMMIT is sent
//   txn.committed();                                // it was acknowledged
//   txn.aborted(); txn.unknown();                   // or: the database says it had no effect; nobody knows
//
//   session.end();                                  // nothing more of it: whoever watches the file need not wait
//
// Write each value to a key once only, so that a value that is read tells who wrote it. A line with the transaction is on
// its way to the disk before COMMIT, and another with the outcome after it: whatever crashes, the file is true. Times are
// nanoseconds of the machine's monotonic clock; docs/formats/assay.md has every field.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

// A key or a value: an integer, a string, or null, which is what is read of a row that is not there.
class RecordedValue {
 public:
  RecordedValue(std::nullptr_t) : json_("null") {}
  RecordedValue(int v) : json_(std::to_string(v)) {}
  RecordedValue(int64_t v) : json_(std::to_string(v)) {}
  RecordedValue(const char* v) : RecordedValue(std::string(v)) {}
  RecordedValue(const std::string& v) : json_("\"") {
    for (const char c : v) {
      char code[8] = {c, 0};
      if (c == '"' || c == '\\') std::snprintf(code, sizeof code, "\\%c", c);
      if (static_cast<unsigned char>(c) < ' ') std::snprintf(code, sizeof code, "\\u%04x", c);
      json_ += code;
    }
    json_ += '"';
  }
  const std::string& json() const { return json_; }

 private:
  std::string json_;
};

class Recorder {
 public:
  class Txn {
   public:
    void read(const RecordedValue& key, const RecordedValue& value) { op("r", key, value.json()); }
    void write(const RecordedValue& key, const RecordedValue& value) { op("w", key, value.json()); }
    void remove(const RecordedValue& key) {  // the third element names this deletion
      op("d", key, RecordedValue("deleted " + name_ + "." + std::to_string(ops_.size())).json());
    }
    void append(const RecordedValue& key, const RecordedValue& element) {
      op("append", key, element.json());
    }
    void read_list(const RecordedValue& key, const std::vector<RecordedValue>& elements) {
      std::string list;
      for (const RecordedValue& e : elements) list += (list.empty() ? "" : ",") + e.json();
      op("r", key, "[" + list + "]");
    }

    void committing() {
      ends_ = now();
      write_line("pending");
    }
    void committed() { end("committed"); }
    void aborted() { end("aborted"); }
    void unknown() { end("unknown"); }

   private:
    friend class Recorder;
    Txn(Recorder& recorder, std::string session, std::string name)
        : recorder_(&recorder),
          session_(std::move(session)),
          name_(std::move(name)),
          begins_(now()) {}
    static std::string now() {
      const auto since = std::chrono::steady_clock::now().time_since_epoch();
      return std::to_string(std::chrono::nanoseconds(since).count());
    }
    void op(const char* kind, const RecordedValue& key, const std::string& value) {
      if (ops_.empty()) began_ = now();  // the first statement has answered
      ops_ += (ops_.empty() ? "[\"" : ",[\"") + std::string(kind) + "\"," + key.json() + "," +
              value + "]";
    }
    void end(const char* status) {
      if (ends_.empty()) ends_ = now();
      if (status != std::string("unknown")) ended_ = now();
      write_line(status);
    }
    void write_line(const std::string& status) {
      recorder_->line("{\"session\":" + RecordedValue(session_).json() +
                      ",\"txn\":" + RecordedValue(name_).json() + ",\"status\":\"" + status +
                      "\",\"begin\":[" + begins_ + "," + began_ + "]" +
                      (ends_.empty() ? "" : ",\"end\":[" + ends_ + "," + ended_ + "]") +
                      ",\"ops\":[" + ops_ + "]}");
    }

    Recorder* recorder_;
    std::string session_, name_, begins_, began_ = "null", ends_, ended_ = "null", ops_;
  };

  // Transactions of one session follow one another.
  class Session {
   public:
    Txn begin() { return Txn(*recorder_, name_, name_ + "-" + std::to_string(++count_)); }
    void end() {
      recorder_->line("{\"event\":\"end\",\"session\":" + RecordedValue(name_).json() + "}");
    }

   private:
    friend class Recorder;
    Session(Recorder& recorder, std::string name) : recorder_(&recorder), name_(std::move(name)) {}
    Recorder* recorder_;
    std::string name_;
    int count_ = 0;
  };

  explicit Recorder(const std::string& path, const RecordedValue& initial = nullptr) {
    if (std::ifstream(path)) throw std::runtime_error(path + " exists");
    file_.open(path);
    line("{\"assay\":1,\"initial\":" + initial.json() + "}");
  }
  // What this key holds before anything is written, if not `initial`.
  void holds(const RecordedValue& key, const RecordedValue& value) {
    line("{\"key\":" + key.json() + ",\"initial\":" + value.json() + "}");
  }
  Session session(const std::string& name) { return Session(*this, name); }

 private:
  void line(const std::string& text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!(file_ << text << "\n" << std::flush))
      throw std::runtime_error("cannot write the history");
  }

  std::ofstream file_;
  std::mutex mutex_;
};
