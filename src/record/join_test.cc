#include <fmt/format.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/json.h"
#include "record/joined_history.h"

namespace assay::internal::record {
namespace {

// A trace of two tables, in which one row of the first was there before.
const std::string kBefore =
    R"({"trace":1,"bound":100,"meta":{"database":{"name":"PostgreSQL","isolation":"x"}}}
{"table":"t","oid":1,"logged":"public.t","key":["id"]}
{"table":"u","oid":2,"logged":"public.\"U\"","key":["a","b"]}
{"row":"t","key":["1"],"xmin":90,"is":{"id":1,"v":10}}
{"q":1,"kind":"begin","sql":"BEGIN"}
{"q":2,"kind":"select","sql":"SELECT v FROM t -- app.py:7","reads":true,"from":[["t",3]],"place":"app.py:7","locks":"share"}
{"q":3,"kind":"update","sql":"UPDATE t SET v = v - 1","reads":true,"writes":true,"changed":"t","depends":true}
{"q":4,"kind":"update","sql":"UPDATE t SET v = 5 WHERE id = 1","reads":true,"writes":true,"changed":"t"}
{"q":5,"kind":"commit","sql":"COMMIT"}
{"q":6,"kind":"rollback","sql":"ROLLBACK"}
{"q":7,"kind":"select","sql":"SELECT count(*) FROM t, u","reads":true,"aggregated":true,"from":[["t",3],["u",4]]}
{"q":8,"kind":"select","sql":"SELECT * FROM t UNION SELECT 1","reads":true,"writes":true,"missed":"UNION"}
{"q":9,"kind":"prepare","sql":"PREPARE TRANSACTION 'x'"}
{"q":10,"kind":"delete","sql":"DELETE FROM t WHERE v = 1","reads":true,"writes":true,"changed":"t","depends":true}
)";

std::string said(int session, int q, const std::string& tag, const std::string& rows = "",
                 const std::string& more = "") {
  return fmt::format("{{\"s\":{},\"q\":{},\"t\":[@],\"tag\":\"{}\"{}{}}}\n", session, q, tag,
                     rows.empty() ? "" : ",\"rows\":[" + rows + "]", more);
}
std::string number(int session, int xid) {
  return fmt::format("{{\"s\":{},\"xid\":\"{}\",\"isolation\":\"serializable\"}}\n", session, xid);
}
std::string idle(int session) { return fmt::format("{{\"s\":{},\"idle\":9999}}\n", session); }
std::string logged(int xid, const std::vector<std::string>& lines) {
  std::string all = fmt::format("{{\"log\":\"BEGIN {}\"}}\n", xid);
  for (const std::string& line : lines) all += fmt::format("{{\"log\":\"table {}\"}}\n", line);
  return all + fmt::format("{{\"log\":\"COMMIT {}\"}}\n", xid);
}
std::string put(int id, int v) {
  return fmt::format("public.t: UPDATE: id[integer]:{} v[integer]:{}", id, v);
}
constexpr const char* kEnd = "{\"end\":10000}\n";

Result<JoinedHistory> join_text(const std::string& trace, const std::string& name,
                                JoinListener* listener = nullptr) {
  auto input = formats::Input::memory(trace, name, nullptr);
  return join_in_memory(*input, listener);
}

struct Done {
  JoinedHistory joined;
  std::vector<std::string> txns;
  std::vector<std::string> orders;
};

std::string as_text(const History& h, OpId i) {
  OpBuffers buffers;
  const Op op = h.outside(i, buffers);
  const std::string key = op.key.to_string();
  const char* const kind = op.kind == OpKind::read ? "r" : op.kind == OpKind::write ? "w" : "d";
  if (op.kind != OpKind::read) return fmt::format("{}({})", kind, key);
  const std::string from = !op.source           ? ""
                           : op.source->empty() ? " first"
                                                : " " + std::string(*op.source);
  return fmt::format("r({}{})", key, from);
}

Done done(std::string trace) {
  int now = 0;
  for (size_t at = trace.find('@'); at != std::string::npos; at = trace.find('@'), now += 10)
    trace.replace(at, 1, fmt::format("{},{}", now + 10, now + 15));
  auto joined = join_text(kBefore + trace, "app.trace");
  EXPECT_TRUE(joined.ok()) << joined.error().to_string();
  if (!joined.ok()) return {};
  Done d{std::move(*joined), {}, {}};
  const History& h = d.joined.history;
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    std::string text = h.name(t);
    text += h.status(t) == TxnStatus::committed ? ":"
            : h.status(t) == TxnStatus::aborted ? " aborted:"
                                                : " unknown:";
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) text += " " + as_text(h, i);
    d.txns.push_back(text);
  }
  for (const KnownOrder& o : h.known_orders()) {
    std::string text = h.key(o.key).to_string() + ":";
    for (size_t i = 0; i < o.versions.size(); ++i) text += " " + h.name(o.txn(i));
    d.orders.push_back(text);
  }
  return d;
}

