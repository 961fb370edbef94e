// Follows one connection. Each message of the client that will be answered is put into a queue, and
// what the server sends belongs to the first in it; so any number of them may be under way.
//
//   client                        server                                             client
//   Query SELECT a FROM t     →   Query SELECT a, ROW(…) FROM t RowDescription 2, DataRow (1,
//                                 "(16385,731,7)")  →  RowDescription 1, DataRow (1)
//   Execute COMMIT            →   Close, Parse, Bind, Execute of the number, Execute COMMIT …,
//                                 DataRow ("740"), CommandComplete COMMIT      →  CommandComplete
//                                 COMMIT
//
// The number of a transaction is asked for with the message that ends it, so no answer is waited
// for that the client does not wait for; and only where it is certain that a transaction is open
// that has not failed, since the question would fail then, and everything behind it. After an error
// the server skips all until the next Sync, and so does the queue.
//
// What a FETCH or an EXECUTE returns is known by the name that it uses, when it is answered:
// DECLARE and PREPARE before it are then. The rows of a cursor, and of a portal that is executed
// little by little, are all of the statement behind it.
//
// Unknown messages go through unchanged. Source: PostgreSQL's manual, 55 (frontend/backend
// protocol).
#include "record/conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "collect/schedule/observing.h"
#include "formats/json_text.h"

