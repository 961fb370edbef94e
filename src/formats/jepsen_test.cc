#include <gtest/gtest.h>

#include "assay/format.h"
#include "formats/expect_bad_input.h"
#include "formats/expect_same_history.h"
#include "formats/shared_data.h"

namespace assay::internal {
namespace {

void expect_jepsen_is(std::string_view edn, std::string_view hist) {
  formats::expect_same_history("jepsen", edn, hist);
}

// As Porcupine's users write them: the key has a field of its own.
TEST(Jepsen, RegistersNamedByKey) {
  formats::expect_same_history(
      "jepsen", R"({:process 0, :type :invoke, :f :write, :key "x", :value 1}
{:process 0, :type :ok, :f :write, :key "x", :value 1}
{:process 1, :type :invoke, :f :cas, :key "x", :value [1 2]}
{:process 1, :type :ok, :f :cas, :key "x", :value [1 2]}
{:process 1, :type :invoke, :f :read, :key "y", :value nil}
{:process 1, :type :ok, :f :read, :key "y", :value nil})",
      "0: @[1~2,1~2] { w(x,1) }\n1: @[3~4,3~4] { cas(x,1,2) } @[5~6,5~6] { r(y,null) }\n");
}

TEST(Jepsen, PairsInvocationsWithCompletionsByProcess) {
  expect_jepsen_is(
      R"({:type :invoke, :f :txn, :process 0, :time 10, :value [[:w :x 1] [:r "y" nil]], :index 0}
; a comment
{:type :invoke, :f :txn, :process 1, :time 11, :value [[:append 5 7] [:r 5 nil]]}
{:type :ok, :f :txn, :process 1, :time 12, :value [[:append 5 7] [:r 5 [7]]]}
{:type :ok, :f :txn, :process 0, :time 15, :value [[:w :x 1] [:r "y" 3]]}
)",
      "1: @[11~12,11~12] { a(5,7) r(5,[7]) }\n0: @[10~15,10~15] { w(x,1) r(y,3) }\n");
}

TEST(Jepsen, OutcomesAreNeverGuessed) {
  expect_jepsen_is(
      R"([{:type :invoke, :process 0, :time 1, :value [[:w 1 1] [:r 2 nil]]}
 {:type :info, :process 0, :time 2, :value :timeout, :error [:a "b"]}
 {:type :invoke, :process 1, :time 3, :value [[:w 1 2]]}
 {:type :fail, :process 1, :time 4, :value [[:w 1 2]]}
 {:type :invoke, :process 1, :time 5, :value [[:w 1 3]]}
 {:type :invoke, :process 1, :time 6, :value [[:w 1 4]]}])",
      "0: @[1~_,_] { w(1,1) }?\n1: @[3~4,3~4] { w(1,2) }! @[5~_,_] { w(1,3) }? @[6~_,_] { w(1,4) "
      "}?\n");
}

TEST(Jepsen, AnInvocationMayLackItsValue) {
  expect_jepsen_is(
      "{:type :ok, :process 0, :value [[:w 1 1]]} {:type :invoke, :process 0, :f :txn}"
      "{:type :ok, :process 0, :value [[:r 1 1]]}",
      "0: { w(1,1) } @[2~3,2~3] { r(1,1) }\n");
}

TEST(Jepsen, WithoutTimesTheOrderOfRecordsIsTheClock) {
  expect_jepsen_is(
      "[{:process 4, :type :invoke, :f :write, :value 2}\n"
      "{:process 4, :type :ok, :f :write, :value 2}\n"
      "{:process 5, :type :invoke, :f :read, :value nil}\n"
      "{:process 5, :type :ok, :f :read, :value 2}]",
      "4: @[1~2,1~2] { w(register,2) }\n5: @[3~4,3~4] { r(register,2) }\n");
  // Completions alone say nothing about time.
  expect_jepsen_is("{:process 4, :type :ok, :f :write, :value 2}\n{:type :ok :f :read :value nil}",
                   "4: { w(register,2) }\n\"no process 1\": { r(register,null) }\n");
}

