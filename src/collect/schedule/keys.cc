// Statements of a few forms, on one table of two columns, as calls of a driver that has no SQL.
//
//   create table test (id int primary key, value int)      the names of keys and values
//   insert into test values (1, 10), (2, 20)               insert 1, 2
//   select * from test where id = 1                        read 1
//   select * from test where value between 10 and 19       a range of all keys with these values
//   update test set value = 11 where id = 1                write 1
//   update test set value = 12 where id = 1 and value = 11 compare and set 1
//   delete from test where id = 1                          remove 1
//
// A statement outside of a transaction is one by itself. Once the database has refused something,
// nothing is done until the transaction's end, as in PostgreSQL. Reads and writes are reported in
// notices like those of the triggers on PostgreSQL (observing.cc).
//
// Cost: that of the calls.
#include "collect/schedule/keys.h"

#include <fmt/format.h>

#include <charconv>

#include "base/json.h"
#include "collect/schedule/statements.h"

namespace assay::internal::collect::schedule {
namespace {

// Reads the words of one statement from left to right.
class KeyReader {
 public:
  KeyReader(std::string_view statement, const KeyTable& table, const Driver& driver)
      : words_(words_of(statement)), table_(table), driver_(driver) {}

  std::optional<KeyStatement> run() {
    KeyStatement s;
    if (!form(s) || at_ < words_.size()) return std::nullopt;
    return s;
  }

 private:
  bool form(KeyStatement& s) {
    using What = KeyStatement::What;
    if (take({"create"}) || take({"drop"})) {
      at_ = words_.size();
      return true;
    }
    for (const auto& [word, what] : {std::pair{"begin", What::begin},
                                     {"start", What::begin},
                                     {"commit", What::commit},
                                     {"rollback", What::abort}})
      if (take({word})) {
        take({"transaction"});
        s.what = what;
        return true;
      }
    s.what = What::operations;
    if (take({"select"})) return select(s.requests);
    if (take({"insert", "into"})) return insert(s.requests);
    if (take({"update"})) return update(s.requests);
    return take({"delete", "from"}) && remove(s.requests);
  }

  bool take(std::initializer_list<std::string_view> texts) {
    size_t next = at_;
    for (const std::string_view text : texts)
      if (next == words_.size() || words_[next++].text != text) return false;
    at_ = next;
    return true;
  }
  bool take_constant(Value& value) {
    if (at_ == words_.size()) return false;
    const Word& w = words_[at_++];
    if (w.kind == Word::Kind::text) value = Value::of(w.text);
    if (w.kind == Word::Kind::text || w.text == "null") return true;
    int64_t number = 0;
    const char* const end = w.text.data() + w.text.size();
    const auto [stop, error] = std::from_chars(w.text.data(), end, number);
    if (w.kind != Word::Kind::number || stop != end || error != std::errc{}) return false;
    value = Value::of(number);
    return true;
  }
  bool take_key(Request& r) { return take({"where", table_.key, "="}) && take_constant(r.key); }

