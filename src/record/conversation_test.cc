#include "record/conversation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "record/test_catalogue.h"

namespace assay::internal::record {
namespace {

using namespace std::string_literals;

std::string message(char type, std::string_view body) {
  std::string all;
  put_message(all, type, body);
  return all;
}
std::string texts(const std::vector<std::string>& all) {
  std::string body;
  for (const std::string& text : all) put_text(body, text);
  return body;
}
std::string query(const std::string& sql) { return message('Q', texts({sql})); }
std::string prepare(const std::string& name, const std::string& sql) {
  return message('P', texts({name, sql}) + "\0\0"s);
}
std::string bound(const std::string& portal, const std::string& name, const std::string& results) {
  return message('B', texts({portal, name}) + "\0\0\0\0"s + results);
}
std::string execute(const std::string& portal) {
  return message('E', texts({portal}) + "\0\0\0\0"s);
}
std::string synced() { return message('S', ""); }
std::string ready(char status) { return message('Z', std::string(1, status)); }
std::string tag(const std::string& text) { return message('C', texts({text})); }
std::string fields(const std::vector<std::string>& names) {
  std::string body;
  put_int16(body, static_cast<uint16_t>(names.size()));
  for (const std::string& name : names) body += name + "\0"s + std::string(18, 'x');
  return message('T', body);
}
std::string data_row(const std::vector<std::string>& cells) {
  std::string body;
  put_int16(body, static_cast<uint16_t>(cells.size()));
  for (const std::string& cell : cells) {
    put_int32(body, static_cast<uint32_t>(cell.size()));
    body += cell;
  }
  return message('D', body);
}
std::string failed(const std::string& code, const std::string& severity = "ERROR") {
  return message('E', "S" + severity + "\0V"s + severity + "\0C"s + code + "\0\0"s);
}

class Conversations : public testing::Test {
 protected:
  void SetUp() override {
    if (!Rewriter::is_possible()) GTEST_SKIP() << "built without libpg_query (libpg-query-dev)";
    ASSERT_EQ(pipe(pipe_), 0);
    trace_ = std::make_unique<Trace>(pipe_[1]);
    rewriter_ = std::make_unique<Rewriter>(test_catalogue(), std::set<uint32_t>{1, 2});
    around_.trace = trace_.get();
    around_.database = "shop";
    around_.now = [] { return 7; };
    around_.rewriter = [this](const std::string&) -> Rewriter& { return *rewriter_; };
    around_.definitions_changed = [this] { ++redefined_; };
    talk_ = std::make_unique<Conversation>(1, around_);
    std::string start("\0\3\0\0"s + texts({"user", "ann", "database", "shop"}) + "\0"s);
    std::string whole;
    put_int32(whole, static_cast<uint32_t>(start.size() + 4));
    EXPECT_EQ(from_client(whole + start), whole + start);
    EXPECT_EQ(from_server(message('R', "\0\0\0\0"s) + ready('I')),
              message('R', "\0\0\0\0"s) + ready('I'));
  }
  void TearDown() override {
    if (pipe_[0] < 0) return;
    close(pipe_[0]);
    close(pipe_[1]);
  }