TEST(Jepsen, RegistersLocksAndSets) {
  expect_jepsen_is(
      "{:process 1, :type :ok, :f :cas, :value [3 4]} {:process 1, :type :ok, :f :read, :value [7 "
      "4]}"
      "{:process 1, :type :ok, :f :cas, :value [7 [4 5]]} {:process 1, :type :fail, :f :cas, "
      ":value [1 2]}",
      "1: { cas(register,3,4) } { r(7,4) } { cas(7,4,5) } { cas(register,1,2) }!\n");
  expect_jepsen_is("{:process 1, :type :ok, :f :acquire} {:process 1, :type :info, :f :release}",
                   "initial free\n1: { cas(lock,free,held) } { cas(lock,held,free) }?\n");
  expect_jepsen_is(
      "{:process 1, :type :ok, :f :add :value 3} {:process 1, :type :ok, :f :read :value #{3}}"
      "{:process 1, :type :ok, :f :read :value []}",
      "1: { w(3,1) } { range(..,[3=1]) } { range(..,[]) }\n");
}

TEST(Jepsen, AKeyValueStoreAppendsPieces) {
  expect_jepsen_is(
      R"({:process 0, :type :ok, :f :get, :key "5", :value ""}
{:process 0, :type :ok, :f :append, :key "5", :value "x 0 0 y"}
{:process 0, :type :ok, :f :get, :key "5", :value "x 0 0 yx 3 1 y"}
{:process 0, :type :ok, :f :put, :key "6", :value "a"}
{:process 0, :type :ok, :f :get, :key "6", :value "a"})",
      "initial \"\"\n0: { r(\"5\",[]) } { a(\"5\",\"x 0 0 y\") } { r(\"5\",[\"x 0 0 y\",\"x 3 1 "
      "y\"]) } "
      "{ w(\"6\",a) } { r(\"6\",a) }\n");
  formats::expect_bad_input("jepsen", "{:type :ok :f :append :key 1 :value \"a\"}", 1, 37,
                            "expected pieces");
  formats::expect_bad_input("jepsen",
                            "{:type :ok :f :append :key 1 :value \"x 1 y\"}\n"
                            "{:type :ok :f :append :key 1 :value \"x 1 y\"}",
                            2, 0, "appended twice");
  formats::expect_bad_input("jepsen", "{:type :ok :f :get :key 1 :value \"x 0 yz\"}", 1, 34,
                            "expected pieces");
}

// A text that starts with no piece is no empty list: nobody appended what it starts with.
TEST(Jepsen, AListThatStartsWithNoPiece) {
  expect_jepsen_is(
      R"({:process 0, :type :ok, :f :append, :key "0", :value "x 1 y"}
{:process 0, :type :ok, :f :get, :key "0", :value "foox 1 y"})",
      "initial \"\"\n0: { a(\"0\",\"x 1 y\") } { r(\"0\",[\"foox 1 y\"]) }\n");
}

// A key that is put and appended to is a register whose value is the last piece; an append that
// nobody saw is a write that nobody saw.
TEST(Jepsen, PutsAndAppendsOfOneKey) {
  expect_jepsen_is(
      R"({:process 0, :type :ok, :f :append, :key "0", :value "x 0 1 y"}
{:process 1, :type :ok, :f :put, :key "0", :value "x 1 1 y"}
{:process 2, :type :ok, :f :append, :key "0", :value "x 2 1 y"}
{:process 2, :type :ok, :f :append, :key "0", :value "x 2 2 y"}
{:process 3, :type :ok, :f :get, :key "0", :value "x 1 1 yx 2 1 y"}
{:process 3, :type :ok, :f :put, :key "0", :value ""}
{:process 3, :type :ok, :f :get, :key "0", :value ""})",
      "initial \"\"\n0: { w(\"0\",\"x 0 1 y\") }\n1: { w(\"0\",\"x 1 1 y\") }\n"
      "2: { cas(\"0\",\"x 1 1 y\",\"x 2 1 y\") } { w(\"0\",\"x 2 2 y\") }\n"
      "3: { r(\"0\",\"x 2 1 y\") } { w(\"0\",\"\") } { r(\"0\",\"\") }\n");
  formats::expect_bad_input("jepsen",
                            "{:type :ok :f :put :key 1 :value \"max y\"}\n"
                            "{:type :ok :f :append :key 1 :value \"x 1 y\"}",
                            2, 0, "pieces are appended");
  formats::expect_bad_input("jepsen",
                            "{:type :ok :f :put :key 1 :value \"x 1 y\"}\n"
                            "{:type :ok :f :append :key 1 :value \"x 1 y\"}",
                            2, 0, "both put and appended");
  // A piece behind two different texts: the second get saw what nobody wrote.
  expect_jepsen_is(
      R"({:process 0, :type :ok, :f :put, :key "0", :value "a"}
{:process 0, :type :ok, :f :append, :key "0", :value "x 1 y"}
{:process 0, :type :ok, :f :get, :key "0", :value "ax 1 y"}
{:process 0, :type :ok, :f :get, :key "0", :value "bx 1 y"})",
      "initial \"\"\n0: { w(\"0\",a) } { cas(\"0\",a,\"x 1 y\") } { r(\"0\",\"x 1 y\") } "
      "{ r(\"0\",\"bx 1 y\") }\n");
}