  bool select(std::vector<Request>& requests) {
    if (!take({"*"}) && !take({table_.key, ",", table_.value}) && !take({table_.value}) &&
        !take({table_.key}))
      return false;
    if (!take({"from", table_.name})) return false;
    Request r{.kind = OpKind::range};
    if (take({"where", table_.key, "="})) {
      r.kind = OpKind::read;
      if (!take_constant(r.key)) return false;
    } else if (take({"where", table_.value, "between"}) &&
               !(take_constant(r.least) && take({"and"}) && take_constant(r.most))) {
      return false;
    }
    return add(requests, r);
  }
  bool insert(std::vector<Request>& requests) {
    if (!take({table_.name})) return false;
    take({"(", table_.key, ",", table_.value, ")"});
    if (!take({"values"})) return false;
    do {
      Request r{.kind = driver_.supports(OpKind::insert) ? OpKind::insert : OpKind::write};
      if (!take({"("}) || !take_constant(r.key) || !take({","}) || !take_constant(r.value) ||
          !take({")"}))
        return false;
      // A row without a value is like no row.
      if (!r.value.is_null() && !add(requests, r)) return false;
    } while (take({","}));
    return true;
  }
  bool update(std::vector<Request>& requests) {
    Request r{.kind = OpKind::write};
    if (!take({table_.name, "set", table_.value, "="}) || !take_constant(r.value) || !take_key(r))
      return false;
    if (take({"and", table_.value, "="})) {
      r.kind = OpKind::cas;
      if (!take_constant(r.expected)) return false;
    }
    return !r.value.is_null() && add(requests, r);
  }
  bool remove(std::vector<Request>& requests) {
    Request r{.kind = OpKind::remove, .value = Value::of(std::string("deleted"))};
    return take({table_.name}) && take_key(r) && add(requests, r);
  }
  bool add(std::vector<Request>& requests, const Request& r) {
    requests.push_back(r);
    return driver_.supports(r.kind) && (!r.selects() || driver_.supports_conditions());
  }

  std::vector<Word> words_;
  size_t at_ = 0;
  const KeyTable& table_;
  const Driver& driver_;
};

class SpeakingSession : public DriverSession {
 public:
  SpeakingSession(std::unique_ptr<DriverSession> session, KeyTable table, const Driver& driver)
      : session_(std::move(session)), table_(std::move(table)), driver_(driver) {}

  CallResult begin() override { return session_->begin(); }
  CallResult call(const Request& request, Reply& reply) override {
    return session_->call(request, reply);
  }
  CallResult commit() override { return session_->commit(); }
  CallResult abort() override { return session_->abort(); }
  uint64_t backend() const override { return session_->backend(); }

  Status speak(std::span<const std::string> statements, std::vector<Spoken>& answers) override {
    for (const std::string& sql : statements) {
      Spoken& spoken = answers.emplace_back();
      const CallResult result = speak(sql, spoken);
      if (!result.ok()) spoken.error = result.message;
      spoken.open = open_;
      if (result.outcome == CallOutcome::unknown) {
        answers.pop_back();
        return io_error(result.message);
      }
      if (!result.ok()) break;
    }
    return Ok{};
  }

 private:
  CallResult speak(const std::string& sql, Spoken& spoken) {
    using What = KeyStatement::What;
    const auto statement = KeyReader(sql, table_, driver_).run();
    if (!statement) return CallResult::fatal("not understood");
    const bool ends = statement->what == What::commit || statement->what == What::abort;
    if (refused_ && !ends) return CallResult::aborted("the transaction is refused until its end");
    switch (statement->what) {
      case What::nothing:
        return {};
      case What::begin:
        return open_ ? CallResult{} : open();
      case What::commit:
      case What::abort:
        return end(statement->what == What::commit, spoken);
      case What::operations:
        break;
    }
    const bool alone = !open_;
    if (alone)
      if (CallResult begun = open(); !begun.ok()) return begun;
    for (const Request& r : statement->requests)
      if (CallResult done = perform(r, spoken); !done.ok()) {
        refused_ = open_ = !alone;
        return done;
      }
    return alone ? end(true, spoken) : CallResult{};
  }

  CallResult open() {
    CallResult result = session_->begin();
    open_ = result.ok();
    return result;
  }
  CallResult end(bool commits, Spoken& spoken) {
    const bool was_open = std::exchange(open_, false);
    if (std::exchange(refused_, false) || !commits) spoken.tag = "ROLLBACK";
    if (!was_open || gone_) return {};
    if (commits && spoken.tag.empty()) return session_->commit();
    session_->abort();
    return {};
  }

