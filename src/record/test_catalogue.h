// A catalogue for tests, without a database.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "record/catalogue.h"

namespace assay::internal::record {

// Answers what a catalogue asks.
class ToldCatalogue : public evidence::PostgresqlSlot {
 public:
  Status start() override { return Ok{}; }
  Status resume() override { return Ok{}; }
  Status read(const std::function<bool(std::string_view, std::string_view)>&) override {
    return Ok{};
  }
  Result<std::string> mark() override { return std::string(); }
  Status reconnect() override { return Ok{}; }
  std::string host() const override { return ""; }
  uint16_t port() const override { return 0; }
  std::string database() const override { return ""; }
  std::string setting(std::string_view) const override { return ""; }
  bool encrypted() const override { return false; }

  Result<Rows> ask(const std::string& sql) override {
    if (sql.find("pg_proc") != std::string::npos)
      return Rows{{"count", "t", "f"}, {"sum", "t", "f"}, {"transfer", "f", "t"}};
    const auto relation = [](int oid, const char* schema, const char* name, const char* kind,
                             const char* persistence, const char* key) {
      return std::vector<std::string>{
          "{\"oid\":" + std::to_string(oid) + ",\"schema\":\"" + schema + "\",\"name\":\"" + name +
          "\",\"kind\":\"" + kind + "\",\"persistence\":\"" + persistence +
          "\",\"root_schema\":\"" + schema + "\",\"root\":\"" + name + "\",\"logged\":\"" + schema +
          "." + name + "\",\"key\":" + key +
          ",\"numbers\":[\"id\",\"v\",\"a\"],\"texts\":[\"who\"],\"whole\":true}"};
    };
    return Rows{relation(1, "public", "t", "r", "p", "[\"id\"]"),
                relation(2, "public", "u", "r", "p", "[\"a\",\"B\"]"),
                relation(3, "public", "v", "v", "p", "null"),
                relation(4, "public", "nokey", "r", "p", "null"),
                relation(5, "public", "unlogged", "r", "u", "[\"id\"]"),
                relation(6, "public", "secret", "r", "p", "[\"id\"]"),
                relation(7, "public", "twice", "r", "p", "[\"id\"]"),
                relation(8, "other", "twice", "r", "p", "[\"id\"]")};
  }
};

// Tables t and u, and some that are not recorded; a function of a user's.
inline std::shared_ptr<const Catalogue> test_catalogue() {
  ToldCatalogue told;
  return std::make_shared<Catalogue>(std::move(*Catalogue::read(told)));
}

}  // namespace assay::internal::record