using Texts = std::vector<std::string>;

TEST(Join, ReadsMeetWritesByKeyAndNumber) {
  const Done d =
      done(said(1, 1, "BEGIN") + said(1, 2, "SELECT 1", R"x("(1,90,1)")x") +
           said(1, 4, "UPDATE 1") + number(1, 101) + said(1, 5, "COMMIT") + idle(1) +
           said(2, 2, "SELECT 1", R"x("(1,101,1)")x") + idle(2) + logged(101, {put(1, 5)}) + kEnd);
  EXPECT_EQ(d.txns, (Texts{"1-1: r(t:1 first) w(t:1)", "2-1: r(t:1 1-1)"}));
  EXPECT_EQ(d.orders, (Texts{"t:1: 1-1"}));
  const History& h = d.joined.history;
  EXPECT_EQ(h.initial(0).to_string(), R"({"id":1,"v":10})");
  EXPECT_EQ(h.meta(0),
            R"({"program":"app.py:7",)"
            R"("ran":"`SELECT v FROM t` (app.py:7), `UPDATE t SET v = 5 WHERE id = 1`",)"
            R"("isolation":"serializable","xid":101,"unrecorded":{"reads":["*"],"why":[)"
            R"("`SELECT v FROM t` (app.py:7): the rows that it did not find",)"
            R"("`UPDATE t SET v = 5 WHERE id = 1`: the rows that it did not change"]},)"
            R"("sql":[{"text":"SELECT v FROM t","sent":20,"place":"app.py:7","locks":"share"},)"
            R"({"text":"UPDATE t SET v = 5 WHERE id = 1","sent":30}]})");
  EXPECT_EQ(h.op_time(0), (Interval{20, 25}));
  EXPECT_EQ(h.op_time(1), (Interval{30, 35}));
  EXPECT_NE(h.meta().find(R"("isolation":"serializable")"), std::string::npos);
  EXPECT_EQ(h.orders_complete_to(), 10000);
  EXPECT_EQ(h.begin_time(0).response - h.begin_time(0).request, 15);
}

// They come before what its transaction has written since, and if they outlive that, in front of
// it.
TEST(Join, RowsOfACursorAreOfTheSnapshotOfItsDeclaration) {
  const std::string at_once =
      said(1, 1, "BEGIN") + said(1, 2, "DECLARE CURSOR", "", ",\"cursor\":1");
  const std::string update = said(1, 4, "UPDATE 1");
  const auto fetch = [](const std::string& rows, const std::string& more = "") {
    return said(1, 2, "FETCH 1", rows, ",\"cursor\":1" + more);
  };
  const std::string end = number(1, 101) + said(1, 5, "COMMIT") + idle(1);
  const std::string log = logged(101, {put(1, 5)}) + kEnd;
  const Done d = done(at_once + update + fetch(R"x("(1,90,1)")x") + end + fetch(R"x("(1,90,3)")x") +
                      idle(1) + log);
  EXPECT_EQ(d.txns, (Texts{"1-1: r(t:1 first) w(t:1)", "1-2: r(t:3 first)"}));
  EXPECT_EQ(d.joined.full, 3u);
  EXPECT_EQ(d.joined.committed, 2u);

  const std::string held =
      said(1, 1, "BEGIN") + said(1, 2, "DECLARE CURSOR", "", ",\"cursor\":1,\"outlives\":true");
  const Done later = done(held + update + end + fetch(R"x("(1,101,1)","(1,90,2)")x") +
                          fetch(R"x("(1,90,3)")x") + log);
  EXPECT_EQ(later.txns, (Texts{"1-1: w(t:1)", "1-1.1: r(t:2 first)", "1-1.2: r(t:3 first)"}));
  const History& h = later.joined.history;
  EXPECT_NE(h.session(0), h.session(1));
  EXPECT_EQ(h.begin_time(0).request, h.begin_time(1).request);
  EXPECT_EQ(later.joined.committed, 1u);
  const Done aborted =
      done(held + said(1, 6, "ROLLBACK") + idle(1) + fetch(R"x("(1,90,2)")x") + idle(1) + kEnd);
  EXPECT_EQ(aborted.txns, (Texts{"1-1 aborted:", "1-2: r(t:2 first)"}));
}

