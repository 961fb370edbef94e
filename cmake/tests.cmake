# assay_tests(PROGRAM BATCH SOURCES …): adds sources to a program of tests. With ASSAY_TOGETHER those of a batch are compiled as one
# file; names in their unnamed namespaces must differ.
function(assay_tests program batch)
  if(ARGN)
    set(sources ${ARGN})
    list(TRANSFORM sources REPLACE "^([^/].*)$" "${CMAKE_CURRENT_SOURCE_DIR}/\\1")
    set_property(GLOBAL APPEND PROPERTY ASSAY_${program}_BATCHES ${batch})
    set_property(GLOBAL APPEND PROPERTY ASSAY_${program}_${batch} ${sources})
  endif()
endfunction()

# assay_test_program(NAME): the program of the sources that were added, with GoogleTest's main.
function(assay_test_program name)
  get_property(batches GLOBAL PROPERTY ASSAY_${name}_BATCHES)
  list(REMOVE_DUPLICATES batches)
  add_executable(${name})
  foreach(batch ${batches})
    get_property(sources GLOBAL PROPERTY ASSAY_${name}_${batch})
    if(ASSAY_TOGETHER)
      assay_batches(sources ${name}_${batch} 0 ${sources})
    endif()
    target_sources(${name} PRIVATE ${sources})
  endforeach()
  target_compile_options(${name} PRIVATE ${ASSAY_TEST_OPTIONS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE assay_places assay_rooms assay_options GTest::gtest_main)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  assay_precompile(${name} assay_test_headers)
endfunction()

# assay_test_entries(PROGRAM NAME [SHARDS n] [FILTER pattern] [LABEL label] [PROPERTIES …]): one entry of ctest a shard.
# A shard runs every n-th case: build/…/PROGRAM --gtest_filter=Suite.Case runs a single one.
function(assay_test_entries program name)
  cmake_parse_arguments(ENTRY "" "SHARDS;FILTER;LABEL" "PROPERTIES" ${ARGN})
  if(NOT ENTRY_SHARDS)
    set(ENTRY_SHARDS 1)
  endif()
  if(NOT ENTRY_FILTER)
    set(ENTRY_FILTER *)
  endif()
  foreach(shard RANGE 1 ${ENTRY_SHARDS})
    set(entry ${name})
    if(ENTRY_SHARDS GREATER 1)
      set(entry ${name}.${shard})
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${entry} COMMAND ${program} --gtest_filter=${ENTRY_FILTER} --gtest_brief=1)
    set_tests_properties(${entry} PROPERTIES LABELS "${ENTRY_LABEL}" TIMEOUT 3000
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${ENTRY_SHARDS};GTEST_SHARD_INDEX=${index}" ${ENTRY_PROPERTIES})
  endforeach()
endfunction()

# assay_test_of_release(NAME COMMAND …): a test of what is released, for which each source is compiled by itself.
function(assay_test_of_release name)
  if(ASSAY_TOGETHER)
    add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "skipped: needs build/release; `dev/nightly packages` builds and runs it")
  else()
    add_test(NAME ${name} ${ARGN})
  endif()
  set_tests_properties(${name} PROPERTIES LABELS packages TIMEOUT 3000 SKIP_RETURN_CODE 77 SKIP_REGULAR_EXPRESSION "^skipped: needs"
                                          RESOURCE_LOCK install)
endfunction()

# Where the tree, the build and its program lie is said in one small file, so that no other object of tests depends on it and ccache
# finds them from another checkout.
if(ASSAY_TESTS)
  set(ASSAY_PLACES_BINARY ${PROJECT_BINARY_DIR}/assay)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/places.cc.in ${PROJECT_BINARY_DIR}/places.cc @ONLY)
  add_library(assay_places STATIC ${PROJECT_BINARY_DIR}/places.cc)
  target_include_directories(assay_places PUBLIC ${PROJECT_SOURCE_DIR}/tests)
endif()
