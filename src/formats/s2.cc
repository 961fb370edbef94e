// The events of S2's verification, from clients that append to a stream: the start of each call,
// and how it finished.
//
//   {"event":{"Start":{"Append":{"num_records":2,"match_seq_num":null}}},"client_id":1,"op_id":7}
//   {"event":{"Finish":{"AppendSuccess":{"tail":5}}},"client_id":1,"op_id":7}          is
//   cas(tail,3,5)
//
// The tail is a register: an append moves it by the number of its records, and its readers see it.
// An append of unknown outcome has to state the tail that it expects: otherwise its place in the
// stream is not known. The order of the lines is the clock.
#include <simdjson.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "formats/json_records.h"
#include "formats/json_text.h"
#include "formats/registry.h"
#include "formats/streamed_builder.h"

namespace assay::internal::formats {
namespace {

namespace json = simdjson::dom;

constexpr std::string_view kTail = "tail";
constexpr int64_t kMostRecords = int64_t{1} << 61;

bool detect_s2(const Source& source) {
  const JsonFields fields = first_json_fields(source.head());
  return fields.has("event") && fields.has("client_id") && fields.has("op_id");
}

class S2Reader {
 public:
  explicit S2Reader(Source& source)
      : records_(*source.input), builder_(source.input->budget(), source.threads) {}

  Result<History> run(Notes& notes) {
    builder_.set_initial(ValueView::of(0));
    const Status read = records_.each([this](json::element record) {
      ++place_;
      return read_event(record);
    });
    if (!read.ok()) return read.error();
    for (const auto& [id, call] : open_)
      if (auto s = unknown(call); !s.ok()) return s.error();
    if (left_out_ > 0)
      notes.push_back(
          {0, std::to_string(left_out_) +
                  " hashes and fencing tokens were left out: the verdict is about the tail"});
    return records_.located(std::move(builder_).finish());
  }

 private:
  struct Call {
    int64_t client = 0, began = 0, records = 0;  // records: 0 if it does not append
    std::optional<int64_t> at = {};              // the tail that an append expects
    uint64_t line = 0;
  };

  Status read_event(json::element record) {
    json::object labeled, event;
    json::element field;
    int64_t client = 0, id = 0;
    if (record.get_object().get(labeled) != simdjson::SUCCESS ||
        !json_field(labeled, "event", field) || field.get_object().get(event) != simdjson::SUCCESS)
      return records_.expected({}, "an event with event, client_id and op_id");
    if (!json_field(labeled, "client_id", field) || !json_integer(field, client))
      return records_.expected({"client_id"}, "a field \"client_id\", an integer");
    if (!json_field(labeled, "op_id", field) || !json_integer(field, id))
      return records_.expected({"op_id"}, "a field \"op_id\", an integer");
    if (json_field(event, "Start", field)) return start(field, client, id);
    if (json_field(event, "Finish", field)) return finish(field, id);
    return records_.expected({"event"}, "Start or Finish");
  }

  Status start(json::element what, int64_t client, int64_t id) {
    Call call{.client = client, .began = place_, .line = records_.line()};
    json::object start, append;
    json::element field;
    if (what.get_object().get(start) == simdjson::SUCCESS) {
      if (!json_field(start, "Append", field) ||
          field.get_object().get(append) != simdjson::SUCCESS)
        return records_.expected({"event", "Start"}, "Append, \"Read\" or \"CheckTail\"");
      if (!json_field(append, "num_records", field) || !json_integer(field, call.records) ||
          call.records < 1 || call.records > kMostRecords)
        return records_.expected({"event", "Start", "Append"}, "num_records, an integer from 1 on");
      int64_t at = 0;
      if (json_field(append, "match_seq_num", field) && !field.is_null()) {
        if (!json_integer(field, at) || at < 0 || at > kMostRecords)
          return records_.expected({"event", "Start", "Append", "match_seq_num"},
                                   "a tail, or null");
        call.at = at;
      }
      for (const char* token : {"fencing_token", "set_fencing_token"})
        left_out_ += json_field(append, token, field) && !field.is_null();
    }
    if (!open_.emplace(id, call).second)
      return records_.expected({"op_id"}, "an operation that has not begun yet");
    return Ok{};
  }

  Status finish(json::element what, int64_t id) {
    const auto open = open_.find(id);
    if (open == open_.end()) return records_.expected({"op_id"}, "an operation that has begun");
    const Call call = open->second;
    open_.erase(open);
    std::string_view failure;
    if (what.get_string().get(failure) == simdjson::SUCCESS)
      return failure == "AppendIndefiniteFailure" ? unknown(call) : Ok{};  // other failures had no
                                                                           // effect
    json::object finish, success;
    json::element field;
    int64_t tail = 0;
    if (what.get_object().get(finish) != simdjson::SUCCESS || finish.size() != 1 ||
        finish.begin().value().get_object().get(success) != simdjson::SUCCESS ||
        !json_field(success, "tail", field) || !json_integer(field, tail) || tail < 0)
      return records_.expected({"event", "Finish"}, "a failure, or a success with its tail");
    left_out_ += success.size() > 1;
    begin(call, place_);
    const ValueView key = ValueView::of(kTail);
    if (call.records == 0) {
      builder_.add(Op::read(key, ValueView::of(tail)));
    } else {
      if (call.at && *call.at != tail - call.records)
        builder_.add(Op::read(key, ValueView::of(*call.at)));
      builder_.add(Op::cas(key, ValueView::of(tail - call.records), ValueView::of(tail), true));
    }
    if (auto s = builder_.end_txn(); !s.ok()) return records_.located(s.error());
    return Ok{};
  }

  void begin(const Call& call, int64_t end) {
    TxnHeader header;
    header.session = ValueView::of(call.client);
    header.line = call.line;
    header.begin = {call.began, end};
    if (end != Interval::kOpen) header.end = {call.began, end};
    if (end == Interval::kOpen) header.status = TxnStatus::unknown;
    builder_.begin_txn(header);
  }

  Status unknown(const Call& call) {
    if (call.records == 0) return Ok{};
    if (!call.at)
      return records_.located(
          bad_input("expected match_seq_num, because the outcome of this append is unknown: "
                    "without that number the tail that it left is unknown too",
                    call.line));
    begin(call, Interval::kOpen);
    builder_.add(Op::cas(ValueView::of(kTail), ValueView::of(*call.at),
                         ValueView::of(*call.at + call.records), true));
    if (auto s = builder_.end_txn(); !s.ok()) return records_.located(s.error());
    return Ok{};
  }

  JsonRecords records_;
  StreamedBuilder builder_;
  std::map<int64_t, Call> open_;  // by op_id
  int64_t place_ = 0;
  uint64_t left_out_ = 0;
};

Result<History> read_s2(Source& source, Notes& notes) { return S2Reader(source).run(notes); }

}  // namespace

constexpr Format kS2 = {
    .name = "s2",
    .summary = "the history of S2's verification, the tail of a stream",
    .detect = detect_s2,
    .read = read_s2,
};

}  // namespace assay::internal::formats