// Only all rows that satisfy a condition say that there are no others.
TEST(Join, ACursorThatWasReadToItsEnd) {
  const std::string condition =
      R"x({"q":11,"kind":"select","sql":"DECLARE","reads":true,"from":[["t",3]],"where":[]})x"
      "\n" +
      said(1, 1, "BEGIN") + said(1, 11, "DECLARE CURSOR", "", ",\"cursor\":1");
  const auto fetch = [&](const std::string& more) {
    return done(condition + said(1, 11, "FETCH 1", R"x("(1,90,1)")x", ",\"cursor\":1") +
                said(1, 11, "FETCH 0", "", ",\"cursor\":1" + more) + said(1, 5, "COMMIT") +
                idle(1) + kEnd)
        .joined.history.op_count();
  };
  EXPECT_EQ(fetch(",\"whole\":true"), fetch("") + 1);
  EXPECT_EQ(fetch(",\"whole\":true,\"untold\":true"), fetch(""));
}

TEST(Join, ChangesUnderANumberThatIsNotKnownAreCounted) {
  const std::string changes = said(1, 1, "BEGIN") + said(1, 4, "UPDATE 1");
  const std::string log = said(1, 5, "COMMIT") + idle(1) + logged(101, {put(1, 5)}) + kEnd;
  EXPECT_EQ(done(changes + log).joined.unnumbered, 1u);
  EXPECT_EQ(done(changes + number(1, 101) + log).joined.unnumbered, 0u);
  const std::string none = said(1, 1, "BEGIN") + said(1, 4, "UPDATE 0");
  EXPECT_EQ(done(none + log).joined.unnumbered, 0u);
}

// Rule 30: what others wrote is of sessions of their own, and never what was there first. Rule 32:
// nobody's versions are left out.
TEST(Join, VersionsOfOthersAndOfNobody) {
  const Done d = done(
      // 105 wrote t:2 and not t:1; 102 is a savepoint's number, or that of a table that was written
      // anew.
      said(1, 2, "SELECT 4", R"x("(1,105,2)","(1,105,1)","(1,102,1)","(1,90,3)")x") + idle(1) +
      logged(105, {put(2, 7)}) + kEnd);
  EXPECT_EQ(d.txns, (Texts{"1-1: r(t:2 xid-105) r(t:3 first)", "xid-105: w(t:2)"}));
  EXPECT_EQ(d.joined.unattributed, 2u);
  EXPECT_EQ(d.joined.reads, 2u);
  EXPECT_EQ(d.joined.foreign, 1u);
  EXPECT_FALSE(d.joined.history.begin_time(1).known());
}

// Rule 32: a row has the number of the savepoint behind which it was written.
TEST(Join, SavepointsThatTheCommitLists) {
  const std::string reads =
      said(1, 2, "SELECT 4", R"x("(1,106,2)","(1,107,3)","(1,108,2)","(1,106,1)")x") + idle(1);
  const std::string log = logged(105, {put(2, 7), put(3, 7)});
  const std::string below =
      "{\"xid\":99,\"below\":\" 98\"}\n{\"xid\":105,\"below\":\" 106 107\"}\n";
  EXPECT_EQ(done(reads + log + below + kEnd).txns,
            (Texts{"1-1: r(t:2 xid-105) r(t:3 xid-105)", "xid-105: w(t:2) w(t:3)"}));
  const Done own = done(said(2, 1, "BEGIN") + said(2, 4, "UPDATE 2") +
                        said(2, 2, "SELECT 1", R"x("(1,107,3)")x") + number(2, 105) +
                        said(2, 5, "COMMIT") + idle(2) + reads + log + below + kEnd);
  EXPECT_EQ(own.txns, (Texts{"2-1: w(t:2) w(t:3)", "1-1: r(t:2 2-1) r(t:3 2-1)"}));
  EXPECT_EQ(own.joined.unattributed, 2u);
}

