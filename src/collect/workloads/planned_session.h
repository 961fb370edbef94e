// Sessions that draw each transaction when it starts, and sessions that continue planning with
// every answer. A retry draws the same random numbers again, so it uses the same keys; values are
// new.
#pragma once

#include <deque>
#include <string>

#include "collect/workload.h"

namespace assay::internal::collect {

class PlannedSession : public WorkloadSession {
 public:
  PlannedSession(Rng rng, WrittenValues values) : rng_(rng), before_(rng), values_(values) {}

  void start(bool retry) override {
    if (retry)
      rng_ = before_;
    else
      before_ = rng_;
    requests_.clear();
    plan();
  }

  bool next(const Reply*, Request& request) override {
    if (requests_.empty()) return false;
    request = std::move(requests_.front());
    requests_.pop_front();
    return true;
  }
  bool ignores_replies() const override { return true; }

 protected:
  // Puts the requests of a transaction, or the first of them.
  virtual void plan() = 0;

  void put(Request request) { requests_.push_back(std::move(request)); }
  void read(Value key) { put({.kind = OpKind::read, .key = std::move(key)}); }
  void write(Value key, Value value) {
    put({.kind = OpKind::write, .key = std::move(key), .value = std::move(value)});
  }
  void write(Value key) { write(std::move(key), values_.take()); }
  // Reads and overwrites a key.
  void update(const Value& key) {
    read(key);
    write(key);
  }

  Rng& rng() { return rng_; }
  Value take_value() { return values_.take(); }
  Value take_tombstone() { return values_.take_unique(); }

  // A value that contains a number of the transaction's own, and is as unique as others.
  Value stamped(int64_t number) { return Value::of((number << 40) | values_.take().integer); }
  static int64_t number_of(const Value& value, int64_t initial) {
    return value.is_null() ? initial : value.integer >> 40;
  }

 private:
  Rng rng_, before_;
  WrittenValues values_;
  std::deque<Request> requests_;
};

class AnsweredSession : public PlannedSession {
 public:
  using PlannedSession::PlannedSession;

  bool next(const Reply* last, Request& request) override {
    if (last != nullptr) answered(asked_, *last);
    if (!PlannedSession::next(nullptr, request)) return false;
    asked_ = request;
    return true;
  }
  bool ignores_replies() const override { return false; }

 protected:
  // May put more requests.
  virtual void answered(const Request&, const Reply&) = 0;

 private:
  Request asked_;
};

inline Value integer_key(uint64_t key) { return Value::of(static_cast<int64_t>(key)); }

// The key of a cell: table, row, column.
inline Value cell(std::string_view table, const std::string& row, std::string_view column) {
  return Value::of(std::string(table) + ':' + row + ':' + std::string(column));
}
inline Value cell(std::string_view table, uint64_t row, std::string_view column) {
  return cell(table, std::to_string(row), column);
}

}  // namespace assay::internal::collect