TEST(Jepsen, NilOfAListIsTheEmptyList) {
  expect_jepsen_is(
      "{:type :ok, :process 0, :value [[:r 1 nil] [:append 2 7]]}"
      "{:type :ok, :process 1, :value [[:r 2 nil] [:r 3 nil]]}"
      "{:type :ok, :process 2, :value [[:append 4 1]]}"
      "{:type :ok, :process 2, :value [[:w 4 2] [:r 5 nil] [:r 5 [1]]]}"
      "{:type :ok, :process 2, :value [[:r 4 nil]]}",
      "0: { r(1,null) a(2,7) }\n1: { r(2,[]) r(3,null) }\n"
      "2: { a(4,1) } { w(4,2) r(5,[]) r(5,[1]) } { r(4,null) }\n");
}

TEST(Jepsen, CollectionsAreNoRegisters) {
  formats::expect_bad_input("jepsen",
                            "{:type :ok :f :cas :value [0 1]}\n{:type :ok :f :read :value #{1}}", 2,
                            28, "not a set");
  formats::expect_bad_input("jepsen",
                            "{:type :ok :f :read :value 1}\n{:type :ok :f :read :value [1]}", 2, 28,
                            "not a vector");
  formats::expect_bad_input("jepsen", "{:type :ok :f :read :value [:x [1 2 3]]}", 1, 32,
                            "not a vector");
  formats::expect_bad_input("jepsen", "{:type :ok :f :read :value {0 5}}", 1, 28, "assay tally");
  formats::expect_bad_input("jepsen", "{:type :ok :value [[:r 3 {0 5}]]}", 1, 26, "assay tally");
}

// Jepsen's causal-reverse: the writes insert what a read of all shows.
TEST(Jepsen, WritesThatAreReadAsAVectorAreASet) {
  expect_jepsen_is(
      "{:process 0, :type :invoke, :f :write, :value 1} {:process 0, :type :ok, :f :write, :value "
      "1}"
      "{:process 1, :type :invoke, :f :write, :value 2} {:process 2, :type :invoke, :f :read}"
      "{:process 2, :type :ok, :f :read, :value [1 2]} {:process 1, :type :ok, :f :write, :value 2}"
      "{:process 1, :type :ok, :f :write, :value 3}",
      "0: @[1~2,1~2] { w(1,1) }\n2: @[4~5,4~5] { range(..,[1=1,2=1]) }\n"
      "1: @[3~6,3~6] { w(2,1) } { w(3,1) }\n");
  expect_jepsen_is(
      "{:process 1, :type :ok, :f :write, :value 3} {:process 1, :type :ok, :f :read :value #{3}}"
      "{:process 1, :type :ok, :f :read :value []}",
      "1: { w(3,1) } { range(..,[3=1]) } { range(..,[]) }\n");
  expect_jepsen_is("{:process 1, :type :ok, :f :read, :value [4 5 6]}",
                   "1: { range(..,[4=1,5=1,6=1]) }\n");
  // Registers, where none is read; and pairs, which name their register.
  expect_jepsen_is("{:process 1, :type :ok, :f :write, :value 3}", "1: { w(register,3) }\n");
  expect_jepsen_is(
      "{:process 1, :type :ok, :f :write, :value [0 3]} {:process 1, :type :ok, :f :read, :value "
      "[0 3]}",
      "1: { w(0,3) } { r(0,3) }\n");
  // The sequential workload: a read shows parts of what a write names.
  formats::expect_bad_input("jepsen",
                            "{:process 0 :type :ok :f :write :value 5}\n"
                            "{:process 1 :type :ok :f :read :value [5 [\"5_1\" nil]]}",
                            2, 42, "Jepsen's sequential workload");
  formats::expect_bad_input("jepsen",
                            "{:type :ok :f :write :value 1}\n{:type :ok :f :read :value [1]}\n"
                            "{:type :ok :f :cas :value [1 2]}",
                            3, 27, "mixes workloads");
}

