// The file of predictions: the fields of each object, which are read and written by one
// description. Format: docs/formats/certificate.md. Strict: an undocumented field is an error with
// its line and column.
#include "certify/predictions.h"

#include <algorithm>
#include <array>

#include "certify/certificate_list.h"
#include "certify/json_cursor.h"

namespace assay::internal::certify {
namespace {

constexpr std::array<std::string_view, 3> kEvents = {"step", "commit", "begin"};
constexpr std::array<std::string_view, 3> kEnds = {"any", "first", "last"};
constexpr std::array<std::string_view, 3> kBecause = {"empty", "nobody-closes", "apart"};

template <class Json>
class PredictionFields {
 public:
  PredictionFields(Json& json, const History& history) : json_(json), history_(history) {}

  void file(auto& predictions) {
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
    const auto all = [&](auto& items, auto one) {
      return [this, &items, one] { json_.array(items, one, "\n", "\n"); };
    };
    const bool holds = !predictions.holds.empty(), executions = !predictions.executions.empty();
    json_.object(
        kOneKind, "a file of predictions needs assay_certificate and history",
        Field("assay_certificate", this_version), Field("history", this_history),
        Field("schedules", all(predictions.schedules, [&](auto& s) { schedule(s); }))
            .allowed_in(!(holds || executions) || !predictions.schedules.empty()),
        Field("holds", all(predictions.holds, [&](auto& r) { robustness(r); })).allowed_in(holds),
        Field("executions", all(predictions.executions, [&](auto& e) { execution(e); }))
            .allowed_in(executions));
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
    json_.object(kOneKind, "a schedule needs transactions, events and cycle",
                 Field("transactions", members), Field("events", events),
                 Field("cycle", indices(s.cycle)));
  }

  void member(auto& m) {
    json_.object(kOneKind, "a transaction of a schedule needs txn and isolation",
                 Field("txn", [&] { json_.index(m.txn); }),
                 Field("isolation", [&] { isolation(m.isolation); }));
  }

  void robustness(auto& r) {
    const auto programs = [&] { json_.array(r.programs, [&](auto& p) { program(p); }); };
    const auto transactions = [&] {
      json_.array(
          r.transactions, [&](auto& t) { uncut(t); }, "\n ");
    };
    json_.object(kOneKind, "what holds needs programs and transactions",
                 Field("programs", programs), Field("transactions", transactions));
  }

  void program(auto& p) {
    json_.object(kOneKind, "a program needs name, isolation and holds",
                 Field("name", [&] { json_.string(p.name); }),
                 Field("isolation", [&] { isolation(p.isolation); }),
                 Field("holds", [&] { json_.flag(p.holds); }));
  }

  void uncut(auto& t) {
    const auto cuts = [&] { json_.array(t.cuts, [&](auto& c) { cut(c); }); };
    json_.object(kOneKind, "transactions that hold need txns and cuts",
                 Field("txns", indices(t.txns)), Field("cuts", cuts));
  }

  void cut(auto& c) {
    const bool reaches = c.because == Because::apart;
    const uint32_t there = json_.object(
        kOneKind, "a cut needs after and because", Field("after", [&] { json_.index(c.after); }),
        Field("below_ssi", [&] { word(c.ends, kEnds); }).allowed_in(c.ends != Ends::any),
        Field("because", [&] { word(c.because, kBecause); }),
        Field("reached", indices(c.reached)).allowed_in(reaches));
    if (((there & kReached) != 0) != (c.because == Because::apart))
      json_.fail("reached is only for apart");
  }
  static constexpr uint32_t kReached = 1u << 3;  // the last field of a cut

  // The certificates are about the execution, so the cuts have to be read first.
  void execution(auto& e) {
    bool has_cuts = false;
    const auto cuts = [&] {
      json_.array(e.boundary.cuts, [&](auto& c) { boundary_cut(c); });
      has_cuts = true;
    };
    const auto certificates = [&] {
      if (!has_cuts) return json_.fail("the cuts of an execution precede its certificates");
      const auto executed = execute_boundary(e.boundary, history_);
      if (!executed.ok()) return json_.fail(executed.error().message);
      if constexpr (Json::kReads)
        read_list(json_, e.certificates, *executed);
      else
        write_list(json_, e.certificates, *executed);
    };
    json_.object(kOneKind, "an execution needs level, cuts and certificates",
                 Field("level", [&] { weak_level(e.level); }), Field("cuts", cuts),
                 Field("certificates", certificates));
  }

  void boundary_cut(auto& c) {
    const auto sources = [&] { json_.array(c.sources, [&](auto& s) { source(s); }); };
    json_.object(kOneKind, "a transaction that is cut needs txn, operations and sources",
                 Field("txn", [&] { json_.index(c.txn); }),
                 Field("operations", [&] { json_.index(c.operations); }),
                 Field("sources", sources));
  }

  void source(auto& s) {
    json_.object(kOneKind, "a read that changes needs op and source",
                 Field("op", [&] { json_.index(s.op); }),
                 Field("source", [&] { json_.index_or_null(s.source); }));
  }

  auto indices(auto& list) {
    return [this, &list] { json_.array(list, [this](auto& i) { json_.index(i); }); };
  }

  void isolation(auto& value) {
    std::string name(isolation_name(value));
    json_.string(name);
    const auto found = find_isolation(name);
    if (!found) return json_.fail("unknown word \"" + name + "\"");
    json_.set(value, *found);
  }

  void weak_level(auto& value) {
    std::string name(level_info(value).name);
    json_.string(name);
    for (const LevelId level : {LevelId::causal, LevelId::read_committed})
      if (level_info(level).name == name) return json_.set(value, level);
    json_.fail("unknown word \"" + name + "\"");
  }

  // Reads or writes one of an enumeration's names, in the order of its values.
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

bool holds_predictions(std::string_view json) {
  // One of the fields precedes the long part, and a hash cannot contain its name.
  constexpr size_t kHead = 200;
  const auto begins = [&](std::string_view field) {
    return json.substr(0, kHead).find(field) != std::string_view::npos;
  };
  return begins("\"schedules\"") || begins("\"executions\"") ||
         (begins("\"holds\"") && !begins("\"certificates\""));
}

std::string write_predictions(const Predictions& predictions, const History& history) {
  JsonWriter out;
  PredictionFields(out, history).file(predictions);
  return out.take() + '\n';
}

Result<Predictions> read_predictions(std::string_view json, const History& history,
                                     const std::string& name) {
  JsonCursor in(json);
  Predictions predictions;
  PredictionFields(in, history).file(predictions);
  in.end();
  if (in.ok()) return predictions;
  Error error = in.error();
  error.file = name;
  return error;
}

}  // namespace assay::internal::certify
