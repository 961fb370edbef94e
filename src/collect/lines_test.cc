#include "collect/lines.h"

#include <gtest/gtest.h>

#include "assay/format.h"
#include "collect/sink.h"

namespace assay::internal::collect {
namespace {

Step step(OpKind kind, Value key, Value value = {}) {
  Step s;
  s.request.kind = kind;
  s.request.key = std::move(key);
  (kind == OpKind::read ? s.reply.value : s.request.value) = std::move(value);
  return s;
}

// One operation of every kind.
TxnRecord every_kind() {
  TxnRecord record;
  record.session = 3;
  record.number = 17;
  record.begin = {1000, 1100};
  record.end = Interval::point(2300);
  record.steps.push_back(step(OpKind::read, Value::of("x"), Value::of(1)));
  record.steps.push_back(step(OpKind::write, Value::of("x"), Value::of(-2)));
  record.steps.push_back(step(OpKind::remove, Value::of(7), Value::of("tomb-9")));
  record.steps.push_back(step(OpKind::append, Value::of("l"), Value::of(5)));
  record.steps.push_back(step(OpKind::read_list, Value::of("l")));
  record.steps.back().reply.list = {Value::of(1), Value::of(5)};
  record.steps.push_back(step(OpKind::range, Value::of("a")));
  record.steps.back().request.high = Value::of("f");
  record.steps.back().reply.rows = {{Value::of("b"), Value::of(4)}, {Value::of("c"), Value::of(7)}};
  record.steps.push_back(step(OpKind::cas, Value::of("z"), Value::of(5)));
  record.steps.back().request.expected = Value::of(4);
  record.steps.push_back(step(OpKind::insert, Value::of("z"), Value::of(1)));
  record.steps.back().reply.effect = false;
  return record;
}

TEST(Lines, WritesEveryKindAsTheFormatSays) {
  std::string line;
  append_record_line(line, every_kind());
  EXPECT_EQ(line,
            R"({"session":3,"txn":"3-17","status":"committed","begin":[1000,1100],"end":2300,)"
            R"("ops":[["r","x",1],["w","x",-2],["d",7,"tomb-9"],["append","l",5],["r","l",[1,5]],)"
            R"(["range","a","f",[["b",4],["c",7]]],["cas","z",4,5,true],["insert","z",1,false]]})"
            "\n");
}

TEST(Lines, TimesOfOperationsWhereTheyAreRecorded) {
  TxnRecord record;
  record.steps.push_back(step(OpKind::read, Value::of("x"), Value::of(1)));
  record.steps.push_back(step(OpKind::write, Value::of("x"), Value::of(2)));
  record.steps[0].time = {10, 12};
  record.steps[1].time = Interval::from(14);  // no answer
  record.sql = {{"S", 10, "update"}, {"T", 14, ""}};
  std::string line;
  append_record_line(line, record);
  EXPECT_NE(
      line.find(R"("ops":[["r","x",1],["w","x",2]],"op_times":[[10,12],[14,null]],"meta":)"
                R"({"sql":[{"text":"S","sent":10,"locks":"update"},{"text":"T","sent":14}]}})"),
      std::string::npos)
      << line;
}

TEST(Lines, ARemovalThatFoundNothingIsAReadOfNothing) {
  TxnRecord record;
  record.steps.push_back(step(OpKind::remove, Value::of(7), Value::of(12)));
  record.steps.back().reply.effect = false;
  std::string line;
  append_record_line(line, record);
  EXPECT_NE(line.find(R"("ops":[["r",7,null]])"), std::string::npos) << line;
}

TEST(Lines, StatusAndMissingTimes) {
  TxnRecord record;
  std::string lines;
  append_record_line(lines, record);
  record.status = TxnStatus::aborted;
  append_record_line(lines, record);
  record.status = TxnStatus::unknown;
  append_record_line(lines, record);
  record.pending = true;
  append_record_line(lines, record);
  EXPECT_EQ(lines,
            "{\"session\":0,\"txn\":\"0-0\",\"status\":\"committed\",\"ops\":[]}\n"
            "{\"session\":0,\"txn\":\"0-0\",\"status\":\"aborted\",\"ops\":[]}\n"
            "{\"session\":0,\"txn\":\"0-0\",\"status\":\"unknown\",\"ops\":[]}\n"
            "{\"session\":0,\"txn\":\"0-0\",\"status\":\"pending\",\"ops\":[]}\n");
}

TEST(Lines, EscapesKeysAndValues) {
  TxnRecord record;
  record.steps.push_back(step(OpKind::write, Value::of("a\"b\\\n"), Value::of("\x01\xC3\xA9")));
  std::string line;
  append_record_line(line, record);
  const auto read = read_history_text(line, "test");
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  const History& h = read->history;
  EXPECT_EQ(h.key(h.op(0).key).text, "a\"b\\\n");
  EXPECT_EQ(h.version_value(h.op(0).version).text, "\x01\xC3\xA9");
}

TEST(Lines, ReadBackAsTheHistoryThatTheBuilderMakes) {
  const TxnRecord record = every_kind();
  std::string lines;
  append_header_line(lines, R"({"tool":"test"})");
  append_record_line(lines, record);
  append_event_line(lines, R"({"event":"fault","at":1500,"what":"kill"})");
  HistorySink sink;
  ASSERT_TRUE(sink.header(R"({"tool":"test"})").ok());
  ASSERT_TRUE(sink.transaction(record).ok());
  const auto built = sink.take();
  const auto read = read_history_text(lines, "test");
  ASSERT_TRUE(built.ok()) << built.error().to_string();
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  EXPECT_EQ(read->history.content_hash(), built->content_hash());
  EXPECT_EQ(read->history.name(0), built->name(0));
  EXPECT_EQ(read->history.meta(), built->meta());
  EXPECT_EQ(read->history.events().size(), 1u);
}

}  // namespace
}  // namespace assay::internal::collect