// Elle's closed predicates: what is there first, and queries with a condition.
TEST(Jepsen, ClosedPredicates) {
  expect_jepsen_is(
      "{:process 0, :type :invoke, :f :init, :value {:x 0, 7 5}}"
      "{:process 0, :type :ok, :f :init, :value {:x 0, 7 5}}"
      "{:process 0, :type :invoke, :f :txn, :value [[:rp [:= 0] nil] [:w :x 1]]}"
      "{:process 0, :type :ok, :f :txn, :value [[:rp [:= 0] {:x 0}] [:w :x 1]]}"
      "{:process 1, :type :invoke, :f :txn, :value [[:insert :y 2] [:delete 7] [:rp :true nil]]}"
      "{:process 1, :type :ok, :f :txn, :value [[:insert :y 2] [:delete 7] [:rp :true {:x 1 :y "
      "2}]]}"
      "{:process 1, :type :ok, :f :txn, :value [[:rp [:= \"it's\"] {}] [:delete :x nil]]}",
      "initial x: 0\ninitial 7: 5\n"
      "0: @[3~4,3~4] { p(value = 0,[x=0]) w(x,1) }\n"
      "1: @[5~6,5~6] { w(y,2) d(7,\"deletion 2\") range(..,[x=1,y=2]) } "
      "{ p(value = 'it''s',[]) d(x,\"deletion 3\") }\n");
  const auto refuse = [](std::string_view text, uint64_t column, const std::string& part) {
    formats::expect_bad_input("jepsen", text, 1, column, part);
  };
  refuse("{:type :ok :value [[:rp [:mod 3 2] {}]]}", 25, "the condition :true or [:= value]");
  refuse("{:type :ok :value [[:rp :true [1]]]}", 31, "a map of the keys");
  refuse("{:type :info :f :init :value {:x 0}}", 30, "to be :ok");
}

TEST(Jepsen, SetsInTransactions) {
  expect_jepsen_is(
      "{:process 0, :type :ok, :f :txn, :value [[:add :a 1] [:add 5 \"e\"]]}"
      "{:process 1, :type :ok, :f :txn, :value [[:r :a #{1}] [:r 5 #{}] [:w :b 2]]}",
      "0: { w(\"[\\\"a\\\",1]\",{\"set\":\"a\"}) w(\"[5,\\\"e\\\"]\",{\"set\":5}) }\n"
      "1: { p(set = 'a',[\"[\\\"a\\\",1]\"={\"set\":\"a\"}]) p(set = 5,[]) w(b,2) }\n");
}

TEST(Jepsen, SetsThatAreReadAsVectors) {
  expect_jepsen_is(
      "{:process 0, :type :ok, :value [[:add 5 1]]} {:process 1, :type :ok, :value [[:r 5 [1]]]}",
      "0: { w(\"[5,1]\",{\"set\":5}) }\n1: { p(set = 5,[\"[5,1]\"={\"set\":5}]) }\n");
  formats::expect_bad_input("jepsen",
                            "{:process 1, :type :ok, :value [[:r 5 [1]]]}\n"
                            "{:process 0, :type :ok, :value [[:add 5 1]]}",
                            2, 34, "a vector was read as a list before");
  formats::expect_bad_input("jepsen", "{:type :ok :value [[:w 5 #{1}]]}", 1, 26, "not a set");
}