// One that may have a number that was not asked for may have written that itself.
TEST(Join, WhatMayBeItsOwnIsLeftOut) {
  const std::string read = said(1, 2, "SELECT 2", R"x("(1,105,1)","(1,90,3)")x");
  const std::string log = logged(105, {put(1, 7)}) + kEnd;
  EXPECT_EQ(done(said(1, 1, "BEGIN") + said(1, 4, "UPDATE 1") + read + said(1, 5, "COMMIT") +
                 idle(1) + log)
                .txns,
            (Texts{"1-1: r(t:3 first)", "xid-105: w(t:1)"}));
  // It was asked, and has none.
  EXPECT_EQ(
      done(said(1, 1, "BEGIN") + said(1, 4, "UPDATE 0") + read +
           "{\"s\":1,\"isolation\":\"serializable\"}\n" + said(1, 5, "COMMIT") + idle(1) + log)
          .txns,
      (Texts{"1-1: r(t:1 xid-105) r(t:3 first)", "xid-105: w(t:1)"}));
}

// A number that is smaller may still be in the log: its transaction was open when the recording
// began.
TEST(Join, AnOldNumberInTheLogIsNotTheFirst) {
  const Done d =
      done(said(1, 2, "SELECT 1", R"x("(1,95,1)")x") + idle(1) + logged(95, {put(1, 7)}) + kEnd);
  EXPECT_EQ(d.txns, (Texts{"1-1: r(t:1 xid-95)", "xid-95: w(t:1)"}));
}

// 32 bits of numbers go round, and those of frozen rows come before all.
TEST(Join, NumbersGoRound) {
  const Done d =
      done(said(1, 2, "SELECT 3", R"x("(1,4294967290,1)","(1,2,2)","(1,2147483700,3)")x") +
           idle(1) + kEnd);
  EXPECT_EQ(d.txns, (Texts{"1-1: r(t:1 first) r(t:2 first)"}));
}

TEST(Join, OwnVersionsAreNotReadFromOthers) {
  const Done d = done(said(1, 1, "BEGIN") + said(1, 4, "UPDATE 1") +
                      said(1, 2, "SELECT 1", R"x("(1,101,1)")x") + number(1, 101) +
                      said(1, 5, "COMMIT") + idle(1) + logged(101, {put(1, 5), put(1, 6)}) + kEnd);
  EXPECT_EQ(d.txns, (Texts{"1-1: w(t:1) w(t:1)"}));
}

// Rule 33.
TEST(Join, Outcomes) {
  const std::string begin = said(1, 1, "BEGIN") + said(1, 2, "SELECT 1", R"x("(1,90,1)")x");
  const auto status = [&](const std::string& trace) {
    return done(begin + trace + kEnd).txns.at(0).substr(0, 9);
  };
  EXPECT_EQ(status(said(1, 5, "COMMIT") + idle(1)), "1-1: r(t:");
  EXPECT_EQ(status(said(1, 5, "ROLLBACK") + idle(1)), "1-1 abort");
  EXPECT_EQ(status(said(1, 6, "ROLLBACK") + idle(1)), "1-1 abort");
  EXPECT_EQ(status(said(1, 5, "", "", ",\"error\":\"40001\"") + idle(1)), "1-1 abort");
  EXPECT_EQ(status(said(1, 9, "PREPARE TRANSACTION") + idle(1)), "1-1 unkno");
  EXPECT_EQ(status("{\"s\":1,\"close\":70}\n"), "1-1 abort");
  EXPECT_EQ(status("{\"s\":1,\"close\":70,\"in_flight\":true}\n"), "1-1 unkno");
  EXPECT_EQ(status(""), "1-1 unkno");  // this program was killed
  // The log knows it.
  const Done settled = done(begin + number(1, 101) + "{\"s\":1,\"close\":70,\"in_flight\":true}\n" +
                            logged(101, {put(1, 5)}) + kEnd);
  EXPECT_EQ(settled.txns, (Texts{"1-1: r(t:1 first) w(t:1)"}));
  EXPECT_EQ(settled.joined.settled, 1u);
  EXPECT_EQ(settled.joined.unknown, 0u);
}

