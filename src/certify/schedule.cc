// The file of schedules: the fields of each object, which are read and written by one description. Format:
// docs/formats/certificate.md. Strict: what is not described there is an error with its line and column.
#include "certify/schedule.h"

#include <algorithm>
#include <array>

#include "certify/json_cursor.h"

namespace assay::internal::certify {
namespace {

constexpr std::array<std::string_view, kIsolationCount> kIsolations = {
    "read-committed", "innodb-repeatable-read", "prefix", "snapshot-isolation", "ssi"};
constexpr std::array<std::string_view, 2> kEvents = {"step", "commit"};

template <class Json>
class ScheduleFields {
 public:
  ScheduleFields(Json& json, const History& history) : json_(json), history_(history) {}

  void file(auto& schedules) {
    uint32_t version = 1;
    std::string hash = Json::kReads ? std::string() : history_.content_hash();
    const auto this_version = [&] {
      json_.index(version);
      if (version != 1) json_.fail("expected version 1 of the certificate format");
    };
    const auto this_history = [&] {
      json_.string(hash);
      if (Json::kReads && hash != history_.content_hash())
        json_.fail("the certificate is about another history: it names " + hash + ", this one is " +
                   history_.content_hash());
    };
    const auto all = [&] {
      json_.array(
          schedules, [&](auto& s) { schedule(s); }, "\n", "\n");
    };
    json_.object(kOneKind, "a file of schedules needs assay_certificate, history and schedules",
                 Field("assay_certificate", this_version), Field("history", this_history),
                 Field("schedules", all));
  }

 private:
  void schedule(auto& s) {
    const auto members = [&] { json_.array(s.members, [&](auto& m) { member(m); }); };
    const auto events = [&] {
      json_.array(s.events, [&](auto& e) {
        json_.pair([&] { word(e.what, kEvents); }, [&] { json_.index(e.member); },
                   "an event is what happens and the place of its transaction in the list");
      });
    };
    const auto cycle = [&] { json_.array(s.cycle, [&](auto& m) { json_.index(m); }); };
    json_.object(kOneKind, "a schedule needs transactions, events and cycle",
                 Field("transactions", members), Field("events", events), Field("cycle", cycle));
  }

  void member(auto& m) {
    json_.object(kOneKind, "a transaction of a schedule needs txn and isolation",
                 Field("txn", [&] { json_.index(m.txn); }),
                 Field("isolation", [&] { word(m.isolation, kIsolations); }));
  }

  // One of an enumeration's names, in the order of its values.
  template <class Value, size_t N>
  void word(Value& value, const std::array<std::string_view, N>& names) {
    std::string name(names[std::min(static_cast<size_t>(value), N - 1)]);
    json_.string(name);
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return json_.fail("unknown word \"" + name + "\"");
    json_.set(value, static_cast<std::remove_const_t<Value>>(found - names.begin()));
  }

  Json& json_;
  const History& history_;
};

}  // namespace

std::string_view isolation_name(Isolation isolation) {
  return kIsolations[static_cast<size_t>(isolation)];
}

std::optional<Isolation> find_isolation(std::string_view name) {
  const auto found = std::ranges::find(kIsolations, name);
  if (found == kIsolations.end()) return std::nullopt;
  return static_cast<Isolation>(found - kIsolations.begin());
}

bool holds_schedules(std::string_view json) {
  // The field precedes the long part, and a hash cannot contain its name.
  constexpr size_t kHead = 200;
  return json.substr(0, kHead).find("\"schedules\"") != std::string_view::npos;
}

std::string write_schedules(const std::vector<Schedule>& schedules, const History& history) {
  JsonWriter out;
  ScheduleFields(out, history).file(schedules);
  return out.take() + '\n';
}

Result<std::vector<Schedule>> read_schedules(std::string_view json, const History& history,
                                             const std::string& name) {
  JsonCursor in(json);
  std::vector<Schedule> schedules;
  ScheduleFields(in, history).file(schedules);
  in.end();
  if (in.ok()) return schedules;
  Error error = in.error();
  error.file = name;
  return error;
}

}  // namespace assay::internal::certify
