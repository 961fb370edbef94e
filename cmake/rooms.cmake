# A room is one folder of src/: one static library, its unit tests beside its sources.
#
#   assay_room(graph [COLD] ROOMS base LIBRARIES fmt::fmt)
#
# COLD: no time is spent in it that a user waits for, and it is compiled with less optimization.
# ROOMS are the only rooms it may include; tests/arrows_test checks the sources against these lists.
# Files: *_test.cc become the executable <room>_test, *_fuzz.cc one libFuzzer target each.
if(ASSAY_FUZZ)
  add_custom_target(fuzzers)
endif()

function(assay_room room)
  cmake_parse_arguments(ROOM "COLD" "" "ROOMS;LIBRARIES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cc)
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz|benchmark)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  set(linked ${ROOM_ROOMS})
  list(TRANSFORM linked PREPEND assay_)

  set_property(GLOBAL APPEND PROPERTY ASSAY_ROOMS assay_${room})
  list(JOIN ROOM_ROOMS " " seen)
  set_property(GLOBAL APPEND PROPERTY ASSAY_ARROWS "${room}: ${seen}")
  if(NOT sources)  # a room without sources yet
    add_library(assay_${room} INTERFACE)
    target_include_directories(assay_${room} INTERFACE
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
    set_target_properties(assay_${room} PROPERTIES EXPORT_NAME ${room})
    target_link_libraries(assay_${room} INTERFACE ${linked})
    return()
  endif()

  add_library(assay_${room} STATIC ${sources})
  target_include_directories(assay_${room} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
    $<INSTALL_INTERFACE:include>)
  target_link_libraries(assay_${room} PUBLIC ${linked} PRIVATE $<BUILD_INTERFACE:assay_options> ${ROOM_LIBRARIES})
  set_target_properties(assay_${room} PROPERTIES EXPORT_NAME ${room})
  assay_shareable(assay_${room})

  if(ASSAY_FUZZ AND fuzzers)  # coverage counters, in what is fuzzed only
    target_compile_options(assay_${room} PRIVATE -fsanitize=fuzzer-no-link)
    assay_precompile(assay_${room} assay_fuzzed_headers)
  elseif(ROOM_COLD)
    target_compile_options(assay_${room} PRIVATE ${ASSAY_COLD_OPTIONS})
    assay_precompile(assay_${room} assay_cold_headers)
  else()
    assay_precompile(assay_${room} assay_common_headers)
  endif()
  if(ASSAY_TESTS AND tests)
    assay_test_program(${room}_test SOURCES ${tests} LIBRARIES assay_${room} ${ROOM_LIBRARIES})
    assay_test_cases(${room}_test PREFIX ${room})
  endif()
  if(ASSAY_FUZZ)
    foreach(fuzzer ${fuzzers})
      get_filename_component(name ${fuzzer} NAME_WE)
      add_executable(${name} ${fuzzer})
      target_link_libraries(${name} PRIVATE assay_${room} assay_options ${ROOM_LIBRARIES})
      target_link_options(${name} PRIVATE -fsanitize=fuzzer)
      add_dependencies(fuzzers ${name})
    endforeach()
  endif()
endfunction()
