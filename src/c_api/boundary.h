// The boundary between C and C++: errors become statuses, and no exception crosses it.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "assay/assay_c.h"
#include "assay/result.h"

struct assay_error {
  assay_status status = ASSAY_INTERNAL;
  assay::Error what;
  std::string message;
};

struct assay_bytes {
  std::string text;
};

namespace assay::internal::c_api {

// Gives `error` to the caller, if the caller wants it, and returns its status.
assay_status fail(assay_error** out, assay_status status, Error error) noexcept;
assay_status out_of_memory(assay_error** out) noexcept;
assay_status status_of(ErrorKind kind);

// Runs the action of a function of the interface. `action` returns a Status; `failed` is the status
// for any failure, unless it is ASSAY_OK.
template <class Action>
assay_status guarded(assay_error** error, Action action, assay_status failed = ASSAY_OK) noexcept {
  if (error != nullptr) *error = nullptr;
  try {
    Status done = action();
    if (done.ok()) return ASSAY_OK;
    const assay_status status = failed == ASSAY_OK ? status_of(done.error().kind) : failed;
    return fail(error, status, std::move(done.error()));
  } catch (const std::bad_alloc&) {
    return out_of_memory(error);
  } catch (const std::exception& e) {
    return fail(error, ASSAY_INTERNAL, usage_error(e.what()));
  } catch (...) {
    return fail(error, ASSAY_INTERNAL, usage_error("an exception of unknown kind"));
  }
}

// A new handle, or null.
template <class T>
T* made() noexcept {
  try {
    return new T();
  } catch (...) {
    return nullptr;
  }
}

}  // namespace assay::internal::c_api
