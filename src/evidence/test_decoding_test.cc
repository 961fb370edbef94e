#include "evidence/test_decoding.h"

#include <gtest/gtest.h>

#include "evidence/changes_as_text.h"

namespace assay::internal::evidence {
namespace {

// As PostgreSQL 15 wrote it.
std::vector<std::string> read(const std::vector<std::string>& lines) {
  TestDecoding decoding;
  std::vector<std::string> txns;
  for (const std::string& line : lines)
    if (const auto txn = decoding.line(line, "0/15A")) txns.push_back(as_text(*txn));
  return txns;
}

using Texts = std::vector<std::string>;

TEST(TestDecoding, RowsOfATransaction) {
  EXPECT_EQ(
      read({"BEGIN 739", "table public.assay_kv: INSERT: k[character varying]:'1:7' v[text]:'42'",
            "table public.assay_kv: UPDATE: k[character varying]:'1:7' v[text]:'43'",
            "table public.assay_kv: UPDATE: k[character varying]:'-i:0:-9' v[text]:'\"it''s'",
            "table public.assay_kv: DELETE: k[character varying]:'1:7'", "COMMIT 739"}),
      (Texts{"739: 7=42 7=43 -9=it's 7=null"}));
}

// Of tables of the user's a row is a version, by the name that it carries.
TEST(TestDecoding, RowsOfTablesOfTheUser) {
  TestDecoding decoding(std::vector<collect::RowTable>{{"tickets", "id"}});
  std::vector<std::string> txns;
  const auto read_all = [&](std::initializer_list<const char*> lines) {
    for (const char* line : lines)
      if (const auto txn = decoding.line(line, "0/15A")) txns.push_back(as_text(*txn));
  };
  read_all({"BEGIN 7",
            "table public.assay_tickets: INSERT: id[bigint]:5 note[text]:'it''s' open[bigint]:null "
            "assay_version[text]:'0-1.2' assay_before[text]:null",
            "message: transactional: 1 prefix: assay, sz: 3 content:0-1", "COMMIT 7", "BEGIN 8",
            "table public.assay_tickets: UPDATE: old-key: id[bigint]:5 new-tuple: id[bigint]:6 "
            "open[bigint]:-1 assay_version[text]:'2-0.1'",
            "table public.assay_tickets: DELETE: id[bigint]:6",
            "table public.assay_others: DELETE: id[bigint]:6", "COMMIT 8"});
  EXPECT_EQ(
      txns,
      (std::vector<std::string>{
          R"(0-1: tickets:5={"id":5,"note":"it's","open":null,"written_by":"0-1.2"})",
          R"(8: tickets:5=null tickets:6={"id":6,"open":-1,"written_by":"2-0.1"} tickets:6=null)"}));
  EXPECT_FALSE(decoding.lacks_versions());
  read_all({"BEGIN 9",
            "table public.assay_tickets: UPDATE: id[bigint]:5 note[text]:unchanged-toast-datum "
            "assay_version[text]:'2-1.1'",
            "COMMIT 9"});
  EXPECT_TRUE(decoding.lacks_versions());
}

TEST(TestDecoding, WhatIsNotOursIsPassedOver) {
  EXPECT_EQ(read({"BEGIN 740", "table public.other: INSERT: id[integer]:7 v[text]:'42'",
                  "table public.assay_run: UPDATE: id[character varying]:'0a done'",
                  "table public.assay_kv: TRUNCATE: (no-flags)",
                  "table other.assay_kv: INSERT: k[character varying]:'1:7' v[text]:'42'",
                  "message: transactional: 1 prefix: else, sz: 3 content:not", "COMMIT 740", "",
                  "BEGIN", "COMMIT"}),
            (Texts{"740:", ":"}));
}

// Of one number there may be two after a crash. The name of a transaction ends with it.
TEST(TestDecoding, ATransactionSaysItsName) {
  TestDecoding decoding;
  std::vector<std::string> txns;
  for (const char* line :
       {"BEGIN 739", "table public.assay_kv: INSERT: k[character varying]:'1:7' v[text]:'42'",
        "message: transactional: 1 prefix: assay, sz: 4 content:3-17",
        "table public.assay_kv: INSERT: k[character varying]:'1:8' v[text]:'43'",
        "message: transactional: 1 prefix: assay, sz: 4 content:3-17", "COMMIT 739",
        // Of a transaction that does nothing else.
        "message: transactional: 1 prefix: assay, sz: 7 content:end 0/1", "BEGIN 739",
        "table public.assay_kv: DELETE: k[character varying]:'1:7'", "COMMIT 739"})
    if (const auto txn = decoding.line(line, "0/15A")) txns.push_back(as_text(*txn));
  EXPECT_EQ(txns, (Texts{"3-17: 7=42 8=43", "739: 7=null"}));
  EXPECT_EQ(decoding.message(), "end 0/1");
}

TEST(TestDecoding, ListsAndCells) {
  EXPECT_EQ(
      read(
          {"BEGIN 1", "table public.assay_list: INSERT: k[character varying]:'1:3' v[text]:'5'",
           "COMMIT 1", "BEGIN 2",
           "table public.assay_list: UPDATE: k[character varying]:'1:3' v[text]:'5,6,\"a%cb'",
           "COMMIT 2", "BEGIN 3",
           "table public.assay_user: INSERT: k[character varying]:'9' name[text]:'1' "
           "age[text]:null",
           "table public.assay_user: UPDATE: k[character varying]:'9' name[text]:'1' age[text]:'2'",
           "table public.assay_user: UPDATE: k[character varying]:'9' name[text]:null "
           "age[text]:unchanged-toast-datum",
           "COMMIT 3"}),
      (Texts{"1: 3=5", "2: 3=6 3=a,b", "3: user:9:name=1 user:9:age=2 user:9:name=null"}));
}

TEST(TestDecoding, AKeyThatChanged) {
  EXPECT_EQ(read({"BEGIN 1",
                  "table public.assay_kv: UPDATE: old-key: k[character varying]:'1:3' new-tuple: "
                  "k[character varying]:'1:4' v[text]:'5'",
                  "COMMIT 1"}),
            (Texts{"1: 4=5"}));
}

}  // namespace
}  // namespace assay::internal::evidence