  // What is sent on.
  std::string from_client(const std::string& bytes) {
    EXPECT_TRUE(talk_->from_client(bytes));
    return std::exchange(talk_->to_server, {});
  }
  std::string from_server(const std::string& bytes) {
    EXPECT_TRUE(talk_->from_server(bytes));
    return std::exchange(talk_->to_client, {});
  }
  // What the trace has since the last time, without descriptions.
  std::string told() {
    EXPECT_TRUE(trace_->flush().ok());
    std::string all(100'000, '\0'), out;
    const ssize_t n = read(pipe_[0], all.data(), all.size());
    all.resize(n < 0 ? 0 : static_cast<size_t>(n));
    for (size_t at = 0; at < all.size();) {
      const size_t end = all.find('\n', at);
      const std::string line = all.substr(at, end - at);
      if (line.starts_with("{\"s\"")) out += line + "\n";
      at = end + 1;
    }
    return out;
  }

  int pipe_[2] = {-1, -1};
  std::unique_ptr<Trace> trace_;
  std::unique_ptr<Rewriter> rewriter_;
  Surroundings around_;
  std::unique_ptr<Conversation> talk_;
  int redefined_ = 0;
};

const std::string kRow =
    "ROW(\"t\".tableoid, \"t\".xmin, \"t\".\"id\")::pg_catalog.text AS assay_rows ";
const std::string kSelect = "SELECT v FROM t";
const std::string kSent = "SELECT v, " + kRow + " FROM t";
const std::string kAsked =
    "SELECT pg_catalog.pg_current_xact_id_if_assigned()::pg_catalog.text, "
    "pg_catalog.current_setting('transaction_isolation')";

std::string ask_for_tls() { return "\0\0\0\x08\x04\xd2\x16\x2f"s; }

TEST(Startup, TlsIsForThoseWhoAskOnce) {
  Surroundings around{.encrypts = true};
  Conversation talk(1, around);
  EXPECT_TRUE(talk.from_client(ask_for_tls()));
  EXPECT_EQ(talk.to_client, "S");
  EXPECT_TRUE(talk.encrypts());
  EXPECT_FALSE(talk.encrypts());
  EXPECT_FALSE(talk.from_client(ask_for_tls())) << "within TLS";
}

TEST(Startup, WhatCameWithTheQuestionIsNotTakenAsEncrypted) {
  Surroundings around{.encrypts = true};
  Conversation talk(1, around);
  EXPECT_FALSE(talk.from_client(ask_for_tls() + "\0\0\0\x09"s));
}

TEST(Startup, EncryptionThatIsNotToBeHadIsRefused) {
  Surroundings around{.encrypts = true};
  Conversation gss(1, around);
  EXPECT_TRUE(gss.from_client("\0\0\0\x08\x04\xd2\x16\x30"s));
  around.encrypts = false;
  Conversation talk(2, around);
  EXPECT_TRUE(talk.from_client(ask_for_tls()));
  EXPECT_EQ(gss.to_client + talk.to_client, "NN");
  EXPECT_FALSE(talk.encrypts());
}

TEST_F(Conversations, AQueryTellsWhatItRead) {
  EXPECT_EQ(from_client(query(kSelect)), query(kSent));
  EXPECT_EQ(from_server(fields({"v", "assay_rows"}) + data_row({"5", "(1,90,1)"}) +
                        data_row({"6", "(1,90,2)"}) + tag("SELECT 2") + ready('I')),
            fields({"v"}) + data_row({"5"}) + data_row({"6"}) + tag("SELECT 2") + ready('I'));
  EXPECT_NE(
      told().find(R"x({"s":1,"q":1,"t":[7,7],"tag":"SELECT 2","rows":["(1,90,1)","(1,90,2)"]})x"),
      std::string::npos);
  EXPECT_TRUE(talk_->answered());
}

TEST_F(Conversations, APreparedStatementTellsToo) {
  EXPECT_EQ(from_client(prepare("a", kSelect)), prepare("a", kSent));
  EXPECT_EQ(from_client(bound("", "a", "\0\2\0\1\0\1"s)), bound("", "a", "\0\3\0\1\0\1\0\0"s));
  EXPECT_EQ(from_client(message('D', "P\0"s) + execute("") + synced()),
            message('D', "P\0"s) + execute("") + synced());
  EXPECT_EQ(from_server(message('1', "") + message('2', "") + fields({"v", "assay_rows"}) +
                        data_row({"5", "(1,90,1)"}) + tag("SELECT 1") + ready('I')),
            message('1', "") + message('2', "") + fields({"v"}) + data_row({"5"}) +
                tag("SELECT 1") + ready('I'));
  EXPECT_NE(told().find(R"x("rows":["(1,90,1)"])x"), std::string::npos);
}

TEST_F(Conversations, TheNumberIsAskedForInFrontOfACommit) {
  from_client(query("BEGIN"));
  from_server(tag("BEGIN") + ready('T'));
  from_client(query("UPDATE t SET v = 1"));
  from_server(tag("UPDATE 1") + ready('T'));
  EXPECT_EQ(from_client(query("COMMIT")), query(kAsked) + query("COMMIT"));
  EXPECT_EQ(from_server(fields({"a", "b"}) + data_row({"740", "serializable"}) + tag("SELECT 1") +
                        ready('T') + tag("COMMIT") + ready('I')),
            tag("COMMIT") + ready('I'));
  const std::string all = told();
  const size_t number = all.find(R"({"s":1,"xid":"740","isolation":"serializable"})");
  EXPECT_LT(number, all.find("\"COMMIT\""));
  // A transaction that only reads has none.
  from_client(query("BEGIN"));
  from_server(tag("BEGIN") + ready('T'));
  from_client(query(kSelect));
  from_server(fields({"v", "assay_rows"}) + tag("SELECT 0") + ready('T'));
  EXPECT_EQ(from_client(query("COMMIT")), query("COMMIT"));
  from_server(tag("COMMIT") + ready('I'));
  // Nor is one asked for that has failed: the question would.
  from_client(query("BEGIN"));
  from_server(tag("BEGIN") + ready('T'));
  from_client(query("UPDATE t SET v = 1"));
  from_server(failed("40001") + ready('E'));
  EXPECT_EQ(from_client(query("COMMIT")), query("COMMIT"));
}

TEST_F(Conversations, TheNumberOfAStatementThatStandsForItself) {
  const std::string update = "UPDATE t SET v = 1";
  EXPECT_EQ(from_client(query(update)), query(update + "\n;" + kAsked));
  // Should it fail when it ends, its tag is not told.
  EXPECT_EQ(from_server(tag("UPDATE 1")), "");
  EXPECT_EQ(from_server(fields({"a", "b"}) + data_row({"740", "x"}) + tag("SELECT 1") + ready('I')),
            tag("UPDATE 1") + ready('I'));
  from_client(query(update));
  EXPECT_EQ(from_server(tag("UPDATE 1") + failed("23503") + ready('I')),
            failed("23503") + ready('I'));
}

TEST_F(Conversations, TheNumberOfAPipeline) {
  const std::string dml = prepare("", "UPDATE t SET v = 1") + bound("", "", "\0\0"s) + execute("");
  const std::string asked = message('C', "Sassay_number\0"s) + message('C', "Passay_number\0"s) +
                            prepare("assay_number", kAsked) +
                            bound("assay_number", "assay_number", "\0\0"s) +
                            execute("assay_number");
  EXPECT_EQ(from_client(dml + synced()), dml + asked + synced());
  const std::string done = message('1', "") + message('2', "") + tag("UPDATE 1");
  EXPECT_EQ(from_server(done + message('3', "") + message('3', "") + message('1', "") +
                        message('2', "") + data_row({"740", "x"}) + tag("SELECT 1") + ready('I')),
            done + ready('I'));
  // In front of the COMMIT of one that the same pipeline has begun.
  const std::string begin = prepare("", "BEGIN") + bound("", "", "\0\0"s) + execute("");
  const std::string commit = prepare("", "COMMIT") + bound("", "", "\0\0"s);
  EXPECT_EQ(from_client(begin + dml + commit + execute("") + synced()),
            begin + dml + commit + asked + execute("") + synced());
  // But not as long as it is not known whether a transaction before has failed.
  EXPECT_EQ(from_client(commit + execute("") + synced()), commit + execute("") + synced());
}

// As tokio-postgres does.
TEST_F(Conversations, AStatementThatIsDroppedMeanwhileHidesNoNumber) {
  from_client(query("BEGIN"));
  from_server(tag("BEGIN") + ready('T'));
  const std::string dml =
      prepare("a", "UPDATE t SET v = 1") + bound("", "a", "\0\0"s) + execute("");
  const std::string done = message('1', "") + message('2', "") + tag("UPDATE 1");
  from_client(dml + synced());
  from_server(done + ready('T'));
  const std::string drop = message('C', "Sa\0"s) + synced();
  EXPECT_EQ(from_client(drop + query("COMMIT")), drop + query(kAsked) + query("COMMIT"));
  EXPECT_EQ(
      from_server(message('3', "") + ready('T') + fields({"a", "b"}) + data_row({"740", "x"}) +
                  tag("SELECT 1") + ready('T') + tag("COMMIT") + ready('I')),
      message('3', "") + ready('T') + tag("COMMIT") + ready('I'));
  EXPECT_NE(told().find(R"({"s":1,"xid":"740")"), std::string::npos);
  EXPECT_TRUE(talk_->answered());
  // What is dropped behind a statement whose answer is still to come does not say that it has not
  // failed.
  from_client(query("BEGIN"));
  from_server(tag("BEGIN") + ready('T'));
  from_client(dml + synced());
  EXPECT_EQ(from_client(drop + query("COMMIT")), drop + query("COMMIT"));
  from_server(failed("40001") + ready('E') + message('3', "") + ready('E') + tag("ROLLBACK") +
              ready('I'));
  EXPECT_TRUE(talk_->answered());
}

// What stands behind an error up to the Sync is not answered, nor prepared.
TEST_F(Conversations, AfterAnError) {
  from_client(prepare("a", kSelect) + synced());
  from_server(message('1', "") + ready('I'));
  from_client(bound("", "none", "\0\0"s) + prepare("a", "SELECT 1") + execute("") + synced());
  EXPECT_EQ(from_server(failed("26000") + ready('I')), failed("26000") + ready('I'));
  EXPECT_TRUE(talk_->answered());
  from_client(bound("", "a", "\0\0"s) + execute("") + synced());
  EXPECT_EQ(
      from_server(message('2', "") + data_row({"5", "(1,90,1)"}) + tag("SELECT 1") + ready('I')),
      message('2', "") + data_row({"5"}) + tag("SELECT 1") + ready('I'));
  // The error came before the rest was sent.
  from_client(prepare("", "SELEC"));
  from_server(failed("42601"));
  from_client(bound("", "", "\0\0"s) + execute("") + synced());
  EXPECT_EQ(from_server(ready('I')), ready('I'));
  EXPECT_TRUE(talk_->answered());
}

TEST_F(Conversations, ASyncWithinACopyIsNotAnswered) {
  from_client(prepare("", "COPY t FROM STDIN") + bound("", "", "\0\0"s) + execute("") + synced());
  const std::string in = message('G', "\0\0\0"s);
  EXPECT_EQ(from_server(message('1', "") + message('2', "") + in),
            message('1', "") + message('2', "") + in);
  const std::string copied = message('d', "1\t2\n") + message('c', "") + synced();
  EXPECT_EQ(from_client(copied), copied);
  EXPECT_EQ(from_server(tag("COPY 1") + ready('I')), tag("COPY 1") + ready('I'));
  EXPECT_TRUE(talk_->answered());
  EXPECT_EQ(from_client(query(kSelect)), query(kSent));
}

TEST_F(Conversations, TheNumberIsAskedForBehindACopy) {
  from_client(query("BEGIN"));
  from_server(tag("BEGIN") + ready('T'));
  from_client(query("COPY t FROM STDIN"));
  from_server(message('G', "\0\0\0"s));
  from_client(message('d', "1\t2\n") + message('c', ""));
  from_server(tag("COPY 1") + ready('T'));
  EXPECT_EQ(talk_->waits_since(), std::nullopt);
  EXPECT_EQ(from_client(query("COMMIT")), query(kAsked) + query("COMMIT"));
}

TEST_F(Conversations, WhatIsTooLongGoesThroughAndIsNotKept) {
  const std::string value(16 << 20, 'x');
  const std::string insert = query("INSERT INTO t VALUES ('" + value + "')"),
                    parsed = prepare("large", "SELECT v FROM t WHERE v <> '" + value + "'"),
                    row = data_row({value, value});
  EXPECT_TRUE(from_client(insert) == insert);
  from_server(tag("INSERT 0 1") + ready('I'));
  EXPECT_TRUE(from_client(parsed + synced()) == parsed + synced());
  from_server(message('1', "") + ready('I'));
  const std::string select = bound("", "large", "\0\0"s) + execute("") + synced();
  EXPECT_EQ(from_client(select), select);
  EXPECT_TRUE(from_server(row) == row);
  from_server(tag("SELECT 1") + ready('I'));
  EXPECT_TRUE(trace_->flush().ok());
  std::string all(100'000, '\0');
  all.resize(static_cast<size_t>(std::max<ssize_t>(read(pipe_[0], all.data(), all.size()), 0)));
  EXPECT_LT(all.size(), 1000u);
  EXPECT_NE(all.find(R"("sql":"INSERT INTO t VALUES …","reads":true,"writes":true,)"
                     R"("missed":"a statement of over 1 MB")"),
            std::string::npos)
      << all;
}

TEST_F(Conversations, VersionsThatFillMoreThanALineAreLeftOut) {
  from_client(query("SELECT count(*) FROM t"));
  from_server(fields({"count", "assay_rows"}));
  const std::string many(4 << 20, 'x');
  EXPECT_EQ(from_server(data_row({"7", many})), data_row({"7"}));
  from_server(tag("SELECT 1") + ready('I'));
  const std::string said = told();
  EXPECT_NE(said.find("\"untold\":true"), std::string::npos) << said;
  EXPECT_EQ(said.find("rows"), std::string::npos);
}

TEST_F(Conversations, OnlyWhatMightCommitIsAwaited) {
  from_client(query("SELECT v FROM t"));
  EXPECT_EQ(talk_->commits_since(), std::nullopt);
  from_server(ready('I'));
  from_client(query("UPDATE t SET v = 1"));
  EXPECT_EQ(talk_->commits_since(), 7);
  from_server(tag("UPDATE 1") + ready('I'));
  EXPECT_EQ(talk_->commits_since(), std::nullopt);
  from_client(query("BEGIN"));
  from_server(tag("BEGIN") + ready('T'));
  from_client(query("UPDATE t SET v = 1"));
  EXPECT_EQ(talk_->commits_since(), std::nullopt);
  from_server(tag("UPDATE 1") + ready('T'));
  from_client(query("COMMIT"));
  EXPECT_EQ(talk_->commits_since(), 7);
}

TEST_F(Conversations, ALostCommitIsInFlight) {
  from_client(query("BEGIN"));
  from_server(tag("BEGIN") + ready('T'));
  from_client(query("UPDATE t SET v = 1"));
  from_server(tag("UPDATE 1") + ready('T'));
  from_client(query("COMMIT"));
  from_server(fields({"a", "b"}) + data_row({"740", "x"}) + tag("SELECT 1") + ready('T'));
  from_server(failed("57P01", "FATAL"));
  talk_->over();
  EXPECT_NE(told().find(R"({"s":1,"close":7,"in_flight":true})"), std::string::npos);
}

TEST_F(Conversations, ALostUpdateIsNot) {
  from_client(query("BEGIN"));
  from_server(tag("BEGIN") + ready('T'));
  from_client(query("UPDATE t SET v = 1"));
  talk_->over();
  EXPECT_NE(told().find("{\"s\":1,\"close\":7}\n"), std::string::npos);
}

TEST_F(Conversations, TablesThatChangeAreLeftAlone) {
  from_client(query("BEGIN"));
  from_server(tag("BEGIN") + ready('T'));
  from_client(query("ALTER TABLE t DROP id"));
  from_server(tag("ALTER TABLE") + ready('T'));
  EXPECT_EQ(from_client(query(kSelect)), query(kSelect));
  from_server(fields({"v"}) + data_row({"5"}) + tag("SELECT 1") + ready('T'));
  EXPECT_EQ(redefined_, 0);
  from_client(query("ROLLBACK"));
  from_server(tag("ROLLBACK") + ready('I'));
  EXPECT_EQ(redefined_, 1);
  EXPECT_EQ(from_client(query(kSelect)), query(kSent));
  from_server(fields({"v", "assay_rows"}) + tag("SELECT 0") + ready('I'));
  from_client(query("CREATE TEMP TABLE t (v int)"));
  from_server(tag("CREATE TABLE") + ready('I'));
  EXPECT_EQ(from_client(query(kSelect)), query(kSelect));
}

// Of a cursor, FETCH tells, as often as it is sent, and says of which.
TEST_F(Conversations, ACursorTellsWhatIsFetched) {
  const std::string declare = "DECLARE c CURSOR FOR ";
  EXPECT_EQ(from_client(query(declare + kSelect)), query(declare + kSent));
  EXPECT_EQ(from_server(tag("DECLARE CURSOR") + ready('T')), tag("DECLARE CURSOR") + ready('T'));
  const std::string shown = fields({"v", "assay_rows"}) + data_row({"5", "(1,90,1)"}),
                    seen = fields({"v"}) + data_row({"5"});
  for (const char* n : {"1", "2"}) {
    const std::string fetch = "FETCH "s + n + " FROM c";
    EXPECT_EQ(from_client(query(fetch)), query(fetch));
    EXPECT_EQ(from_server(shown + tag("FETCH 1") + ready('T')), seen + tag("FETCH 1") + ready('T'));
  }
  const std::string all = told();
  for (const char* line :
       {R"("q":1,"t":[7,7],"tag":"DECLARE CURSOR","cursor":1})",
        R"x("q":1,"t":[7,7],"tag":"FETCH 1","cursor":1,"rows":["(1,90,1)"]})x",
        R"x("q":1,"t":[7,7],"tag":"FETCH 1","cursor":1,"whole":true,"rows":["(1,90,1)"]})x"})
    EXPECT_NE(all.find(line), std::string::npos) << line << "\n" << all;
  // What has left rows out does not say which are not there.
  from_client(query("MOVE 1 IN c") + query("FETCH ALL FROM c"));
  EXPECT_EQ(from_server(tag("MOVE 0") + ready('T') + shown + tag("FETCH 1") + ready('T')),
            tag("MOVE 0") + ready('T') + seen + tag("FETCH 1") + ready('T'));
  EXPECT_EQ(told().find("whole"), std::string::npos);
  // A function may have closed it, and given its name to another.
  const std::string another = fields({"v", "w"}) + data_row({"5", "6"}) + tag("FETCH 1");
  from_client(query("FETCH c"));
  EXPECT_EQ(from_server(another + ready('T')), another + ready('T'));
  // With binary columns, its own is in one format more.
  EXPECT_EQ(from_client(prepare("", "FETCH c") + bound("", "", "\0\2\0\1\0\1"s)),
            prepare("", "FETCH c") + bound("", "", "\0\3\0\1\0\1\0\0"s));
  EXPECT_EQ(from_client(message('D', "P\0"s) + execute("") + synced()),
            message('D', "P\0"s) + execute("") + synced());
  EXPECT_EQ(from_server(message('1', "") + message('2', "") + shown + tag("FETCH 1") + ready('T')),
            message('1', "") + message('2', "") + seen + tag("FETCH 1") + ready('T'));
}

TEST_F(Conversations, ACursorWithHoldOutlivesItsTransaction) {
  from_client(query("DECLARE c CURSOR WITH HOLD FOR " + kSelect));
  from_server(tag("DECLARE CURSOR") + ready('I'));
  from_client(query("FETCH c"));
  EXPECT_EQ(from_server(fields({"v", "assay_rows"}) + data_row({"5", "(1,90,1)"}) + tag("FETCH 1") +
                        ready('I')),
            fields({"v"}) + data_row({"5"}) + tag("FETCH 1") + ready('I'));
  from_client(query("CLOSE ALL"));
  from_server(tag("CLOSE CURSOR ALL") + ready('I'));
  const std::string all = told();
  for (const char* line :
       {R"("cursor":1,"outlives":true})", R"x("cursor":1,"rows":["(1,90,1)"]})x", R"("closed":1})"})
    EXPECT_NE(all.find(line), std::string::npos) << line << "\n" << all;
}

// Rows that are locked are read when they are fetched.
TEST_F(Conversations, ACursorThatLocksReadsLate) {
  from_client(query("DECLARE c CURSOR FOR " + kSelect + " FOR UPDATE") + query("FETCH c"));
  from_server(tag("DECLARE CURSOR") + ready('T') + fields({"v", "assay_rows"}) +
              data_row({"5", "(1,90,1)"}) + tag("FETCH 1") + ready('T'));
  const std::string all = told();
  EXPECT_NE(all.find(R"x("tag":"FETCH 1","rows":["(1,90,1)"]})x"), std::string::npos) << all;
}

// As JDBC's with a fetch size.
TEST_F(Conversations, APortalWhoseRowsAreFetchedInParts) {
  from_client(query("BEGIN"));
  from_server(tag("BEGIN") + ready('T'));
  const std::string one = message('E', texts({"p"}) + "\0\0\0\1"s);
  from_client(prepare("", kSelect) + bound("p", "", "\0\0"s) + one + synced() + one + synced());
  EXPECT_EQ(from_server(message('1', "") + message('2', "") + data_row({"5", "(1,90,1)"}) +
                        message('s', "") + ready('T') + data_row({"6", "(1,91,2)"}) +
                        tag("SELECT 1") + ready('T')),
            message('1', "") + message('2', "") + data_row({"5"}) + message('s', "") + ready('T') +
                data_row({"6"}) + tag("SELECT 1") + ready('T'));
  const std::string all = told();
  for (const char* line : {R"x("tag":"suspended","cursor":1,"rows":["(1,90,1)"]})x",
                           R"x("tag":"SELECT 1","cursor":1,"whole":true,"rows":["(1,91,2)"]})x"})
    EXPECT_NE(all.find(line), std::string::npos) << line << "\n" << all;
}

TEST_F(Conversations, WhatIsPreparedInSqlTellsWhenItIsExecuted) {
  EXPECT_EQ(from_client(query("PREPARE p AS " + kSelect)), query("PREPARE p AS " + kSent));
  from_server(tag("PREPARE") + ready('I'));
  const std::string shown = fields({"v", "assay_rows"}) + data_row({"5", "(1,90,1)"}),
                    seen = fields({"v"}) + data_row({"5"});
  from_client(query("EXECUTE p (3)"));
  EXPECT_EQ(from_server(shown + tag("SELECT 1") + ready('I')), seen + tag("SELECT 1") + ready('I'));
  EXPECT_NE(told().find(R"x("tag":"SELECT 1","p":["3"],"rows":["(1,90,1)"]})x"), std::string::npos);
  // By a name that a message gave.
  from_client(prepare("q", kSelect) + synced() + query("EXECUTE q"));
  EXPECT_EQ(from_server(message('1', "") + ready('I') + shown + tag("SELECT 1") + ready('I')),
            message('1', "") + ready('I') + seen + tag("SELECT 1") + ready('I'));
  // And the other way round.
  from_client(bound("", "p", "\0\0"s) + execute("") + synced());
  EXPECT_EQ(
      from_server(message('2', "") + data_row({"5", "(1,90,1)"}) + tag("SELECT 1") + ready('I')),
      message('2', "") + data_row({"5"}) + tag("SELECT 1") + ready('I'));
  // Changes have their number.
  from_client(query("PREPARE u AS UPDATE t SET v = 1"));
  from_server(tag("PREPARE") + ready('I'));
  EXPECT_EQ(from_client(query("EXECUTE u")), query("EXECUTE u\n;" + kAsked));
  from_server(tag("UPDATE 1") + fields({"a", "b"}) + data_row({"740", "x"}) + tag("SELECT 1") +
              ready('I'));
  EXPECT_NE(told().find(R"({"s":1,"xid":"740")"), std::string::npos);
}

// A new table, or a plan that is explained, would have our column.
TEST_F(Conversations, WhatNeedsAPreparedStatementAsItWasHasIt) {
  from_client(query("PREPARE p AS " + kSelect));
  from_server(tag("PREPARE") + ready('I'));
  const std::string table = "CREATE TABLE x AS EXECUTE p";
  const std::string anew = query("DEALLOCATE \"p\";\nPREPARE p AS " + kSelect);
  EXPECT_EQ(from_client(query(table)), anew + query(table));
  // It fails, as the statement behind it does.
  EXPECT_EQ(from_server(failed("25P02") + ready('E') + failed("25P02") + ready('E')),
            failed("25P02") + ready('E'));
  EXPECT_EQ(from_client(query(table)), anew + query(table));
  EXPECT_EQ(
      from_server(tag("DEALLOCATE") + tag("PREPARE") + ready('I') + tag("SELECT 1") + ready('I')),
      tag("SELECT 1") + ready('I'));
  EXPECT_EQ(from_client(query(table)), query(table));
  // Among messages, one statement after the other, by one name that is closed in between.
  from_client(prepare("q", kSelect) + synced());
  const auto asked = [](const std::string& sql) {
    return message('C', "Sassay_number\0"s) + message('C', "Passay_number\0"s) +
           prepare("assay_number", sql) + bound("assay_number", "assay_number", "\0\0"s) +
           execute("assay_number");
  };
  const std::string explain = prepare("", "EXPLAIN EXECUTE q") + bound("", "", "\0\0"s);
  EXPECT_EQ(from_client(explain + execute("") + synced()),
            explain + asked("DEALLOCATE \"q\"") + asked("PREPARE \"q\" AS " + kSelect) +
                execute("") + synced());
  const std::string ours =
      message('3', "") + message('3', "") + message('1', "") + message('2', "");
  from_server(tag("SELECT 1") + ready('I') + message('1', "") + ready('I'));
  EXPECT_EQ(
      from_server(message('1', "") + message('2', "") + ours + tag("DEALLOCATE") + ours +
                  tag("PREPARE") + data_row({"Seq Scan"}) + tag("EXPLAIN") + ready('I')),
      message('1', "") + message('2', "") + data_row({"Seq Scan"}) + tag("EXPLAIN") + ready('I'));
  const std::string plain = fields({"v"}) + data_row({"5"}) + tag("SELECT 1") + ready('I');
  from_client(query("EXECUTE p"));
  EXPECT_EQ(from_server(plain), plain);
}

TEST_F(Conversations, OtherDatabasesPassThrough) {
  Conversation other(2, around_);
  std::string start("\0\3\0\0"s + texts({"user", "ann", "database", "else"}) + "\0"s), whole;
  put_int32(whole, static_cast<uint32_t>(start.size() + 4));
  EXPECT_TRUE(other.from_client(whole + start + query(kSelect)));
  EXPECT_EQ(other.to_server, whole + start + query(kSelect));
  EXPECT_FALSE(other.is_recorded());
  Conversation encrypted(3, around_);
  EXPECT_TRUE(encrypted.from_client("\0\0\0\x8\x4\xd2\x16\x2f"s));
  EXPECT_EQ(encrypted.to_client, "N");
  EXPECT_FALSE(Conversation(4, around_).from_client("GET / HTTP/1.1\r\n"));
}

}  // namespace
}  // namespace assay::internal::record
