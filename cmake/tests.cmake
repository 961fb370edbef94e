# assay_test_program(NAME SOURCES … LIBRARIES …): a program with GoogleTest's main.
function(assay_test_program name)
  cmake_parse_arguments(TEST "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_compile_options(${name} PRIVATE ${ASSAY_TEST_OPTIONS})
  target_compile_definitions(${name} PRIVATE ASSAY_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${TEST_LIBRARIES} assay_options GTest::gtest_main)
  assay_precompile(${name} assay_test_headers)
endfunction()

# assay_test_cases(NAME PREFIX prefix [LABELS label]): each case of the program is a test of ctest. Under
# sanitizers the program is one test: to start it takes longer there than most cases do.
function(assay_test_cases name)
  cmake_parse_arguments(TEST "" "PREFIX;LABELS" "" ${ARGN})
  set(properties TIMEOUT 600)
  if(TEST_LABELS)
    list(APPEND properties LABELS ${TEST_LABELS})
  endif()
  if(ASSAY_SANITIZE)
    add_test(NAME ${TEST_PREFIX}.${name} COMMAND ${name})
    set_tests_properties(${TEST_PREFIX}.${name} PROPERTIES ${properties})
    return()
  endif()
  gtest_discover_tests(${name} TEST_PREFIX "${TEST_PREFIX}." NO_PRETTY_VALUES DISCOVERY_TIMEOUT 60
                       PROPERTIES ${properties})
endfunction()
