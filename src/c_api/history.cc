#include <string_view>

#include "assay/format.h"
#include "audit/notes.h"
#include "c_api/boundary.h"
#include "c_api/held_history.h"
#include "c_api/options.h"

using assay::History;
using assay::Ok;
using assay::Status;
using assay::internal::c_api::guarded;
using assay::internal::c_api::HeldHistory;

namespace assay::internal::c_api {

assay_history* hold(History history, std::string name, std::string format,
                    std::vector<std::string> notes) {
  auto held = std::make_shared<HeldHistory>();
  held->history = std::move(history);
  held->name = std::move(name);
  held->format = std::move(format);
  held->notes = std::move(notes);
  return new assay_history{std::move(held)};
}

namespace {

// `read` is read_history or a similar function.
template <class Read>
assay_status read_into(assay_history** out, const char* name, const assay_options* options,
                       assay_error** error, Read read) {
  *out = nullptr;
  return guarded(error, [&]() -> Status {
    Budget budget = budget_of(given(options));
    ReadOptions reading;
    reading.from = given(options).format;
    reading.unique_values = given(options).unique_values;
    reading.budget = &budget;
    reading.threads = given(options).threads;
    Result<ReadResult> result = read(reading);
    if (!result.ok()) return std::move(result.error());
    std::vector<std::string> notes;
    for (const ReadNote& note : result->notes) notes.push_back(placed_note(name, note));
    *out = hold(std::move(result->history), name, std::move(result->format), std::move(notes));
    return Ok{};
  });
}

template <class Count>
uint64_t counted(const assay_history* history, Count count) {
  const std::lock_guard lock(history->held->mutex);
  return count(history->held->history);
}

}  // namespace
}  // namespace assay::internal::c_api

namespace c_api = assay::internal::c_api;

extern "C" {

assay_status assay_history_read(const char* path, const assay_options* options,
                                assay_history** history, assay_error** error) {
  return c_api::read_into(history, path, options, error, [&](const assay::ReadOptions& reading) {
    return assay::read_history(path, reading);
  });
}

assay_status assay_history_read_text(const char* data, size_t size, const char* name,
                                     const assay_options* options, assay_history** history,
                                     assay_error** error) {
  return c_api::read_into(history, name, options, error, [&](const assay::ReadOptions& reading) {
    return assay::read_history_text(std::string_view(data, size), name, reading);
  });
}

void assay_history_free(assay_history* history) { delete history; }

uint64_t assay_history_transactions(const assay_history* history) {
  return c_api::counted(history, [](const History& h) { return h.txn_count(); });
}
uint64_t assay_history_operations(const assay_history* history) {
  return c_api::counted(history, [](const History& h) { return h.op_count(); });
}
uint64_t assay_history_sessions(const assay_history* history) {
  return c_api::counted(history, [](const History& h) { return h.session_count(); });
}
uint64_t assay_history_keys(const assay_history* history) {
  return c_api::counted(history, [](const History& h) { return h.key_count(); });
}

size_t assay_history_note_count(const assay_history* history) {
  return history->held->notes.size();
}
const char* assay_history_note(const assay_history* history, size_t i) {
  return i < history->held->notes.size() ? history->held->notes[i].c_str() : nullptr;
}

assay_status assay_history_text(const assay_history* history, const char* format,
                                assay_bytes** text, assay_error** error) {
  *text = nullptr;
  return guarded(error, [&]() -> Status {
    auto written = std::make_unique<assay_bytes>();
    const std::lock_guard lock(history->held->mutex);
    const auto losses = assay::write_history_text(history->held->history, format, written->text);
    if (!losses.ok()) return losses.error();
    *text = written.release();
    return Ok{};
  });
}

}  // extern "C"
