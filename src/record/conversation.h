// The messages between one client of PostgreSQL and its server, with our additions, which are taken
// away again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "record/messages.h"
#include "record/rewriting.h"
#include "record/trace.h"

namespace assay::internal::record {

// What conversations have in common.
struct Surroundings {
  Trace* trace = nullptr;
  std::string database = {};  // that is recorded
  bool encrypts = false;      // to clients that ask for TLS
  std::function<int64_t()> now = {};
  std::function<Rewriter&(const std::string& user)> rewriter = {};
  std::function<void()> definitions_changed = {};
};

class Conversation {
 public:
  Conversation(uint64_t number, Surroundings& surroundings)
      : number_(number), around_(surroundings) {}

  // Takes the bytes, and leaves the bytes to send below. False: they do not follow the protocol.
  bool from_client(std::string_view bytes);
  bool from_server(std::string_view bytes);
  std::string to_client, to_server;

  // Whether the server has answered everything.
  bool answered() const {
    return std::ranges::all_of(expected_,
                               [](const Expected& e) { return e.kind == Expected::Kind::copied; });
  }
  // When the first was sent that is not answered and might commit something; nothing if there is
  // none.
  std::optional<int64_t> commits_since() const;
  // When the first of all was.
  std::optional<int64_t> waits_since() const {
    const auto first = std::ranges::find_if(
        expected_, [](const Expected& e) { return e.kind != Expected::Kind::copied; });
    return first == expected_.end() ? std::nullopt : std::optional(first->sent);
  }
  bool is_recorded() const { return stage_ == Stage::recorded; }
  // Whether, once what there is was sent to the client, TLS begins; true once.
  bool encrypts() { return std::exchange(encrypting_, false); }
  // Either connection is over.
  void over();

 private:
  enum class Stage : uint8_t { startup, passing, recorded };
  struct Prepared {
    std::shared_ptr<const Plan> plan;
    std::string untouched;    // why it was sent as it came
    std::string by_sql = {};  // the PREPARE that made it
  };
  // A statement that tells of rows; none if there is no plan.
  struct Source {
    const Plan* plan = nullptr;
    size_t n = 0;
    const std::string* untouched = nullptr;

    const Part* part() const {
      return plan != nullptr && n < plan->parts.size() ? &plan->parts[n] : nullptr;
    }
  };
  // Or a cursor.
  struct Portal {
    Prepared of;
    Json values = {};
    bool begun = false;     // some of its rows were asked for
    uint64_t cursor = 0;    // its number in the trace, if it has one
    bool outlives = false;  // its transaction
    bool in_order = true;   // each row was fetched once, if at all
  };
  // An answer that is to come.
  struct Expected {
    enum class Kind : uint8_t {
      query,
      parse,
      bind,
      describe,
      execute,
      close,
      sync,
      call,
      copied,
      number,        // ours, in front of a COMMIT or Sync
      number_query,  // ours, as a separate message
    };
    Kind kind = Kind::sync;
    Prepared of = {};
    Json values = {};
    std::string name = {};                // parse: of what; number: what is prepared anew
    std::optional<Prepared> before = {};  // what had that name
    size_t part = 0;                      // that is being answered
    uint64_t cursor = 0;                  // of which rows are asked for, not all at once
    bool partly = false;                  // or it has none
    bool too_large = false;               // some were too large to be recorded
    bool shown = false;                   // its rows have our column
    bool with_number = false;             // ours is behind it
    bool only_closes = false;             // sync: nothing else was sent since the one before
    std::string held = {};                // the tag, until that is answered
    int64_t sent = 0;
    Json rows = {};
    size_t row_bytes = 0;  // of those since the last line
  };

  bool begin_startup();
  bool take_from_client(char type, std::string_view body);
  bool take_from_server(char type, std::string_view body);
  bool wants_from_server(char type) const;
  static bool is_extended(Expected::Kind kind);
  void expect(Expected e);

  void query(std::string_view body);
  void parse(std::string_view body);
  void bind(std::string_view body);
  void describe(std::string_view body);
  void execute(std::string_view body);
  void sync();
  void ask(const std::string& sql, const std::string& anew = {});
  void make_plain(const Part& part, bool extended);
  auto first_of_consequence() const;
  bool is_idle() const;
  bool knows_state() const;
  Prepared understand(std::string_view sql);
  static std::string_view text_to_send(const Prepared& of, std::string_view sql);
  void send_parsed(const Prepared& of, std::string_view rest);

  bool might_commit(const Expected& e) const;
  const Part* part_of(const Expected& e) const;
  Source named_by(const Part& part, bool pending) const;
  Source source_of(const Expected& e, bool pending = false) const;
  bool tells(const Expected& e) const;
  bool is_shown(const Expected& e) const;
  bool take_fetch(Expected& e, const Part& of, std::string_view tag);
  void take_names(const Expected& e, const Part& part);
  void is_as_before(const Expected& e);
  bool take_row(Expected& e, std::string_view body);
  void take_number(std::string_view body);
  void complete(std::string_view tag);
  void fail(std::string_view body);
  void ready(std::string_view body);
  void tell(Expected& e, std::string_view tag, std::string_view error);

  uint64_t number_;
  Surroundings& around_;
  Stage stage_ = Stage::startup;
  std::string startup_;
  bool encrypting_ = false, encrypted_ = false;
  std::string user_;
  Cutter client_, server_;
  std::map<std::string, Prepared, std::less<>> statements_;
  std::map<std::string, Portal, std::less<>> portals_;
  uint64_t cursors_ = 0;  // numbered so far
  std::deque<Expected> expected_;
  bool started_ = false;   // the server has said that it is ready
  bool skipping_ = false;  // until the next Sync, after an error
  bool lost_ = false;      // the server ends the connection
  char status_ = 'I';
  bool may_write_ = false;  // the open transaction may have a number
  // Since the last Sync.
  struct Batch {
    bool begins = false, ends = false, writes = false, other = false, only_closes = true;
  } batch_;
  std::string untouched_;   // why nothing is rewritten any more
  bool redefines_ = false;  // since the last transaction ended
  bool told_ = false;       // since the last transaction ended
};

}  // namespace assay::internal::record