// Rule 35: by the order of the log, and only where it matters.
TEST(Join, WhatAChangeReplaced) {
  const auto changes = [](int q) {
    return done(said(1, q, "UPDATE 1") + number(1, 101) + idle(1) + said(2, q, "UPDATE 1") +
                number(2, 102) + idle(2) + logged(102, {put(1, 7)}) + logged(101, {put(1, 5)}) +
                kEnd);
  };
  EXPECT_EQ(changes(3).txns, (Texts{"1-1: r(t:1 2-1) w(t:1)", "2-1: r(t:1 first) w(t:1)"}));
  EXPECT_EQ(changes(4).txns, (Texts{"1-1: w(t:1)", "2-1: w(t:1)"}));
  EXPECT_EQ(changes(3).orders, (Texts{"t:1: 2-1 1-1"}));
  // Which statement changed which row is known by their counts; where these do not tell, all have
  // to depend on it.
  const auto both = [](const std::string& first, const std::string& second) {
    return done(said(1, 1, "BEGIN") + first + second + number(1, 101) + said(1, 5, "COMMIT") +
                idle(1) + logged(101, {put(1, 5), put(2, 6)}) + kEnd)
        .txns;
  };
  EXPECT_EQ(both(said(1, 4, "UPDATE 1"), said(1, 3, "UPDATE 1")),
            (Texts{"1-1: w(t:1) r(t:2 first) w(t:2)"}));
  EXPECT_EQ(both(said(1, 4, "UPDATE 2"), said(1, 3, "UPDATE 1")), (Texts{"1-1: w(t:1) w(t:2)"}));
  // After a deletion there was nothing to read.
  const Done again =
      done(said(1, 3, "UPDATE 1") + number(1, 103) + idle(1) +
           logged(101, {"public.t: DELETE: id[integer]:1"}) + logged(103, {put(1, 5)}) + kEnd);
  EXPECT_EQ(again.txns, (Texts{"1-1: w(t:1)", "xid-101: d(t:1)"}));
}

TEST(Join, KeysOfSeveralColumnsThatChange) {
  const Done d = done(
      said(1, 7, "SELECT 1", R"x("{\"(1,90,1,2,101,\\\"a,b\\\",c)\",\"(1,90,2,,,,)\"}")x") +
      idle(1) +
      logged(
          101,
          {R"(public.\"U\": UPDATE: old-key: a[text]:'x' b[text]:'y' new-tuple: a[text]:'a,b' b[text]:'c' v[integer]:1)"}) +
      kEnd);
  EXPECT_EQ(d.txns, (Texts{R"(1-1: r(t:1 first) r(u:a\,b,c xid-101) r(t:2 first))",
                           R"(xid-101: d(u:x,y) w(u:a\,b,c))"}));
}

// A condition says which rows were not there, but only where everything that anybody wrote is
// known.
TEST(Join, QueriesFindAllRows) {
  const std::string described =
      R"x({"q":20,"kind":"select","sql":"SELECT","reads":true,"from":[["t",3]],"where":["\"v\" = ",[1,"number"]]})x"
      "\n";
  const auto queries = [&](const std::string& statements, const std::string& rest) {
    const Done d = done(described + statements + idle(1) + rest);
    uint64_t found = 0;
    const History& h = d.joined.history;
    OpBuffers buffers;
    for (OpId i = 0; i < h.op_count(); ++i)
      if (h.op(i).kind == OpKind::range) {
        ++found;
        const Op op = h.outside(i, buffers);
        EXPECT_EQ(std::string(*op.where), "v = 10");
        EXPECT_EQ(op.key.to_string() + op.value.to_string(), "t:t;");
      }
    return found;
  };
  const std::string one = R"x("(1,90,1)")x", ten = R"(,"p":["10"])";
  EXPECT_EQ(queries(said(1, 20, "SELECT 1", one, ten), kEnd), 1u);
  EXPECT_EQ(queries(said(1, 20, "SELECT 0", "", ten), logged(101, {put(3, 10)}) + kEnd), 1u);
  EXPECT_EQ(queries(said(1, 20, "SELECT 1", one, ten), ""), 0u);  // the log was not read to its end
  EXPECT_EQ(queries(said(1, 20, "SELECT 1", one, R"(,"p":["1e1"])"), kEnd), 0u);
  EXPECT_EQ(queries(said(1, 20, "SELECT 1", one, R"(,"p":[null])"), kEnd), 0u);
  EXPECT_EQ(queries(said(1, 20, "SELECT 1", one, ten + ",\"partly\":true"), kEnd), 0u);
  EXPECT_EQ(queries(said(1, 20, "SELECT 1", R"x("(1,102,1)")x", ten), kEnd), 0u);  // nobody's
  EXPECT_EQ(
      queries(said(1, 1, "BEGIN") + said(1, 4, "UPDATE 1") + said(1, 20, "SELECT 1", one, ten),
              kEnd),
      0u);
  EXPECT_EQ(queries(said(1, 20, "SELECT 1", one, ten),
                    logged(101, {"public.t: DELETE: (no-tuple-data)"}) + kEnd),
            0u);
  EXPECT_EQ(queries(said(1, 20, "SELECT 1", one, ten),
                    R"({"table":"t","oid":1,"logged":"public.t","key":["id"],"file":7})"
                    "\n" +
                        std::string(kEnd)),
            0u);
}