// Adya's G2: two transactions find no row of a key in two tables, and each inserts one.
TEST(Jepsen, InsertsOfPairs) {
  expect_jepsen_is(
      "{:type :invoke :process 0 :f :insert :value [1 [10 nil]]}"
      "{:type :invoke :process 1 :f :insert :value [1 [nil 11]]}"
      "{:type :ok :process 0 :f :insert :value [1 [10 nil]]}"
      "{:type :fail :process 1 :f :insert :value [1 [nil 11]]}",
      "0: @[1~3,1~3] { p(key = 1,[]) w(10,{\"key\":1}) }\n1: @[2~4,2~4] { w(11,{\"key\":1}) }!\n");
  formats::expect_bad_input("jepsen", "{:type :ok :f :insert :value [1 [2 3]]}", 1, 33,
                            "[key [id nil]]");
  formats::expect_bad_input("jepsen", "{:type :ok :f :insert :value 1}", 1, 30, "[key [id nil]]");
}

TEST(Jepsen, WhatIsNoHistoryOfKeys) {
  const auto refuse = [](std::string_view text, uint64_t column, const std::string& part) {
    formats::expect_bad_input("jepsen", text, 1, column, part);
  };
  refuse("{:type :invoke :f :dequeue :value nil}", 35, "a queue");
  refuse("{:type :ok :f :generate :value 5}", 32, "unique ids");
  refuse("{:type :ok :f :send :value [[:send :x 2]]}", 28, "a log of messages");
  refuse("{:type :ok :f :txn :value [[:send :x 2]]}", 29, "a log of messages");
}

TEST(Jepsen, MultiRegistersNameTheirOperationsInFull) {
  expect_jepsen_is("{:type :ok, :process 0, :f :txn, :value [[:read :x 0] [:write :y 2]]}",
                   "0: { r(x,0) w(y,2) }\n");
}

// What was asked for is told in a map, what was done as a transaction.
TEST(Jepsen, ARequestInWordsOfItsOwn) {
  expect_jepsen_is(
      "{:type :invoke, :process 0, :f :r1r2w2w1, :time 1, :value {:k1 1, :k2 2}}"
      "{:type :ok, :process 0, :f :r1r2w2w1, :time 5, :value [[:r 1 nil] [:w 1 2]]}"
      "{:type :invoke, :process 1, :f :r1r2w2w1, :time 6, :value {:k1 1, :k2 2}}"
      "{:type :fail, :process 1, :f :r1r2w2w1, :time 7, :value {:k1 1, :k2 2}}",
      "0: @[1~5,1~5] { r(1,null) w(1,2) }\n1: @[6~7,6~7] { }!\n");
}

// Of an unknown outcome nothing else says what may have been written.
TEST(Jepsen, ACompletionAloneSaysWhatWasAsked) {
  expect_jepsen_is(
      "{:process 1, :type :info, :f :write, :value 3} {:process 2, :type :ok, :f :read, :value 3}"
      "{:process 3, :type :info, :f :write, :value \"a\"} {:process 4, :type :info, :f :read}"
      "{:process 1, :type :fail, :f :cas, :value :timed-out} {:process 1, :type :fail, :f :write}",
      "1: { w(register,3) }?\n2: { r(register,3) }\n3: { w(register,a) }?\n4: { }?\n"
      "1: { }! { }!\n");
  expect_jepsen_is(
      "{:process 1, :type :info, :f :add, :value \"a\"}"
      "{:process 2, :type :ok, :f :read, :value #{\"a\"}}",
      "1: { w(a,1) }?\n2: { range(..,[a=1]) }\n");
  const auto refuse = [](std::string_view text, uint64_t column) {
    formats::expect_bad_input("jepsen", text, 1, column, "not known without its invocation");
  };
  refuse("{:process 1, :type :info, :f :cas, :value :timed-out}", 43);
  refuse("{:process 1, :type :info, :f :write}", 1);
  refuse("{:type :ok :f :txn :value [[:r 1 1]]} {:type :info :f :txn :value :timeout}", 67);
  refuse("{:type :info :f :put :key 1 :value :timeout}", 36);
  refuse("{:type :info :f :r1w2 :value {:k1 1}}", 30);
}

TEST(Jepsen, ReadsTheNotation) {
  expect_jepsen_is(
      "#jepsen.history.Op{:type :ok, :process 0, :f :txn, :value ([:w \"a\\u00e9\\n\" 12N] "
      "#_[:w 1 1] [:w [1 2] -3] [\"w\" \\a 1.5] [:w true nil_x])}",
      "0: { w(\"a\xC3\xA9\\n\",12) w(\"[1 2]\",-3) w(a,\"1.5\") w(\"true\",\"nil_x\") }\n");
}

