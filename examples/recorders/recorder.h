// Records what an application's transactions did and saw, for `assay check`. Copy it into the
// application; C++17.
//
//   Recorder recorder("history.jsonl", 0);          // the value that every key has at the
//                                                   beginning
//   auto session = recorder.session("worker 1");    // one for each thread or connection
//
//   auto txn = session.begin();                     // before the first statement is sent
//   txn.read("x", value); txn.write("x", 7);        // after each statement has answered
//   txn.committing();                               // before COMMIT is sent
//   txn.committed();                                // it was acknowledged
//   txn.aborted(); txn.unknown();                   // or: the database says it had no effect;
//                                                   nobody knows
//
//   session.end();                                  // nothing more of it: whoever watches the file
//                                                   need not wait
//
// Values may repeat, as balances do; where each is written to a key once only, a value that is read
// always tells who wrote it. A line with the transaction is on its way to the disk before COMMIT,
// and another with the outcome after it: whatever crashes, the file is true. Times are nanoseconds
// of the machine's monotonic clock; docs/formats/assay.md has every field.
//
// No call on a transaction throws: one with what cannot be recorded, such as bytes that are no
// UTF-8, is recorded as of unknown outcome, with the reason. A file that cannot be written any more
// is told by close().
#pragma once

#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

// A key or a value: an integer, a string, or null, which is what is read of a row that is not
// there; true is 1, 1.5 is "1.5".
class RecordedValue {
 public:
  RecordedValue(std::nullptr_t) : json_("null") {}
  template <class T, std::enable_if_t<std::is_integral_v<T>, int> = 0>
  RecordedValue(T v) : json_(std::to_string(v)) {
    if (std::is_unsigned_v<T> && static_cast<uint64_t>(v) > INT64_MAX) json_ = "\"" + json_ + "\"";
  }
  RecordedValue(double v) {
    char text[400];  // the shortest that reads as the same number
    *std::to_chars(text, text + sizeof text - 1, v, std::chars_format::fixed).ptr = 0;
    const bool whole = std::trunc(v) == v && std::fabs(v) < 9.2e18;
    json_ = whole ? std::to_string(static_cast<int64_t>(v)) : "\"" + std::string(text) + "\"";
  }
  RecordedValue(const char* v) : RecordedValue(std::string(v)) {}
  RecordedValue(const std::string& v)
      : json_("\""), fault_(is_text(v) ? "" : "bytes that are no UTF-8 cannot be recorded") {
    for (const char c : v) {
      char code[8] = {c, 0};
      if (c == '"' || c == '\\') std::snprintf(code, sizeof code, "\\%c", c);
      if (static_cast<unsigned char>(c) < ' ') std::snprintf(code, sizeof code, "\\u%04x", c);
      json_ += code;
    }
    json_ += '"';
  }
  const std::string& json() const { return json_; }
  const char* fault() const { return fault_; }  // empty if there is none

 private:
  static bool is_text(const std::string& v) {
    for (size_t i = 0; i < v.size();) {
      const auto at = [&](size_t k) {
        return static_cast<unsigned char>(i + k < v.size() ? v[i + k] : 0);
      };
      const unsigned char c = at(0);
      const size_t size = c < 0x80   ? 1
                          : c < 0xC2 ? 0
                          : c < 0xE0 ? 2
                          : c < 0xF0 ? 3
                          : c < 0xF5 ? 4
                                     : 0;
      const bool bad = (c == 0xE0 && at(1) < 0xA0) || (c == 0xED && at(1) > 0x9F) ||
                       (c == 0xF0 && at(1) < 0x90) || (c == 0xF4 && at(1) > 0x8F);
      if (size == 0 || bad) return false;
      for (size_t k = 1; k < size; ++k)
        if ((at(k) & 0xC0) != 0x80) return false;
      i += size;
    }
    return true;
  }

  std::string json_;
  const char* fault_ = "";
};

class Recorder {
 public:
  class Txn {
   public:
    void read(const RecordedValue& key, const RecordedValue& value) { op("r", key, value); }
    void write(const RecordedValue& key, const RecordedValue& value) { op("w", key, value); }
    void remove(const RecordedValue& key) {  // the third element names this deletion
      op("d", key, "deleted " + name_ + "." + std::to_string(ops_.size()));
    }
    void append(const RecordedValue& key, const RecordedValue& element) {
      op("append", key, element);
    }
    void read_list(const RecordedValue& key, const std::vector<RecordedValue>& elements) {
      std::string list;
      const char* fault = "";
      for (const RecordedValue& e : elements) {
        list += (list.empty() ? "" : ",") + e.json();
        if (*e.fault() != 0) fault = e.fault();
      }
      op("r", key, "[" + list + "]", fault);
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
    void op(const char* kind, const RecordedValue& key, const RecordedValue& value) {
      op(kind, key, value.json(), value.fault());
    }
    void op(const char* kind, const RecordedValue& key, const std::string& value,
            const char* fault) {
      if (began_ == "null") began_ = now();  // the first statement has answered
      if (*key.fault() != 0) fault = key.fault();
      if (key.json() == "null") fault = "null is no key";
      if (*fault != 0) {
        fault_ = std::string(kind) + ": " + fault;
        return;
      }
      ops_ += (ops_.empty() ? "[\"" : ",[\"") + std::string(kind) + "\"," + key.json() + "," +
              value + "]";
    }
    void end(std::string status) {
      if (status == "committed" && !fault_.empty()) status = "unknown";  // more than is recorded
      if (ends_.empty()) ends_ = now();
      if (status != "unknown") ended_ = now();
      write_line(status);
    }
    void write_line(const std::string& status) {
      recorder_->line(
          "{\"session\":" + RecordedValue(session_).json() + ",\"txn\":" +
          RecordedValue(name_).json() + ",\"status\":\"" + status + "\",\"begin\":[" + begins_ +
          "," + began_ + "]" + (ends_.empty() ? "" : ",\"end\":[" + ends_ + "," + ended_ + "]") +
          (fault_.empty() ? ""
                          : ",\"meta\":{\"not_recorded\":" + RecordedValue(fault_).json() + "}") +
          ",\"ops\":[" + ops_ + "]}");
    }

    Recorder* recorder_;
    std::string session_, name_, begins_, began_ = "null", ends_, ended_ = "null", ops_, fault_;
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
  // At the end; what is not closed tells nothing.
  void close() {
    const std::lock_guard<std::mutex> lock(mutex_);
    file_.close();
    if (!file_) throw std::runtime_error("cannot write the history");
  }

 private:
  void line(const std::string& text) {
    const std::lock_guard<std::mutex> lock(mutex_);
    file_ << text << "\n"
          << std::flush;  // nothing once it failed: a line without its end is the last
  }

  std::ofstream file_;
  std::mutex mutex_;
};