  CallResult perform(const Request& r, Spoken& spoken) {
    Reply reply;
    CallResult result = session_->call(r, reply);
    gone_ = !result.ok();  // and the transaction with it
    if (!result.ok()) return result;
    if (r.kind == OpKind::insert && !reply.effect) {
      session_->abort();
      gone_ = true;
      return CallResult::aborted("duplicate key");
    }
    const Json none = nullptr;
    if (r.kind == OpKind::write || r.kind == OpKind::insert)
      tell_change("U", none, row(r.key, r.value), spoken);
    if (r.kind == OpKind::cas && reply.effect)
      tell_change("U", row(r.key, r.expected), row(r.key, r.value), spoken);
    if (r.kind == OpKind::remove && reply.effect) tell_change("D", row(r.key, {}), none, spoken);
    if (changes_data(r.kind)) return result;
    spoken.columns = {table_.key, table_.value};
    if (r.kind == OpKind::read && !reply.value.is_null()) reply.rows = {{r.key, reply.value}};
    for (const auto& [key, value] : reply.rows) {
      spoken.rows.push_back({key.view().to_string(), value.view().to_string()});
      tell(Json::array({Json::array({table_.name, none, none, row(key, value)})}), spoken);
    }
    return result;
  }

  Json row(const Value& key, const Value& value) const {
    const auto json = [](const Value& v) {
      return v.is_null() ? Json() : v.is_integer() ? Json(v.integer) : Json(v.text);
    };
    Json out = Json::object();
    out[table_.key] = json(key);
    out[table_.value] = json(value);
    return out;
  }
  void tell_change(const char* what, const Json& before, const Json& after, Spoken& spoken) const {
    const Json none = nullptr;
    tell(Json::array({what, table_.name, none, none, before, none, none, after}), spoken);
  }
  static void tell(const Json& what, Spoken& spoken) {
    spoken.notices.push_back("INFO:  assay " + what.dump());
  }

  std::unique_ptr<DriverSession> session_;
  KeyTable table_;
  const Driver& driver_;
  bool open_ = false;
  bool refused_ = false;  // whether the open transaction has been refused
  bool gone_ = false;     // whether it is gone in the database
};

// Parses create table NAME (KEY …, VALUE …).
std::optional<KeyTable> made_table(std::string_view statement) {
  const std::vector<Word> words = words_of(statement);
  if (words.size() < 6 || words[0].text != "create" || words[1].text != "table") return {};
  KeyTable table{.name = words[2].text, .key = words[4].text, .value = {}};
  for (size_t i = 5; i + 1 < words.size(); ++i)
    if (words[i].text == "," && words[i].depth == words[4].depth) {
      if (!table.value.empty()) return {};
      table.value = words[i + 1].text;
    }
  return table.value.empty() ? std::nullopt : std::optional(table);
}

}  // namespace

Result<KeyTable> key_table(const File& file, const Driver& driver) {
  std::vector<std::pair<std::string_view, int>> all;
  KeyTable table;
  for (const std::string& setup : file.setup)
    for (const std::string_view s : statements_of(setup)) {
      all.emplace_back(s, 1);
      if (const auto made = made_table(s); made) table = *made;
    }
  for (const Session& session : file.sessions)
    for (const std::string_view s : statements_of(session.setup)) all.emplace_back(s, 1);
  for (const Step& step : file.steps)
    for (const std::string_view s : statements_of(step.sql)) all.emplace_back(s, step.line);
  for (const auto& [s, line] : all)
    if (!KeyReader(s, table, driver).run())
      return Error{ErrorKind::bad_input,
                   fmt::format("this database cannot play '{}'; expected one table of two columns, "
                               "begin, commit and rollback, and statements such as select, insert, "
                               "update and delete by key",
                               s),
                   file.path, static_cast<uint64_t>(line), 1};
  return table;
}

std::unique_ptr<DriverSession> speaking(std::unique_ptr<DriverSession> session, KeyTable table,
                                        const Driver& driver) {
  return std::make_unique<SpeakingSession>(std::move(session), std::move(table), driver);
}

}  // namespace assay::internal::collect::schedule
