#include "c_api/boundary.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace assay::internal::c_api {
namespace {

template <class Action>
std::string failure(assay_status expected, Action action, assay_status failed = ASSAY_OK) {
  assay_error* error = nullptr;
  EXPECT_EQ(guarded(&error, action, failed), expected);
  EXPECT_EQ(guarded(nullptr, action, failed), expected);  // nobody wants to know why
  if (error == nullptr) return "no error";
  EXPECT_EQ(assay_error_status(error), expected);
  const std::string message = assay_error_message(error);
  assay_error_free(error);
  return message;
}

TEST(Boundary, EveryErrorHasItsStatus) {
  EXPECT_EQ(failure(ASSAY_BAD_INPUT, []() -> Status { return bad_input("odd", 3); }),
            "line 3: odd");
  EXPECT_EQ(failure(ASSAY_IO, []() -> Status { return io_error("gone", "a"); }), "a: gone");
  EXPECT_EQ(failure(ASSAY_USAGE, []() -> Status { return usage_error("so not"); }), "so not");
  EXPECT_EQ(failure(
                ASSAY_REFUSED, []() -> Status { return bad_input("no"); }, ASSAY_REFUSED),
            "no");
}

TEST(Boundary, NothingIsThrownAcross) {
  EXPECT_EQ(failure(ASSAY_NO_MEMORY, []() -> Status { throw std::bad_alloc(); }), "out of memory");
  EXPECT_EQ(failure(ASSAY_INTERNAL, []() -> Status { throw std::runtime_error("a fault"); }),
            "a fault");
  EXPECT_EQ(failure(ASSAY_INTERNAL, []() -> Status { throw 5; }), "an exception of unknown kind");
}

TEST(Boundary, SuccessLeavesNoError) {
  assay_error old;
  assay_error* error = &old;
  EXPECT_EQ(guarded(&error, []() -> Status { return Ok{}; }), ASSAY_OK);
  EXPECT_EQ(error, nullptr);
}

}  // namespace
}  // namespace assay::internal::c_api
