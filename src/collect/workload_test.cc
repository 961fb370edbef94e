#include "collect/workload.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "collect/workloads/fences.h"
#include "collect/workloads/tombstones.h"

namespace assay::internal::collect {
namespace {

std::unique_ptr<Workload> make(std::string_view name, const WorkloadOptions& options = {}) {
  auto workload = make_workload(name, options);
  EXPECT_TRUE(workload.ok());
  return std::move(*workload);
}

std::vector<Request> next_transaction(WorkloadSession& session, bool retry = false) {
  std::vector<Request> requests;
  session.start(retry);
  Request request;
  Reply reply;
  const Reply* last = nullptr;
  while (session.next(last, request)) {
    requests.push_back(request);
    last = &reply;
  }
  return requests;
}

// An update by condition overwrites the rows that it found, and nothing else; an increment reads
// first.
TEST(Predicates, UpdatesAndIncrementsFollowTheAnswers) {
  const auto workload = make(
      "predicates",
      {.ops = 1, .read_share = 0, .query_share = 0.5, .update_share = 1, .increment_share = 1});
  const auto session = workload->open(0, 1, 7);
  size_t updates = 0, increments = 0;
  for (int i = 0; i < 100; ++i) {
    session->start(false);
    std::vector<Request> asked;
    Request request;
    Reply reply;
    for (const Reply* last = nullptr; session->next(last, request); last = &reply) {
      reply = {};
      if (request.kind == OpKind::range)
        reply.rows = {{Value::of(3), Value::of(1)}, {Value::of(8), Value::of(2)}};
      asked.push_back(request);
    }
    if (asked[0].kind == OpKind::range) {
      ++updates;
      ASSERT_EQ(asked.size(), 3u);
      EXPECT_EQ(asked[1].key, Value::of(3));
      EXPECT_EQ(asked[2].key, Value::of(8));
      EXPECT_EQ(asked[2].kind, OpKind::write);
    } else {
      ++increments;
      ASSERT_EQ(asked.size(), 2u);
      EXPECT_EQ(asked[0].kind, OpKind::read);
      EXPECT_EQ(asked[1].kind, OpKind::write);
      EXPECT_EQ(asked[1].key, asked[0].key);
    }
  }
  EXPECT_GT(updates, 20u);
  EXPECT_GT(increments, 20u);
}

class EveryWorkload : public testing::TestWithParam<WorkloadInfo> {};

TEST_P(EveryWorkload, UsesOnlyTheKindsItNames) {
  const auto workload = make(GetParam().name);
  const auto session = workload->open(0, 3, 1);
  for (int i = 0; i < 200; ++i)
    for (const Request& r : next_transaction(*session)) {
      const auto kinds = workload->kinds();
      EXPECT_NE(std::find(kinds.begin(), kinds.end(), r.kind), kinds.end());
    }
}

TEST_P(EveryWorkload, ValuesAreUniqueAcrossSessionsAndRetries) {
  const auto workload = make(GetParam().name);
  std::set<int64_t> values;
  for (uint32_t s = 0; s < 3; ++s) {
    const auto session = workload->open(s, 3, 1);
    for (int i = 0; i < 200; ++i)
      for (const Request& r : next_transaction(*session, i % 3 == 1)) {
        EXPECT_TRUE(r.value.is_null() || values.insert(r.value.integer).second);
      }
  }
  EXPECT_GT(values.size(), 100u);
}

TEST_P(EveryWorkload, WhatIgnoresRepliesAsksForTheSameWithoutThem) {
  const auto workload = make(GetParam().name, {.keys = 5});
  const auto told = workload->open(0, 3, 1), untold = workload->open(0, 3, 1);
  if (!told->ignores_replies()) GTEST_SKIP() << "it listens";
  for (int64_t i = 0; i < 200; ++i) {
    told->start(i % 3 == 1);
    untold->start(i % 3 == 1);
    Reply reply;
    reply.value = Value::of(i << 40);
    reply.effect = i % 2 == 0;
    const Reply* last = nullptr;
    for (Request one, other; told->next(last, one); last = &reply) {
      ASSERT_TRUE(untold->next(nullptr, other));
      EXPECT_EQ(one.kind, other.kind);
      EXPECT_EQ(one.key, other.key);
      EXPECT_EQ(one.value, other.value);
    }
    Request more;
    EXPECT_FALSE(untold->next(nullptr, more));
  }
}

TEST_P(EveryWorkload, UsualReadsAreOfDifferentKeysAndAsFewAsAskedFor) {
  const auto workload = make(GetParam().name, {.keys = 10});
  Rng rng(1);
  const auto reads = workload->usual_reads(2, rng);
  ASSERT_EQ(reads.size(), 2u);
  EXPECT_FALSE(reads[0].key.is_null());
  EXPECT_NE(reads[0].key, reads[1].key);
}

TEST_P(EveryWorkload, ARetryIsTheSameOnNewValues) {
  const auto workload = make(GetParam().name);
  const auto session = workload->open(0, 1, 1);
  for (int i = 0; i < 50; ++i) {
    const auto first = next_transaction(*session);
    const auto again = next_transaction(*session, true);
    ASSERT_EQ(first.size(), again.size());
    for (size_t op = 0; op < first.size(); ++op) {
      EXPECT_EQ(first[op].kind, again[op].kind);
      EXPECT_EQ(first[op].key, again[op].key);
    }
  }
}

TEST_P(EveryWorkload, TheSeedDecides) {
  const auto keys = [&](uint32_t session, uint64_t seed) {
    const auto workload = make(GetParam().name);
    std::string result;
    const auto opened = workload->open(session, 2, seed);
    for (int i = 0; i < 10; ++i)
      for (const Request& r : next_transaction(*opened)) result += r.key.view().to_string() + " ";
    return result;
  };
  EXPECT_EQ(keys(0, 1), keys(0, 1));
  EXPECT_NE(keys(0, 1), keys(1, 1));
  EXPECT_NE(keys(0, 1), keys(0, 2));
}

TEST_P(EveryWorkload, FinalReadsAreDifferentKeysOfItsOwnKinds) {
  const auto workload = make(GetParam().name, {.keys = 1000});
  for (const uint64_t limit : {uint64_t{5000}, uint64_t{300}}) {
    Rng rng(1);
    std::set<std::string> keys;
    const auto reads = workload->final_reads(limit, rng);
    for (const Request& r : reads) {
      EXPECT_TRUE(keys.insert(r.key.view().to_string()).second);
      const auto kinds = workload->kinds();
      EXPECT_NE(std::find(kinds.begin(), kinds.end(), r.kind), kinds.end());
    }
    EXPECT_LE(reads.size(), limit);
  }
}

TEST(IntegerKeys, FinalReadsAreAllOrASample) {
  for (const char* name : {"general", "mini", "increment", "write-skew", "long-fork", "bank"}) {
    const auto workload = make(name, {.keys = 1000});
    Rng rng(1);
    EXPECT_EQ(workload->final_reads(5000, rng).size(), 1000u);
    EXPECT_EQ(workload->final_reads(300, rng).size(), 300u);
  }
}

TEST_P(EveryWorkload, OneKeyIsEnough) {
  const auto workload = make(GetParam().name, {.keys = 1});
  const auto session = workload->open(0, 1, 1);
  for (int i = 0; i < 100; ++i) EXPECT_LT(next_transaction(*session).size(), 1000u);
}

TEST_P(EveryWorkload, CellsAreOfItsTables) {
  const auto workload = make(GetParam().name);
  std::set<std::string> cells;
  for (const Table& table : workload->tables())
    for (const std::string& column : table.columns) cells.insert(table.name + ' ' + column);
  if (cells.empty()) GTEST_SKIP() << "no tables";
  const auto session = workload->open(0, 1, 1);
  for (int i = 0; i < 500; ++i)
    for (const Request& r : next_transaction(*session)) {
      const std::string& key = r.key.text;
      ASSERT_EQ(std::count(key.begin(), key.end(), ':'), 2) << key;
      EXPECT_TRUE(
          cells.contains(key.substr(0, key.find(':')) + ' ' + key.substr(key.rfind(':') + 1)))
          << key;
    }
}

INSTANTIATE_TEST_SUITE_P(All, EveryWorkload, testing::ValuesIn(all_workloads()),
                         [](const auto& param) {
                           std::string name(param.param.name);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(General, SharesAndSkewAsAskedFor) {
  const auto session =
      make("general",
           {.ops = 10, .read_share = 0.8, .keys = 100, .distribution = Distribution::hotspot})
          ->open(0, 1, 1);
  int reads = 0, hot = 0;
  for (int i = 0; i < 1000; ++i)
    for (const Request& r : next_transaction(*session)) {
      reads += r.kind == OpKind::read;
      hot += r.key.integer < 20;
    }
  EXPECT_NEAR(reads, 8000, 200);
  EXPECT_NEAR(hot, 8000, 200);
}

TEST(Mini, EveryWriteFollowsAReadOfItsKey) {
  const auto workload = make("mini", {.keys = 10});
  const auto session = workload->open(0, 1, 1);
  std::map<std::string, int> shapes;
  for (int i = 0; i < 5000; ++i) {
    const auto requests = next_transaction(*session);
    std::string shape;
    std::set<int64_t> read;
    int reads = 0;
    for (const Request& r : requests) {
      const bool is_read = r.kind == OpKind::read;
      reads += is_read;
      if (is_read) read.insert(r.key.integer);
      EXPECT_TRUE(is_read || read.contains(r.key.integer));
      shape += is_read ? 'r' : 'w';
      shape += r.key == requests.front().key ? 'x' : 'y';
    }
    ++shapes[shape];
    EXPECT_LE(reads, 2);
    EXPECT_LE(static_cast<int>(requests.size()) - reads, 2);
    EXPECT_LE(read.size(), 2u);
  }
  EXPECT_EQ(shapes.size(), 20u);
}

// Hands out these requests and keeps what it hears.
class Scripted : public WorkloadSession {
 public:
  explicit Scripted(std::vector<Request> requests, std::vector<Reply>& heard)
      : requests_(std::move(requests)), heard_(heard) {}
  void start(bool) override { at_ = 0; }
  bool next(const Reply* last, Request& request) override {
    if (last != nullptr) heard_.push_back(*last);
    if (at_ == requests_.size()) return false;
    request = requests_[at_++];
    return true;
  }

 private:
  std::vector<Request> requests_;
  std::vector<Reply>& heard_;
  size_t at_ = 0;
};

class ScriptedWorkload : public Workload {
 public:
  explicit ScriptedWorkload(std::vector<Request> requests) : requests_(std::move(requests)) {}
  std::unique_ptr<WorkloadSession> open(uint32_t, uint32_t, uint64_t) const override {
    return std::make_unique<Scripted>(requests_, heard);
  }
  std::span<const OpKind> kinds() const override { return kKinds; }
  std::vector<Request> final_reads(uint64_t, Rng&) const override { return {}; }

  mutable std::vector<Reply> heard;

 private:
  static constexpr OpKind kKinds[] = {OpKind::remove, OpKind::insert};
  std::vector<Request> requests_;
};

// What is sent for these requests to a database of one session that starts empty, and what the
// workload hears.
struct WithTombstones {
  std::vector<Request> sent;
  std::vector<Reply> heard;
  std::vector<OpKind> kinds;

  explicit WithTombstones(std::vector<Request> requests) {
    auto scripted = std::make_unique<ScriptedWorkload>(std::move(requests));
    const ScriptedWorkload& script = *scripted;
    const auto workload = with_tombstones(std::move(scripted));
    kinds.assign(workload->kinds().begin(), workload->kinds().end());
    const auto session = workload->open(0, 1, 1);
    session->start(false);
    std::map<int64_t, Value> rows;
    Request request;
    Reply reply;
    for (const Reply* last = nullptr; session->next(last, request); last = &reply) {
      sent.push_back(request);
      reply = {};
      if (request.kind == OpKind::read) {
        reply.value = rows[request.key.integer];
      } else if (request.kind == OpKind::range) {
        for (const auto& [k, v] : rows) reply.rows.emplace_back(Value::of(k), v);
      } else {
        reply.effect = request.kind != OpKind::cas || rows[request.key.integer] == request.expected;
        rows[request.key.integer] = request.value;
      }
    }
    heard = script.heard;
  }
};

// The keys and values that a session sends in its next transaction, aborted ones tried again.
std::vector<Request> next_txn(WorkloadSession& session, bool retry = false) {
  std::vector<Request> sent;
  session.start(retry);
  Request request;
  const Reply reply;
  for (const Reply* last = nullptr; session.next(last, request); last = &reply)
    sent.push_back(request);
  return sent;
}

TEST(Fences, EveryNthTransactionOfASessionReadsAndWritesOneKey) {
  WorkloadOptions options;
  options.fences = 3;
  const auto workload = make_workload("mini", options);
  ASSERT_TRUE(workload.ok());
  std::set<int64_t> written;
  for (uint32_t s = 0; s < 2; ++s) {
    const auto session = (*workload)->open(s, 2, 1);
    for (int i = 0; i < 9; ++i) {
      // One that aborted is tried again as what it was, with another value.
      for (const bool retry : {false, true}) {
        const std::vector<Request> sent = next_txn(*session, retry);
        ASSERT_FALSE(sent.empty());
        const bool is_fence = sent[0].key == Value::of(kFenceKey);
        EXPECT_EQ(is_fence, i % 3 == 0);
        if (!is_fence) continue;
        ASSERT_EQ(sent.size(), 2u);
        EXPECT_EQ(sent[0].kind, OpKind::read);
        EXPECT_EQ(sent[1].kind, OpKind::write);
        EXPECT_EQ(sent[1].key, sent[0].key);
        EXPECT_TRUE(written.insert(sent[1].value.integer).second) << "each value is written once";
      }
    }
  }
  EXPECT_EQ(written.size(), 12u);
}

TEST(Fences, AreOfWorkloadsOverSingleKeys) {
  WorkloadOptions options;
  options.fences = 3;
  for (const WorkloadInfo& info : all_workloads()) {
    WorkloadOptions plain = options;
    plain.fences = 0;
    const auto without = make_workload(info.name, plain);
    ASSERT_TRUE(without.ok());
    const bool of_keys = (*without)->tables().empty() && !(*without)->has_rows();
    EXPECT_EQ(make_workload(info.name, options).ok(), of_keys) << info.name;
  }
}

TEST(Tombstones, ADeletionIsAWriteThatNamesIt) {
  const Value key = Value::of(1);
  const WithTombstones t({{.kind = OpKind::write, .key = key, .value = Value::of(4)},
                          {.kind = OpKind::remove, .key = key, .value = Value::of(7)},
                          {.kind = OpKind::read, .key = key}});
  ASSERT_EQ(t.sent.size(), 3u);
  EXPECT_EQ(t.sent[1].kind, OpKind::write);
  EXPECT_EQ(t.sent[1].value, Value::of(std::string("deleted-7")));
  ASSERT_EQ(t.heard.size(), 3u);
  EXPECT_TRUE(t.heard[2].value.is_null()) << "the workload sees no tombstones";
  EXPECT_EQ(t.kinds,
            (std::vector<OpKind>{OpKind::write, OpKind::read, OpKind::cas, OpKind::insert}));
}

TEST(Tombstones, AnInsertLooksFirst) {
  const Value key = Value::of(1);
  const auto insert = [&](int64_t v) {
    return Request{.kind = OpKind::insert, .key = key, .value = Value::of(v)};
  };
  const WithTombstones t({insert(4),
                          insert(5),
                          {.kind = OpKind::remove, .key = key, .value = Value::of(7)},
                          insert(6)});
  std::vector<OpKind> kinds;
  for (const Request& request : t.sent) kinds.push_back(request.kind);
  EXPECT_EQ(kinds, (std::vector<OpKind>{OpKind::read, OpKind::insert, OpKind::read, OpKind::write,
                                        OpKind::read, OpKind::cas}));
  EXPECT_EQ(t.sent.back().expected, Value::of(std::string("deleted-7")));
  EXPECT_EQ(t.sent.back().value, Value::of(6));
  ASSERT_EQ(t.heard.size(), 4u);
  EXPECT_TRUE(t.heard[0].effect);
  EXPECT_FALSE(t.heard[1].effect) << "it was there";
  EXPECT_TRUE(t.heard[3].effect);
}

}  // namespace
}  // namespace assay::internal::collect