TEST(Jepsen, TheNemesisIsAnEvent) {
  auto r = read_history_text(
      "{:type :info, :f :start, :process :nemesis, :time 5, :value {:a 1}}\n"
      "{:type :ok, :f :txn, :process 0, :value []}\n",
      "f");
  ASSERT_TRUE(r.ok()) << r.error().to_string();
  EXPECT_EQ(r->format, "jepsen");
  ASSERT_EQ(r->history.events().size(), 1u);
  EXPECT_EQ(r->history.events()[0].at, 5);
  EXPECT_EQ(r->history.events()[0].json,
            R"({"event":"start","at":5,"process":"nemesis","value":"{:a 1}"})");
  EXPECT_EQ(r->history.txn_count(), 1u);
}

TEST(Jepsen, RefusesBadInputAtItsPlace) {
  auto refuse = [](std::string_view text, uint64_t line, uint64_t column, const std::string& part) {
    formats::expect_bad_input("jepsen", text, line, column, part);
  };
  refuse("5", 1, 1, "expected an operation");
  refuse("{:type :ok :value []}\n {:f :txn}", 2, 2, "expected :type");
  refuse("{:type :maybe}", 1, 8, "expected :type");
  refuse("{:type :ok :time \"x\" :value []}", 1, 18, "nanoseconds");
  refuse("{:type :ok :f :transfer :value {:from 1}}", 1, 32, "the workload 'transfer'");
  refuse("{:type :ok :value [[:r 1 1]]}\n{:type :ok :f :add :value 1}", 2, 27, "mixes workloads");
  refuse("{:type :ok :value [[:x 1 1]]}", 1, 21, "an operation like");
  refuse("{:type :ok :value [[:r 1 1 1]]}", 1, 20, "an operation like");
  refuse("{:type :ok :value [[:r nil 1]]}", 1, 24, "a key, not nil");
  refuse("{:type :ok :value [[:w 1 nil]]}", 1, 26, "a value to write");
  refuse("{:type :ok :value [[:r 1 [nil]]]}", 1, 27, "a value to write");
  refuse("{:type :ok :f :cas :value 5}", 1, 27, "[old new]");
  refuse("{:type :ok :f :write}", 1, 1, ":value");
  refuse("{:type :ok :f :add :value 1}{:type :ok :f :read :value 5}", 1, 56, "elements of the set");
  refuse("{:type :ok", 1, 11, "unexpected end");
  refuse("{:type :ok :value}", 1, 1, "a key without a value");
  refuse("{:type :ok :value \"a", 1, 19, "no closing quote");
  refuse("{:type :ok :value \"\\q\"}", 1, 20, "invalid escape");
  refuse("{:type :ok :value 99999999999999999999}", 1, 19, "64 bits");
  refuse("{:type :ok :value 1x}", 1, 19, "expected a number");
  refuse("{:type :ok :value ]}", 1, 19, "expected a value");
  refuse("{:a \"\xFF\"}", 1, 6, "invalid UTF-8");
  refuse("[{:type :ok :value []}", 1, 23, "not the end");
  refuse("[{:type :ok :value []}] 5", 1, 25, "expected the end after");
  refuse("{:a " + std::string(70, '[') + std::string(70, ']') + "}", 1, 69, "nested more than 64");
}

TEST(Jepsen, RoundTrip) {
  formats::expect_stable_round_trip("jepsen", {.times = false, .aborted = false});
  formats::expect_stable_round_trip("elle-json", {.times = false, .aborted = false});
}

TEST(Jepsen, RoundTripOfTimedHistoriesWithEveryOutcome) {
  constexpr std::string_view kHist =
      "1: @[1~5,1~5] { w(x,1) a(l,\"a b\") } @[5~9,5~9] { r(x,1) r(l,[\"a b\"]) r(y,null) }\n"
      "2: @[2~_,_] { w(x,2) }? @[7~8,7~8] { w(x,3) }!\n";
  auto r = read_history_text(kHist, "h", {"hist"});
  ASSERT_TRUE(r.ok());
  for (const char* format : {"jepsen", "elle-json"}) {
    std::string text;
    auto losses = write_history_text(r->history, format, text);
    ASSERT_TRUE(losses.ok());
    for (const Loss& l : *losses) ADD_FAILURE() << l.what;
    formats::expect_same_history(format, text,
                                 "1: @[1~5,1~5] { w(x,1) a(l,\"a b\") }\n"
                                 "2: @[2~_,_] { w(x,2) }? @[7~8,7~8] { w(x,3) }!\n"
                                 "1: @[5~9,5~9] { r(x,1) r(l,[\"a b\"]) r(y,null) }\n");
  }
}

