// Histories by calls. A transaction is kept aside until its outcome is known, with copies of all
// texts: the caller may free them at once.
#include <fmt/format.h>

#include <deque>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "assay/history.h"
#include "c_api/boundary.h"
#include "c_api/held_history.h"
#include "history/level_name.h"

using assay::HistoryBuilder;
using assay::Interval;
using assay::Ok;
using assay::Op;
using assay::Result;
using assay::Status;
using assay::TxnStatus;
using assay::ValueView;
using assay::internal::c_api::guarded;

struct assay_builder {
  HistoryBuilder built;
  bool started = false;           // whether there is any transaction
  bool open = false;              // whether one has begun and not ended
  std::deque<std::string> texts;  // of the transaction that has begun
};

namespace assay::internal::c_api {
namespace {

Result<ValueView> kept(assay_builder& b, const assay_value& v) {
  switch (v.type) {
    case ASSAY_NULL:
      return ValueView::null();
    case ASSAY_INTEGER:
      return ValueView::of(v.integer);
    case ASSAY_TEXT:
      return ValueView::of(std::string_view(b.texts.emplace_back(v.text, v.size)));
  }
  return usage_error(
      fmt::format("a value of type {}; expected ASSAY_NULL, ASSAY_INTEGER or ASSAY_TEXT", v.type));
}

Result<std::vector<ValueView>> kept(assay_builder& b, const assay_value* values, size_t count) {
  std::vector<ValueView> views;
  views.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    const auto view = kept(b, values[i]);
    if (!view.ok()) return view.error();
    views.push_back(*view);
  }
  return views;
}

Status expect_open(const assay_builder& b) {
  if (b.open) return Ok{};
  return usage_error("no transaction has begun; expected assay_begin before");
}
Status expect_between(const assay_builder& b) {
  if (!b.open) return Ok{};
  return usage_error(
      "a transaction has begun; expected assay_commit, assay_abort or assay_unknown before");
}

// `set` changes the header of the transaction that has begun.
template <class Set>
assay_status set_header(assay_builder* b, assay_error** error, Set set) {
  return guarded(error, [&]() -> Status {
    if (Status s = expect_open(*b); !s.ok()) return s;
    set(b->built.header());
    return Ok{};
  });
}

// Adds an operation to the transaction that has begun; `made` makes it from the values.
template <class Made>
assay_status operate(assay_builder* b, assay_error** error,
                     std::initializer_list<assay_value> values, Made made) {
  return guarded(error, [&]() -> Status {
    if (Status s = expect_open(*b); !s.ok()) return s;
    const auto views = kept(*b, values.begin(), values.size());
    if (!views.ok()) return views.error();
    b->built.add(made(*views));
    return Ok{};
  });
}

assay_status end(assay_builder* b, TxnStatus status, assay_error** error) {
  return guarded(error, [&]() -> Status {
    if (Status s = expect_open(*b); !s.ok()) return s;
    b->built.header().status = status;
    Status ended = b->built.end_txn();
    b->open = false;
    b->texts.clear();
    return ended;
  });
}

Status range(assay_builder& b, const assay_value& low, const assay_value& high,
             const assay_value* keys, const assay_value* values, size_t count) {
  if (Status s = expect_open(b); !s.ok()) return s;
  const auto lo = kept(b, low), hi = kept(b, high);
  const auto found = kept(b, keys, count), held = kept(b, values, count);
  if (!lo.ok()) return lo.error();
  if (!hi.ok()) return hi.error();
  if (!found.ok()) return found.error();
  if (!held.ok()) return held.error();
  std::vector<Op::Row> rows;
  for (size_t i = 0; i < count; ++i) rows.emplace_back((*found)[i], (*held)[i]);
  b.built.add(Op::range(*lo, *hi, rows));
  return Ok{};
}

}  // namespace
}  // namespace assay::internal::c_api

namespace c_api = assay::internal::c_api;