// Rule 36.
// What a statement leaves out is said by table (rule 44).
std::string unrecorded(const std::string& statement, const std::string& trace) {
  const Done d = done(R"({"q":50,"kind":)" + statement + "}\n" + trace + kEnd);
  const Json meta = Json::parse(d.joined.history.meta(0));
  const Json& missing = meta["unrecorded"];
  return missing["reads"].dump() + missing["changes"].dump() + " " +
         (missing["why"].empty() ? "" : missing["why"][0].text());
}

TEST(Join, WhatWasNotRecordedInFull) {
  const std::string one = R"x("(1,90,1)")x";
  const std::string select = R"("select","sql":"S","reads":true,"from":[["t",3]],"tables":["t"])";
  const auto selects = [&](const std::string& more, const std::string& rows) {
    return unrecorded(select + more, said(1, 50, "SELECT 1", rows) + idle(1));
  };
  EXPECT_EQ(selects("", one), "[\"t\"]null `S`: the rows that it did not find");
  EXPECT_EQ(selects(R"(,"keyed":true)", one), "nullnull ");
  EXPECT_EQ(selects(R"(,"keyed":true)", ""), "[\"t\"]null `S`: the rows that it did not find");
  EXPECT_EQ(selects(R"(,"where":["id = 1"])", one), "nullnull ");
  EXPECT_EQ(selects(R"(,"keyed":true)", R"x("(1,150,1)")x"),
            "[\"t\"]null `S`: the rows that it did not find");  // nobody's
  EXPECT_EQ(selects(R"(,"missed":"UNION")", one), "[\"t\"]null `S`: UNION");

  const std::string update =
      R"("update","sql":"U","reads":true,"writes":true,"changed":"t","tables":["t"],"keyed":true)";
  const auto updates = [&](const std::string& more, const std::vector<std::string>& lines) {
    return unrecorded(update + more,
                      said(1, 50, "UPDATE 1") + number(1, 101) + idle(1) + logged(101, lines));
  };
  EXPECT_EQ(updates("", {put(1, 5)}), "nullnull ");
  EXPECT_EQ(updates(R"(,"fires":true)", {put(1, 5)}), "[\"*\"]null `U`: a trigger");
  EXPECT_EQ(updates("", {put(1, 5), put(2, 5)}).substr(0, 9), "[\"*\"]null");
  // A tag that counts what the log does not have.
  EXPECT_EQ(unrecorded(update, said(1, 50, "UPDATE 0") + idle(1)),
            "[\"t\"]null `U`: the rows that it did not change");
  // Refused: at another isolation it would have changed something.
  EXPECT_EQ(unrecorded(update, said(1, 2, "SELECT 1", one) +
                                   said(1, 50, "", "", R"(,"error":"40001")") + idle(1)),
            "[\"*\",\"t\"][\"t\"] `SELECT v FROM t` (app.py:7): the rows that it did not find");
}

// Changes stand with their statements only if each has one.
TEST(Join, ChangesOfStatements) {
  const auto times = [](const std::vector<std::string>& lines) {
    const Done d =
        done(said(1, 1, "BEGIN") + said(1, 4, "UPDATE 1") +
             said(1, 2, "SELECT 1", R"x("(1,90,2)")x") + said(1, 4, "UPDATE 1") + number(1, 101) +
             said(1, 5, "COMMIT") + idle(1) + logged(101, lines) + kEnd);
    const History& h = d.joined.history;
    std::string text;
    for (OpId i = h.first_op(0); i < h.end_op(0); ++i)
      text += fmt::format("{}@{} ", as_text(h, i), h.op_time(i).known() ? h.op_time(i).request : 0);
    return text;
  };
  EXPECT_EQ(times({put(1, 5), put(3, 5)}), "w(t:1)@20 r(t:2 first)@30 w(t:3)@40 ");
  EXPECT_EQ(times({put(1, 5), put(3, 5), put(4, 5)}),
            "r(t:2 first)@30 w(t:1)@0 w(t:3)@0 w(t:4)@0 ");
  // Who read it after it had changed it would have read its own.
  EXPECT_EQ(times({put(2, 5), put(3, 5)}), "r(t:2 first)@30 w(t:2)@0 w(t:3)@0 ");
}

