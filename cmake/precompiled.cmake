# The headers that nearly every file reads, compiled once for all targets: reading them is half the work of a
# build. A file still includes what it uses; the dev preset builds without this and shows where one does not.
option(ASSAY_PRECOMPILE "Precompile the standard headers" ON)
set(ASSAY_COMMON_HEADERS
  <algorithm> <array> <atomic> <bit> <chrono> <cstdint> <functional> <map> <memory> <mutex> <optional> <set>
  <span> <sstream> <string> <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
file(WRITE ${PROJECT_BINARY_DIR}/precompiled.cc "")

# assay_precompiled_headers(NAME [OPTIONS …] [LIBRARIES …] HEADERS …): a target that does nothing but hold them.
function(assay_precompiled_headers name)
  cmake_parse_arguments(HOLDER "" "" "OPTIONS;LIBRARIES;HEADERS" ${ARGN})
  add_library(${name} OBJECT ${PROJECT_BINARY_DIR}/precompiled.cc)
  target_compile_options(${name} PRIVATE ${HOLDER_OPTIONS})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    target_compile_options(${name} PRIVATE -fpch-instantiate-templates)
  endif()
  target_link_libraries(${name} PRIVATE assay_options fmt::fmt ${HOLDER_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${HOLDER_HEADERS})
endfunction()

if(ASSAY_PRECOMPILE)
  assay_precompiled_headers(assay_common_headers HEADERS ${ASSAY_COMMON_HEADERS})
  assay_shareable(assay_common_headers)
  assay_precompiled_headers(assay_cold_headers OPTIONS ${ASSAY_COLD_OPTIONS} HEADERS ${ASSAY_COMMON_HEADERS})
  assay_shareable(assay_cold_headers)
  if(ASSAY_TESTS)
    assay_precompiled_headers(assay_test_headers OPTIONS ${ASSAY_TEST_OPTIONS} LIBRARIES GTest::gtest
                              HEADERS ${ASSAY_COMMON_HEADERS} <gtest/gtest.h>)
  endif()
endif()

# assay_precompile(TARGET assay_test_headers): the target is compiled with the same options as their holder.
function(assay_precompile target holder)
  if(ASSAY_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM ${holder})
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:fmt::fmt>)  # one of those headers
  endif()
endfunction()