namespace assay::internal::record {
namespace {

constexpr std::string_view kNumber =
    "SELECT pg_catalog.pg_current_xact_id_if_assigned()::pg_catalog.text, "
    "pg_catalog.current_setting('transaction_isolation')";
constexpr std::string_view kName = "assay_number";  // of the statement and its portal
constexpr size_t kMostRowsOfALine = 10'000;
constexpr size_t kMostRowBytes = 3 << 20;  // of a line, before the marks of JSON
constexpr size_t kMostValueBytes = 200;

bool changes_rows(Part::Kind kind) {
  return kind == Part::Kind::insert || kind == Part::Kind::update || kind == Part::Kind::remove ||
         kind == Part::Kind::merge;
}
bool is_by_name(const Part* part) {
  return part != nullptr && (part->kind == Part::Kind::execute || part->kind == Part::Kind::fetch);
}
bool ends(Part::Kind kind) { return kind == Part::Kind::commit || kind == Part::Kind::prepare; }

// In characters.
size_t length_of(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

bool Conversation::begin_startup() {
  for (;;) {
    const auto found = read_startup(startup_);
    if (!found) return true;
    switch (found->kind) {
      case Startup::Kind::tls:
        if (around_.encrypts) {
          // The bytes that came with it were not encrypted, and may be from anybody.
          if (encrypted_ || startup_.size() > found->size) return false;
          to_client += 'S';
          startup_.clear();
          encrypting_ = encrypted_ = true;
          return true;
        }
        [[fallthrough]];
      case Startup::Kind::gss:  // not here
        to_client += 'N';
        startup_.erase(0, found->size);
        continue;
      case Startup::Kind::other:
        return false;
      case Startup::Kind::cancel:
        stage_ = Stage::passing;
        break;
      case Startup::Kind::start:
        user_ = found->user;
        stage_ = found->replicates || found->database != around_.database ? Stage::passing
                                                                          : Stage::recorded;
        break;
    }
    if (stage_ == Stage::recorded) {
      Json line = Json::object();
      line["s"] = number_;
      line["open"] = around_.now();
      line["user"] = found->user;
      line["program"] = found->program;
      around_.trace->write(line);
    }
    to_server += startup_.substr(0, found->size);
    return from_client(std::exchange(startup_, {}).substr(found->size));
  }
}

bool Conversation::from_client(std::string_view bytes) {
  if (stage_ == Stage::startup) {
    startup_ += bytes;
    return begin_startup();
  }
  if (stage_ == Stage::passing) {
    to_server += bytes;
    return true;
  }
  return client_.feed(
      bytes, to_server,
      [](char type) { return std::string_view("QPBDECSFcf").find(type) != std::string_view::npos; },
      [this](char type, std::string_view body) { return take_from_client(type, body); });
}

bool Conversation::from_server(std::string_view bytes) {
  return server_.feed(
      bytes, to_client,
      [this](char type) {
        return type == 'R' || (stage_ == Stage::recorded && wants_from_server(type));
      },
      [this](char type, std::string_view body) { return take_from_server(type, body); });
}

bool Conversation::take_from_client(char type, std::string_view body) {
  switch (type) {
    case 'Q':
      query(body);
      return true;
    case 'P':
      parse(body);
      return true;
    case 'B':
      bind(body);
      return true;
    case 'D':
      describe(body);
      return true;
    case 'E':
      execute(body);
      return true;
    case 'S':
      sync();
      return true;
    case 'C': {
      const std::string_view name = Fields(body.substr(std::min<size_t>(1, body.size()))).text();
      if (!skipping_ && body.starts_with('S')) statements_.erase(std::string(name));
      if (!skipping_ && body.starts_with('P')) portals_.erase(std::string(name));
      expect({.kind = Expected::Kind::close});
      break;
    }
    case 'F':
      may_write_ = true;
      expect({.kind = Expected::Kind::call});
      break;
    default:  // the end of copied data
      expect({.kind = Expected::Kind::copied});
      break;
  }
  put_message(to_server, type, body);
  return true;
}

// Messages of the extended protocol, except Close: a Sync ends their sequence.
bool Conversation::is_extended(Expected::Kind kind) {
  using Kind = Expected::Kind;
  return kind == Kind::parse || kind == Kind::bind || kind == Kind::describe ||
         kind == Kind::execute || kind == Kind::number;
}

void Conversation::expect(Expected e) {
  if (skipping_ && e.kind != Expected::Kind::sync) return;
  skipping_ = false;
  batch_.only_closes = batch_.only_closes && !is_extended(e.kind);
  e.sent = around_.now();
  expected_.push_back(std::move(e));
}

// The first that is expected and may change whether a transaction is open. Clients drop a statement
// that they prepared without waiting for the answer, by Close and Sync: that changes nothing. The
// end of copied data is answered with its statement.
auto Conversation::first_of_consequence() const {
  using Kind = Expected::Kind;
  return std::ranges::find_if_not(expected_, [](const Expected& e) {
    return e.kind == Kind::close || e.kind == Kind::copied ||
           (e.kind == Kind::sync && e.only_closes);
  });
}

// Nothing that is under way will change it.
bool Conversation::is_idle() const {
  return started_ && !skipping_ && first_of_consequence() == expected_.end();
}

// No pending message will change the state, except those sent since the last Sync.
bool Conversation::knows_state() const {
  return started_ && !skipping_ &&
         std::none_of(first_of_consequence(), expected_.end(), [](const Expected& e) {
           return e.kind == Expected::Kind::query || e.kind == Expected::Kind::sync ||
                  e.kind == Expected::Kind::call;
         });
}

Conversation::Prepared Conversation::understand(std::string_view sql) {
  return {around_.rewriter(user_).plan(sql),
          redefines_ ? "tables were changed in this transaction" : untouched_};
}

std::string_view Conversation::text_to_send(const Prepared& of, std::string_view sql) {
  return of.untouched.empty() && !of.plan->sql.empty() ? of.plan->sql : sql;
}

void Conversation::query(std::string_view body) {
  const std::string_view sql = Fields(body).text();
  Expected e{.kind = Expected::Kind::query, .of = understand(sql)};
  const Plan& plan = *e.of.plan;
  const bool alone = plan.parts.size() == 1;
  if (alone && ends(plan.parts[0].kind) && status_ == 'T' && may_write_ && is_idle()) {
    expect({.kind = Expected::Kind::number_query});
    std::string question;
    put_text(question, kNumber);
    put_message(to_server, 'Q', question);
  }
  for (const Part& part : plan.parts) {
    may_write_ = may_write_ || part.may_write;
    make_plain(part, false);
  }
  const std::string_view text = text_to_send(e.of, sql);
  if (alone && status_ == 'I' && is_idle()) {
    const Source source = source_of(e);
    e.with_number = source.part() != nullptr && changes_rows(source.part()->kind);
  }
  const bool asks = e.with_number;
  std::string sent;
  if (asks || text.data() != sql.data()) {
    sent = text;
    put_text(sent, asks ? fmt::format("\n;{}", kNumber) : "");
  }
  expect(std::move(e));
  put_message(to_server, 'Q', sent.empty() ? body : sent);
}

void Conversation::parse(std::string_view body) {
  Fields fields(body);
  const std::string_view name = fields.text(), sql = fields.text();
  const Prepared of = understand(sql);
  const std::string_view text = text_to_send(of, sql);
  std::string sent;
  if (text.data() != sql.data()) {
    put_text(sent, name);
    put_text(sent, text);
    sent += fields.rest();
  }
  if (!skipping_) {
    Expected e{.kind = Expected::Kind::parse, .name = std::string(name)};
    if (const auto at = statements_.find(name); at != statements_.end()) e.before = at->second;
    statements_[std::string(name)] = e.of = of;
    expect(std::move(e));
  }
  put_message(to_server, 'P', sent.empty() ? body : sent);
}

void Conversation::bind(std::string_view body) {
  const auto message = read_bind(body);
  Portal portal;
  bool more = false;
  if (message) {
    if (const auto at = statements_.find(message->statement); at != statements_.end())
      portal.of = at->second;
    for (size_t i = 0; i < message->values.size(); ++i) {
      const auto& value = message->values[i];
      const bool shown = value && !message->binary[i] && value->size() <= kMostValueBytes;
      portal.values.push_back(shown ? Json(*value) : value ? Json(false) : Json());
    }
    const Expected executed{.of = portal.of};
    const Source source = source_of(executed, true);
    more = source.part() != nullptr && source.untouched->empty() && source.part()->tells;
    if (!skipping_) portals_[std::string(message->portal)] = std::move(portal);
  }
  expect({.kind = Expected::Kind::bind});
  put_message(to_server, 'B', more ? std::string_view(message->one_more) : body);
}

void Conversation::describe(std::string_view body) {
  Expected e{.kind = Expected::Kind::describe};
  const std::string_view name = Fields(body.substr(std::min<size_t>(1, body.size()))).text();
  if (body.starts_with('S')) {
    if (const auto at = statements_.find(name); at != statements_.end()) e.of = at->second;
  } else if (const auto at = portals_.find(name); at != portals_.end()) {
    e.of = at->second.of;
  }
  expect(std::move(e));
  put_message(to_server, 'D', body);
}

void Conversation::execute(std::string_view body) {
  Expected e{.kind = Expected::Kind::execute};
  Fields fields(body);
  if (const auto at = portals_.find(fields.text()); at != portals_.end()) {
    e.of = at->second.of;
    e.values = at->second.values;
    const Part* const part = part_of(e);
    const bool slowly = fields.int32() != 0 || at->second.begun,
               numbered = part != nullptr && part->kind == Part::Kind::select && !part->is_late;
    e.partly = slowly && !numbered;
    if (slowly && numbered) {
      if (!at->second.begun) at->second.cursor = ++cursors_;
      e.cursor = at->second.cursor;
    }
    at->second.begun = true;
  }
  const Part* const part = part_of(e);
  if (part != nullptr) make_plain(*part, true);
  const bool open = status_ == 'T' || batch_.begins;
  if (part != nullptr && ends(part->kind) && open && !batch_.ends && may_write_ && knows_state())
    ask(std::string(kNumber));
  may_write_ = may_write_ || part == nullptr || part->may_write;
  batch_.begins = batch_.begins || (part != nullptr && part->kind == Part::Kind::begin);
  batch_.ends =
      batch_.ends || (part != nullptr && (ends(part->kind) || part->kind == Part::Kind::rollback));
  batch_.writes = batch_.writes || (part != nullptr && changes_rows(part->kind));
  batch_.other = batch_.other || part == nullptr ||
                 (!changes_rows(part->kind) && part->kind != Part::Kind::select);
  expect(std::move(e));
  put_message(to_server, 'E', body);
}

void Conversation::sync() {
  if (status_ == 'I' && batch_.writes && !batch_.other && knows_state()) ask(std::string(kNumber));
  expect({.kind = Expected::Kind::sync, .only_closes = batch_.only_closes});
  batch_ = {};
  put_message(to_server, 'S', "");
}

// By a statement and a portal that the client does not use, which are made anew each time: it may
// drop all there are.
void Conversation::ask(const std::string& sql, const std::string& anew) {
  std::string body;
  for (const char of : {'S', 'P'}) {
    body = of;
    put_text(body, kName);
    put_message(to_server, 'C', body);
  }
  body.clear();
  put_text(body, kName);
  put_text(body, sql);
  put_int16(body, 0);
  put_message(to_server, 'P', body);
  body.clear();
  put_text(body, kName);
  put_text(body, kName);
  for (int i = 0; i < 3; ++i) put_int16(body, 0);
  put_message(to_server, 'B', body);
  body.clear();
  put_text(body, kName);
  put_int32(body, 0);
  put_message(to_server, 'E', body);
  expect({.kind = Expected::Kind::number, .name = anew});
}

// CREATE TABLE AS EXECUTE and EXPLAIN EXECUTE would show our column: the statement is prepared anew
// as the client has it, in front of them.
void Conversation::make_plain(const Part& part, bool extended) {
  const auto at = part.plainly.empty() ? statements_.end() : statements_.find(part.plainly);
  if (at == statements_.end() || skipping_ || !at->second.untouched.empty()) return;
  const Source known = named_by(part, false);
  if (known.part() == nullptr || !known.part()->tells) return;
  const std::string name = collect::schedule::in_quotes(part.plainly, '"'),
                    drop = fmt::format("DEALLOCATE {}", name),
                    prepare = at->second.by_sql.empty()
                                  ? fmt::format("PREPARE {} AS {}", name, known.part()->sql)
                                  : at->second.by_sql;
  if (extended) {
    ask(drop, part.plainly);
    ask(prepare, part.plainly);
  } else {
    expect({.kind = Expected::Kind::number_query, .name = part.plainly});
    std::string both;
    put_text(both, fmt::format("{};\n{}", drop, prepare));
    put_message(to_server, 'Q', both);
  }
  at->second.untouched = "prepared for EXPLAIN or CREATE TABLE";
}

const Part* Conversation::part_of(const Expected& e) const {
  if (!e.of.plan || e.part >= e.of.plan->parts.size()) return nullptr;
  return &e.of.plan->parts[e.part];
}

// The statement behind the name that the part uses. `pending`: as if all that is under way had been
// answered.
auto Conversation::named_by(const Part& part, bool pending) const -> Source {
  const std::string& called = part.plainly.empty() ? part.called : part.plainly;
  for (auto e = expected_.rbegin(); pending && e != expected_.rend(); ++e) {
    if (!e->of.plan || (e->kind != Expected::Kind::query && e->kind != Expected::Kind::execute))
      continue;
    for (const Part& other : e->of.plan->parts)
      if (other.named && other.of_cursor == part.of_cursor && other.called == called)
        return {other.named.get(), 0, &e->of.untouched};
  }
  const Prepared* known = nullptr;
  if (part.of_cursor) {
    if (const auto at = portals_.find(called); at != portals_.end()) known = &at->second.of;
  } else if (const auto at = statements_.find(called); at != statements_.end()) {
    known = &at->second;
  }
  if (known == nullptr || !known->plan || known->plan->parts.size() != 1) return {};
  return {known->plan.get(), 0, &known->untouched};
}

// Of which statement the rows are that answer this one; none if that is not known, or there are no
// rows.
auto Conversation::source_of(const Expected& e, bool pending) const -> Source {
  const Part* const part = part_of(e);
  if (part == nullptr || part->named) return {};
  if (is_by_name(part)) return named_by(*part, pending);
  return {e.of.plan.get(), e.part, &e.of.untouched};
}

bool Conversation::tells(const Expected& e) const {
  const Source source = source_of(e);
  return source.part() != nullptr && source.part()->tells && source.untouched->empty();
}

// Whether the last column is ours. The description of rows says so, if there is one.
bool Conversation::is_shown(const Expected& e) const {
  return e.shown || (e.kind == Expected::Kind::execute && tells(e));
}

bool Conversation::wants_from_server(char type) const {
  if (type != 'D') return std::string_view("TntCIsEZ123GWVS").find(type) != std::string_view::npos;
  if (expected_.empty()) return false;
  const Expected& e = expected_.front();
  return e.kind == Expected::Kind::number || e.kind == Expected::Kind::number_query ||
         is_shown(e) || (e.with_number && !e.held.empty());
}

bool Conversation::take_row(Expected& e, std::string_view body) {
  auto row = without_last_cell(body);
  if (!row) return false;
  if (row->last && row->last->size() <= kMostRowBytes && tells(e)) {
    e.row_bytes += row->last->size();
    e.rows.push_back(around_.trace->veiled_versions(*source_of(e).part(), *row->last));
  } else if (row->last) {
    e.too_large = true;
  }
  if (e.rows.size() >= kMostRowsOfALine || e.row_bytes > kMostRowBytes) {
    e.row_bytes = 0;
    Json line = Json::object();
    line["s"] = number_;
    line["rows"] = std::exchange(e.rows, Json());
    around_.trace->write(line);
  }
  put_message(to_client, 'D', row->body);
  return true;
}

void Conversation::take_number(std::string_view body) {
  const std::vector<std::string> cells = cells_of(body);
  if (cells.size() != 2) return;
  Json line = Json::object();
  line["s"] = number_;
  if (!cells[0].empty()) line["xid"] = cells[0];
  line["isolation"] = cells[1];
  around_.trace->write(line);
}

bool Conversation::take_from_server(char type, std::string_view body) {
  using Kind = Expected::Kind;
  if (type == 'R') {
    put_message(to_client, type, without_channel_binding(body));
    return true;
  }
  if (type == 'Z' && !started_) {
    started_ = true;
    put_message(to_client, type, body);
    return true;
  }
  if (type == 'S') {
    Fields fields(body);
    // Texts in quotes are others then than the parser takes them for.
    if (fields.text() == "standard_conforming_strings" && fields.text() != "on")
      untouched_ = "standard_conforming_strings = off";
    put_message(to_client, type, body);
    return true;
  }
  if (expected_.empty()) {
    put_message(to_client, type, body);
    if (type == 'E') lost_ = true;
    return true;
  }
  Expected& e = expected_.front();
  if (e.kind == Kind::copied) {  // the statement that it ended was answered
    expected_.pop_front();
    return take_from_server(type, body);
  }
  if (type == 'E') {
    fail(body);
    return true;
  }
  if (type == 'Z') {
    ready(body);
    return true;
  }
  if (e.kind == Kind::number || e.kind == Kind::number_query || !e.held.empty()) {
    if (type == 'D') take_number(body);
    if (type == 'C' && e.kind == Kind::number) expected_.pop_front();
    return true;
  }
  switch (type) {
    case 'T':
      // A function may have given the name to something else.
      e.shown = is_by_name(part_of(e)) ? last_field(body) == kColumn : tells(e);
      if (e.shown) {
        const auto shorter = without_last_field(body);
        if (!shorter) return false;
        put_message(to_client, type, *shorter);
      } else {
        put_message(to_client, type, body);
      }
      if (e.kind == Kind::describe) expected_.pop_front();
      return true;
    case 'D':
      return take_row(e, body);
    case 'C':
    case 'I':
    case 's':
      complete(type == 'C' ? Fields(body).text() : type == 's' ? "suspended" : "");
      return true;
    case 'G':
    case 'W':
      // A Sync that is on its way is not answered while rows are copied in.
      for (size_t i = 1; i < expected_.size() && expected_[i].kind != Kind::copied;)
        if (e.kind == Kind::execute && expected_[i].kind == Kind::sync)
          expected_.erase(expected_.begin() + static_cast<std::ptrdiff_t>(i));
        else
          ++i;
      break;
    case 'n':
      if (e.kind == Kind::describe) expected_.pop_front();
      break;
    case '1':
    case '2':
    case '3':
      if (e.kind == Kind::parse || e.kind == Kind::bind || e.kind == Kind::close)
        expected_.pop_front();
      break;
    default:
      break;
  }
  put_message(to_client, type, body);
  return true;
}

// A statement was answered.
void Conversation::tell(Expected& e, std::string_view tag, std::string_view error) {
  const Part* const part = part_of(e);
  if (part == nullptr) return;
  Source of{e.of.plan.get(), e.part, &e.of.untouched};
  bool whole = tag != "suspended", outlives = false;
  if (part->named && part->of_cursor && !part->named->parts[0].is_late) {
    of = {part->named.get(), 0, &e.of.untouched};
    e.cursor = ++cursors_;
    outlives = part->outlives;
    whole = false;
  } else if (const Source source = source_of(e); source.part() != nullptr) {
    of = source;
    if (part->kind == Part::Kind::fetch) whole = take_fetch(e, *source.part(), tag);
  }
  const uint64_t q = around_.trace->statement(*of.plan, of.n, *of.untouched);
  std::string line =
      fmt::format(R"({{"s":{},"q":{},"t":[{},{}],"tag":)", number_, q, e.sent, around_.now());
  formats::append_json_string(line, tag);
  const Json& values = part->kind == Part::Kind::execute ? part->values : e.values;
  if (!values.empty()) (line += ",\"p\":") += around_.trace->veiled(values).dump();
  if (e.cursor != 0) line += fmt::format(",\"cursor\":{}", e.cursor);
  if (e.cursor != 0 && whole) line += ",\"whole\":true";
  if (e.partly) line += ",\"partly\":true";
  if (outlives) line += ",\"outlives\":true";
  if (e.too_large) line += ",\"untold\":true";
  if (!e.rows.empty()) (line += ",\"rows\":") += std::exchange(e.rows, Json()).dump();
  if (!error.empty()) formats::append_json_string(line += ",\"error\":", error);
  line += '}';
  around_.trace->write_text(line);
  told_ = true;
  if (!error.empty()) return;
  take_names(e, *part);
  redefines_ = redefines_ || part->kind == Part::Kind::definition;
  if (part->changes_user) untouched_ = "the role was changed";
  for (const std::string& table : part->temporary)
    if (around_.rewriter(user_).hides(table)) untouched_ = "a temporary table hides another";
}

// Rows of a cursor. True if they are the last, and none was left out.
bool Conversation::take_fetch(Expected& e, const Part& of, std::string_view tag) {
  const Part& part = *part_of(e);
  Portal& portal = portals_.at(part.called);
  e.cursor = portal.cursor;
  // Of one that the client bound, it is not known when it was.
  if (e.cursor == 0 && !of.is_late) {
    e.rows = Json();
    e.too_large = true;
  }
  portal.in_order = portal.in_order && part.next_rows;
  uint64_t rows = 0;
  const std::string_view count = tag.substr(tag.rfind(' ') + 1);
  return portal.in_order &&
         std::from_chars(count.data(), count.data() + count.size(), rows).ec == std::errc() &&
         rows < *part.next_rows;
}

// What PREPARE and DECLARE have named, and what DEALLOCATE and CLOSE have forgotten.
void Conversation::take_names(const Expected& e, const Part& part) {
  if (part.named && part.of_cursor) {
    portals_[part.called] = {.of = {part.named, e.of.untouched, part.sql},
                             .begun = true,
                             .cursor = e.cursor,
                             .outlives = part.outlives};
  } else if (part.named) {
    statements_[part.called] = {part.named, e.of.untouched, part.sql};
  }
  if (part.kind != Part::Kind::forget) return;
  if (part.of_cursor) {
    std::erase_if(portals_, [&](const auto& at) {
      const auto& [name, portal] = at;
      if (portal.of.by_sql.empty() || (!part.called.empty() && name != part.called)) return false;
      if (portal.outlives)
        around_.trace->write_text(fmt::format(R"({{"s":{},"closed":{}}})", number_, portal.cursor));
      return true;
    });
    return;
  }
  // One that the client has prepared again since stays.
  const auto anew = [&](const Expected& later) {
    return later.kind == Expected::Kind::parse && later.name == part.called;
  };
  if (std::ranges::none_of(expected_, anew)) statements_.erase(part.called);
}

void Conversation::complete(std::string_view tag) {
  Expected& e = expected_.front();
  tell(e, tag, "");
  std::string body;
  if (!tag.empty() && tag != "suspended") put_text(body, tag);
  const char type = tag.empty() ? 'I' : tag == "suspended" ? 's' : 'C';
  if (e.kind == Expected::Kind::execute) {
    expected_.pop_front();
  } else if (e.kind == Expected::Kind::query) {
    ++e.part;
    e.shown = e.too_large = false;
    e.cursor = 0;
    // The transaction may still fail when it ends.
    if (e.with_number) {
      put_message(e.held, type, body);
      return;
    }
  }
  put_message(to_client, type, body);
}

void Conversation::fail(std::string_view body) {
  using Kind = Expected::Kind;
  const std::string_view severity = error_field(body, 'V');
  lost_ = lost_ || severity == "FATAL" || severity == "PANIC";
  Expected& e = expected_.front();
  if (e.kind == Kind::number_query) return is_as_before(e);
  std::string moved(body);
  if (e.of.plan && e.of.untouched.empty()) {
    const std::string_view sql = e.of.plan->sql;
    for (auto at = e.of.plan->added.rbegin(); at != e.of.plan->added.rend(); ++at)
      moved = with_position_moved(moved, length_of(sql.substr(0, at->first)),
                                  length_of(sql.substr(at->first, at->second)));
  }
  put_message(to_client, 'E', moved);
  // What became of it is not known then.
  if (lost_) return;
  if (e.kind == Kind::query || e.kind == Kind::execute) {
    e.held.clear();
    if (part_of(e) == nullptr && e.part > 0) --e.part;
    tell(e, "", error_field(body, 'C'));
  }
  if (e.kind == Kind::query || e.kind == Kind::call) return;
  std::vector<Expected> undone;
  while (!expected_.empty() && expected_.front().kind != Kind::sync) {
    undone.push_back(std::move(expected_.front()));
    expected_.pop_front();
  }
  skipping_ = expected_.empty();
  // What they would have prepared was not.
  for (size_t i = undone.size(); i-- > 0;) {
    const auto at = statements_.find(undone[i].name);
    if (undone[i].kind == Kind::number) is_as_before(undone[i]);
    // A PREPARE may have had the name before it.
    if (undone[i].kind != Kind::parse || at == statements_.end() ||
        at->second.plan != undone[i].of.plan)
      continue;
    if (undone[i].before)
      at->second = *undone[i].before;
    else
      statements_.erase(at);
  }
}

// It was not prepared anew.
void Conversation::is_as_before(const Expected& e) {
  const auto at = e.name.empty() ? statements_.end() : statements_.find(e.name);
  if (at != statements_.end()) at->second.untouched.clear();
}

void Conversation::ready(std::string_view body) {
  using Kind = Expected::Kind;
  Expected& e = expected_.front();
  status_ = body.empty() ? 'I' : body[0];
  const bool ours = e.kind == Kind::number_query;
  if (!e.held.empty()) to_client += e.held;
  expected_.pop_front();
  if (!ours) put_message(to_client, 'Z', body);
  if (status_ != 'I') return;
  const bool under_way = std::ranges::any_of(expected_, [](const Expected& later) {
    return later.kind == Kind::execute || later.kind == Kind::query;
  });
  if (!under_way) may_write_ = false;
  if (expected_.empty())
    std::erase_if(portals_, [](const auto& at) { return !at.second.outlives; });
  if (told_) {
    around_.trace->write_text(fmt::format(R"({{"s":{},"idle":{}}})", number_, around_.now()));
  }
  told_ = false;
  if (std::exchange(redefines_, false)) around_.definitions_changed();
}

bool Conversation::might_commit(const Expected& e) const {
  using Kind = Expected::Kind;
  if (e.kind == Kind::call) return true;
  if (e.kind != Kind::query && e.kind != Kind::execute)
    return e.kind == Kind::sync && status_ == 'I' && may_write_;
  if (!e.of.plan || e.kind == Kind::execute) {
    const Part* const part = part_of(e);
    return part == nullptr || ends(part->kind);
  }
  return std::ranges::any_of(e.of.plan->parts, [&](const Part& part) {
    return ends(part.kind) || (status_ == 'I' && part.may_write);
  });
}

std::optional<int64_t> Conversation::commits_since() const {
  const auto first =
      std::ranges::find_if(expected_, [&](const Expected& e) { return might_commit(e); });
  return first == expected_.end() ? std::nullopt : std::optional(first->sent);
}

void Conversation::over() {
  if (stage_ != Stage::recorded) return;
  const bool in_flight =
      std::ranges::any_of(expected_, [&](const Expected& e) { return might_commit(e); });
  Json line = Json::object();
  line["s"] = number_;
  line["close"] = around_.now();
  if (in_flight) line["in_flight"] = true;
  around_.trace->write(line);
}

}  // namespace assay::internal::record