TEST(Join, TruncateDeletesEveryKnownRow) {
  const Done d = done(logged(101, {put(2, 7)}) +
                      logged(102, {"public.t, public.else: TRUNCATE: (no-flags)"}) + kEnd);
  EXPECT_EQ(d.txns, (Texts{"xid-101: w(t:2)", "xid-102: d(t:1) d(t:2)"}));
  EXPECT_EQ(done(logged(102, {"public.ta: TRUNCATE: (no-flags)"}) + kEnd).txns, Texts{});
}

TEST(Join, CountsStatements) {
  const Done d = done(said(1, 2, "SELECT 0") + idle(1) + said(1, 8, "SELECT 1") + idle(1) +
                      said(1, 2, "", "", ",\"error\":\"42P01\"") + idle(1));
  EXPECT_EQ(d.joined.full, 1u);
  EXPECT_EQ(d.joined.unread, 1u);
  EXPECT_EQ(d.joined.missed, (std::map<std::string, uint64_t>{{"UNION", 1}}));
  EXPECT_FALSE(d.joined.log_ended);
  EXPECT_NE(d.joined.history.meta().find("unfinished"), std::string::npos);
  const Done large = done(said(1, 2, "SELECT 9", "", ",\"partly\":true,\"untold\":true") + idle(1));
  EXPECT_EQ(large.joined.full, 0u);
  EXPECT_EQ(large.joined.missed,
            (std::map<std::string, uint64_t>{{"an answer that is too large", 1}}));
}

class Heard : public JoinListener {
 public:
  Status joined(const collect::schedule::RowTxn& txn) override {
    all += txn.name + " ";
    if (txn.begin.known() && txn.session.starts_with("xid"))
      all += fmt::format("[{},{}] ", txn.begin.request, txn.end.response);
    return Ok{};
  }
  Status joined_all() override {
    all += "| ";
    return Ok{};
  }
  std::string all;
};

std::string heard(const std::string& trace) {
  Heard listener;
  EXPECT_TRUE(join_text(kBefore + trace, "x", &listener).ok());
  return listener.all;
}
std::string point(int at, const std::string& snapshot) {
  return fmt::format("{{\"marked\":true}}\n{{\"logged\":{},\"seen\":{},\"snapshot\":\"{}\"}}\n", at,
                     at + 1, snapshot);
}
std::string answered(int before) { return fmt::format("{{\"answered\":{}}}\n", before); }
std::string update(int session, int at) {
  return fmt::format("{{\"s\":{0},\"q\":4,\"t\":[{1},{1}],\"tag\":\"UPDATE 1\"}}\n", session, at);
}
std::string idle_at(int session, int at) {
  return fmt::format("{{\"s\":{},\"idle\":{}}}\n", session, at);
}

TEST(Join, MeanwhileOnceItIsKnownWhoWroteWhat) {
  const std::string one = update(1, 10) + number(1, 101) + idle_at(1, 12) +
                          logged(101, {put(1, 5)}) + logged(102, {put(1, 6)});
  // What was sent before the log was read may have been answered since.
  EXPECT_EQ(heard(one + point(20, "103:103:") + answered(20) + update(1, 30)),
            "1-1 1-2 xid-102 | ");
  EXPECT_EQ(heard(one + point(20, "103:103:") + answered(21) + update(1, 30)),
            "1-1 xid-102 | 1-2 | ");
  // It may turn out to be a client's.
  EXPECT_EQ(heard(one + point(20, "103:103:") + update(2, 15) + number(2, 102) + idle_at(2, 21) +
                  answered(25) + point(30, "103:103:") + answered(31)),
            "1-1 2-1 | | | ");
}

TEST(Join, OthersOnceEverybodySeesThem) {
  const std::string log = logged(101, {put(1, 5)}) + logged(102, {put(1, 6)});
  EXPECT_EQ(heard("{\"trace\":1,\"at\":3,\"bound\":100}\n" + log + point(20, "101:103:101") +
                  answered(21) + point(30, "103:103:") + answered(31)),
            "xid-102 [3,21] | xid-101 [20,31] | | ");
}