// Processes finish in another order than the sessions first appeared, at one and the same time.
TEST(Jepsen, RoundTripKeepsTheOrderOfCompletions) {
  constexpr std::string_view kEdn =
      "{:type :invoke, :process 0, :time 10, :value [[:w :x 0]]}"
      "{:type :invoke, :process 1, :time 16, :value [[:w 1 11]]}"
      "{:type :info, :process 1, :time 17}"
      "{:type :invoke, :process 2, :time 18, :value [[:w 1 12]]}"
      "{:type :ok, :process 2, :time 20, :value [[:w 1 12]]}"
      "{:type :info, :process 0}"
      "{:type :invoke, :process 1, :time 20, :value [[:w 1 13]]}";
  auto read = read_history_text(kEdn, "first", {"jepsen"});
  ASSERT_TRUE(read.ok()) << read.error().to_string();
  std::string text;
  ASSERT_TRUE(write_history_text(read->history, "jepsen", text).ok());
  auto again = read_history_text(text, "again", {"jepsen"});
  ASSERT_TRUE(again.ok()) << again.error().to_string();
  EXPECT_EQ(again->history.content_hash(), read->history.content_hash()) << text;
}

TEST(ElleJson, ReadsArraysAndLines) {
  constexpr std::string_view kLine =
      R"({"type":"ok","f":"txn","process":0,"value":[["append",253,1],["r","k\u00e9",[1,2]],["r",3,null]]})";
  constexpr std::string_view kSame = "0: { a(253,1) r(\"k\xC3\xA9\",[1,2]) r(3,null) }\n";
  formats::expect_same_history("elle-json", kLine, kSame);
  formats::expect_same_history("elle-json", "[" + std::string(kLine) + "]\n", kSame);
  formats::expect_bad_input("elle-json", "[{\"type\":\"ok\",\n \"value\" []}]", 2, 10,
                            "not valid JSON: expected ':'");
}

TEST(Jepsen, ReadsRealFiles) {
  const auto data = formats::shared_data();
  if (data.empty()) GTEST_SKIP() << "no shared data";
  struct Want {
    const char* file;
    const char* format;
    uint32_t txns;
  };
  constexpr Want kWant[] = {
      {"elle/paper-example.edn", "jepsen", 4},
      {"elle/paper-example.json", "elle-json", 4},
      {"elle/rw-register.edn", "jepsen", 3},
      {"elle/rw-register.json", "elle-json", 3},
      {"elle/list-append-gh-30.edn", "jepsen", 5},
      {"elle/long-fork.edn", "jepsen", 2},
      {"elle/set.edn", "jepsen", 4},
      {"knossos/cas-register/bad/bad-analysis.edn", "jepsen", 9},
      {"knossos/cas-register/good/memstress3-9.edn", "jepsen", 0},
      {"knossos/mutex/bad/etcd.edn", "jepsen", 0},
  };
  for (const Want& want : kWant) {
    auto r = read_history((data / want.file).string());
    ASSERT_TRUE(r.ok()) << r.error().to_string();
    EXPECT_EQ(r->format, want.format) << want.file;
    if (want.txns > 0) {
      EXPECT_EQ(r->history.txn_count(), want.txns) << want.file;
    }
    EXPECT_GT(r->history.txn_count(), 1u);
  }
  // Balances say nothing about who wrote what.
  auto bank = read_history((data / "elle/bank.edn").string());
  ASSERT_FALSE(bank.ok());
  EXPECT_EQ(bank.error().kind, ErrorKind::bad_input);
  // A counter that is only added to cannot be told from a set.
  EXPECT_TRUE(read_history((data / "elle/counter.edn").string()).ok());
}

}  // namespace
}  // namespace assay::internal