extern "C" {

assay_builder* assay_builder_new(void) { return c_api::made<assay_builder>(); }
void assay_builder_free(assay_builder* builder) { delete builder; }

assay_status assay_initial(assay_builder* builder, assay_value value, assay_error** error) {
  return guarded(error, [&]() -> Status {
    if (builder->started)
      return assay::usage_error("assay_initial after a transaction; expected before the first one");
    const auto view = c_api::kept(*builder, value);
    if (!view.ok()) return view.error();
    builder->built.set_initial(*view);
    return Ok{};
  });
}

assay_status assay_begin(assay_builder* builder, assay_value session, assay_error** error) {
  return guarded(error, [&]() -> Status {
    if (Status s = c_api::expect_between(*builder); !s.ok()) return s;
    const auto view = c_api::kept(*builder, session);
    if (!view.ok()) return view.error();
    if (view->is_null())
      return assay::usage_error("a session without a name; expected a number or text");
    builder->built.begin_txn({.session = *view});
    builder->started = builder->open = true;
    return Ok{};
  });
}

assay_status assay_name(assay_builder* builder, const char* name, assay_error** error) {
  return c_api::set_header(builder, error, [&](assay::TxnHeader& header) {
    header.name = builder->texts.emplace_back(name);
  });
}
assay_status assay_begin_time(assay_builder* builder, int64_t request, int64_t response,
                              assay_error** error) {
  return c_api::set_header(builder, error, [&](assay::TxnHeader& header) {
    header.begin = {request, response};
  });
}
assay_status assay_end_time(assay_builder* builder, int64_t request, int64_t response,
                            assay_error** error) {
  return c_api::set_header(builder, error, [&](assay::TxnHeader& header) {
    header.end = {request, response};
  });
}
assay_status assay_declared_level(assay_builder* builder, const char* level, assay_error** error) {
  return guarded(error, [&]() -> Status {
    if (Status s = c_api::expect_open(*builder); !s.ok()) return s;
    const auto id = assay::find_level(level);
    if (!id || *id == assay::LevelId::mixed || *id == assay::LevelId::defined)
      return assay::usage_error(assay::internal::no_level(level) +
                                "; expected one that a transaction can declare");
    builder->built.header().level = *id;
    return Ok{};
  });
}
assay_status assay_start_timestamp(assay_builder* builder, int64_t timestamp, assay_error** error) {
  return c_api::set_header(builder, error,
                           [&](assay::TxnHeader& header) { header.start_ts = timestamp; });
}
assay_status assay_commit_timestamp(assay_builder* builder, int64_t timestamp,
                                    assay_error** error) {
  return c_api::set_header(builder, error,
                           [&](assay::TxnHeader& header) { header.commit_ts = timestamp; });
}

assay_status assay_read(assay_builder* builder, assay_value key, assay_value value,
                        assay_error** error) {
  return c_api::operate(builder, error, {key, value},
                        [](const auto& v) { return Op::read(v[0], v[1]); });
}
assay_status assay_write(assay_builder* builder, assay_value key, assay_value value,
                         assay_error** error) {
  return c_api::operate(builder, error, {key, value},
                        [](const auto& v) { return Op::write(v[0], v[1]); });
}
assay_status assay_delete(assay_builder* builder, assay_value key, assay_value tombstone,
                          assay_error** error) {
  return c_api::operate(builder, error, {key, tombstone},
                        [](const auto& v) { return Op::remove(v[0], v[1]); });
}
assay_status assay_append(assay_builder* builder, assay_value key, assay_value element,
                          assay_error** error) {
  return c_api::operate(builder, error, {key, element},
                        [](const auto& v) { return Op::append(v[0], v[1]); });
}
assay_status assay_read_list(assay_builder* builder, assay_value key, const assay_value* elements,
                             size_t count, assay_error** error) {
  return guarded(error, [&]() -> Status {
    if (Status s = c_api::expect_open(*builder); !s.ok()) return s;
    const auto view = c_api::kept(*builder, key);
    const auto list = c_api::kept(*builder, elements, count);
    if (!view.ok()) return view.error();
    if (!list.ok()) return list.error();
    builder->built.add(Op::read_list(*view, *list));
    return Ok{};
  });
}
assay_status assay_range(assay_builder* builder, assay_value low, assay_value high,
                         const assay_value* keys, const assay_value* values, size_t count,
                         assay_error** error) {
  return guarded(error, [&] { return c_api::range(*builder, low, high, keys, values, count); });
}
assay_status assay_compare_and_set(assay_builder* builder, assay_value key, assay_value expected,
                                   assay_value value, int written, assay_error** error) {
  return c_api::operate(builder, error, {key, expected, value},
                        [&](const auto& v) { return Op::cas(v[0], v[1], v[2], written != 0); });
}
assay_status assay_insert(assay_builder* builder, assay_value key, assay_value value, int written,
                          assay_error** error) {
  return c_api::operate(builder, error, {key, value},
                        [&](const auto& v) { return Op::insert(v[0], v[1], written != 0); });
}

assay_status assay_commit(assay_builder* builder, assay_error** error) {
  return c_api::end(builder, TxnStatus::committed, error);
}
assay_status assay_abort(assay_builder* builder, assay_error** error) {
  return c_api::end(builder, TxnStatus::aborted, error);
}
assay_status assay_unknown(assay_builder* builder, assay_error** error) {
  return c_api::end(builder, TxnStatus::unknown, error);
}

assay_status assay_known_order(assay_builder* builder, assay_value key, const assay_value* values,
                               size_t count, assay_error** error) {
  return guarded(error, [&]() -> Status {
    if (Status s = c_api::expect_between(*builder); !s.ok()) return s;
    const auto view = c_api::kept(*builder, key);
    const auto list = c_api::kept(*builder, values, count);
    if (!view.ok()) return view.error();
    if (!list.ok()) return list.error();
    builder->built.known_order(*view, std::span<const ValueView>(*list));
    builder->texts.clear();
    return Ok{};
  });
}

assay_status assay_builder_finish(assay_builder* builder, assay_history** history,
                                  assay_error** error) {
  *history = nullptr;
  return guarded(error, [&]() -> Status {
    assay_builder taken = std::exchange(*builder, {});
    if (Status s = c_api::expect_between(taken); !s.ok()) return s;
    Result<assay::History> built = std::move(taken.built).finish();
    if (!built.ok()) return built.error();
    *history = c_api::hold(std::move(*built), "history", "", {});
    return Ok{};
  });
}

}  // extern "C"