TEST(Join, WhoseCommitGotNoAnswerOnceItIsInTheLog) {
  EXPECT_EQ(heard(update(1, 10) + number(1, 101) + "{\"s\":1,\"close\":15,\"in_flight\":true}\n" +
                  point(20, "101:103:101") + answered(21) + logged(101, {put(1, 5)}) +
                  point(30, "103:103:") + answered(31)),
            "| 1-1 | | ");
}

TEST(Join, AnOrderNamesWhatATransactionOfManyChangesLeft) {
  for (const int rows : {10, 200}) {
    std::vector<std::string> changes;
    for (int i = 0; i < rows; ++i) changes.insert(changes.end(), {put(i, 5), put(i, 6)});
    for (int i = 0; i < rows; i += 2)
      changes.push_back(fmt::format("public.t: DELETE: id[integer]:{}", i));
    const Done d = done(logged(101, changes) + kEnd);
    const History& h = d.joined.history;
    ASSERT_EQ(h.known_orders().size(), static_cast<size_t>(rows));
    for (const KnownOrder& o : h.known_orders()) {
      const std::string key = h.key(o.key).to_string(),
                        left = h.version_value(o.versions[0]).to_string();
      const bool removed = std::stoi(key.substr(2)) % 2 == 0;
      EXPECT_NE(left.find(removed ? "deleted by xid-101" : "\"v\":6"), std::string::npos)
          << key << left;
    }
  }
}

// A replaced version is forgotten once no open transaction can read it. A read of it that comes
// nevertheless is left out.
TEST(Join, ForgetsAReplacedVersionThatNoTransactionCanRead) {
  const auto read = [](int session, int at, int of) {
    return fmt::format(
        "{{\"s\":{0},\"q\":2,\"t\":[{1},{1}],\"tag\":\"\",\"rows\":[\"(1,{2},1)\"]}}\n", session,
        at, of);
  };
  const auto reads = [&](const std::string& before, int since, int of) {
    const auto joined = join_text(
        kBefore + before + logged(101, {put(1, 5)}) + logged(102, {put(1, 6)}) +
            point(20, "103:103:") + fmt::format("{{\"answered\":21,\"since\":{}}}\n", since) +
            read(1, 30, of) + idle_at(1, 31) + read(2, 32, of) + idle_at(2, 33) + kEnd,
        "x");
    EXPECT_TRUE(joined.ok());
    return joined.ok() ? joined->reads : 99;
  };
  EXPECT_EQ(reads("", 25, 102), 2u);
  EXPECT_EQ(reads("", 25, 101), 0u);
  EXPECT_EQ(reads("", 21, 101), 2u);               // sent before 102 was seen by all
  EXPECT_EQ(reads(read(2, 15, 90), 25, 101), 3u);  // its transaction began before
  EXPECT_EQ(reads(read(2, 25, 90), 25, 101), 1u);  // after
  EXPECT_EQ(reads("", 25, 90), 2u);                // what was there first stays
  const std::string old = logged(95, {put(1, 4)});
  EXPECT_EQ(reads(old, 21, 95), 2u);
  EXPECT_EQ(reads(old, 25, 95), 0u);  // and is not mistaken for what was there first
}

TEST(Join, StatementsUnderNumbersThatWereGivenAgain) {
  const Done d = done(said(1, 2, "SELECT 1", R"x("(1,90,1)")x") + "{\"forgotten\":7}\n" +
                      said(2, 2, "SELECT 1", R"x("(1,90,1)")x") + idle(1) + idle(2) + kEnd);
  EXPECT_EQ(d.txns, (Texts{"1-1: r(t:1 first)"}));
}

TEST(Join, ATraceThatIsCutOffOrNone) {
  EXPECT_TRUE(join_text(kBefore + "{\"s\":1,\"id", "x").ok());
  const auto wrong = join_text(kBefore + "nothing\n", "app.trace");
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().to_string(), "app.trace:15:1: expected an object");
  for (const char* line :
       {"{}", "{\"s\":{}}", "{\"s\":1,\"q\":77,\"t\":[1,2],\"tag\":\"\"}",
        "{\"s\":1,\"q\":2,\"t\":[1],\"tag\":5,\"rows\":7}",
        "{\"s\":1,\"q\":2,\"t\":[1,2],\"rows\":[1,\"(\",\"(1)\",\"(1,2,3,4)\"]}"})
    static_cast<void>(join_text(kBefore + line + "\n", "x"));
}

}  // namespace
}  // namespace assay::internal::record
