# A room is one folder of src/: one static library, its unit tests beside its sources.
#
#   assay_room(graph [COLD] [TOGETHER group] ROOMS base LIBRARIES fmt::fmt [COLD_SOURCES random_draft …] [HOT_SOURCES engine …])
#
# COLD: no time is spent in it that a user waits for, and it is compiled with less optimization.
# COLD_SOURCES: the same for some sources of a room that is not cold, named without .cc. HOT_SOURCES: the sources of a cold room
# that are not.
# TOGETHER: with ASSAY_TOGETHER, the rooms of this group are compiled as one file, and what they share of headers and templates is
# compiled once. COLD_SOURCES are in the group cold_sources, HOT_SOURCES in hot_sources. A room in a group has no library then, and
# names in unnamed namespaces must not clash within a group.
# ROOMS are the only rooms it may include; tests/arrows_test checks the sources against these lists.
# Files: *_test.cc become the executable <room>_test, *_fuzz.cc one libFuzzer target each.
if(ASSAY_FUZZ)
  add_custom_target(fuzzers)
endif()

# assay_compile_together(GROUP HOLDER OPTIONS LIBRARIES SOURCES): adds sources to a group.
function(assay_compile_together group holder options libraries sources)
  if(NOT TARGET assay_${group})
    add_library(assay_${group} OBJECT)
    target_include_directories(assay_${group} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(assay_${group} PRIVATE assay_options)
    target_compile_options(assay_${group} PRIVATE ${options})
    assay_precompile(assay_${group} ${holder})
    set(temperature COLD)
    if(holder STREQUAL assay_common_headers)
      set(temperature HOT)
    endif()
    set_property(GLOBAL APPEND PROPERTY ASSAY_${temperature}_GROUPS assay_${group})
  endif()
  target_sources(assay_${group} PRIVATE ${sources})
  target_link_libraries(assay_${group} PRIVATE ${libraries})
endfunction()

# assay_compiled_by(OUT ROOM): the target that compiles a room.
function(assay_compiled_by out room)
  get_target_property(group assay_${room} ASSAY_GROUP)
  set(${out} assay_${room} PARENT_SCOPE)
  if(group)
    set(${out} assay_${group} PARENT_SCOPE)
  endif()
endfunction()

# Compiles the sources NAMES of a room with OPTIONS and the headers of HOLDER, and makes their objects part of its library,
# or of GROUP.
function(assay_sources_apart room names options holder group)
  set(apart)
  foreach(name ${names})
    set(source ${CMAKE_CURRENT_SOURCE_DIR}/${room}/${name}.cc)
    if(NOT source IN_LIST sources)
      message(FATAL_ERROR "${room} has no ${name}.cc, which is listed for it in src/CMakeLists.txt")
    endif()
    list(APPEND apart ${source})
  endforeach()
  list(REMOVE_ITEM sources ${apart})
  if(ASSAY_TOGETHER)
    assay_compile_together(${group} ${holder} "${options}" "${ROOM_LIBRARIES}" "${apart}")
    set(sources ${sources} PARENT_SCOPE)
    return()
  endif()
  set(sources ${sources} $<TARGET_OBJECTS:assay_${room}_apart> PARENT_SCOPE)
  add_library(assay_${room}_apart OBJECT ${apart})
  target_include_directories(assay_${room}_apart PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(assay_${room}_apart PRIVATE assay_options ${ROOM_LIBRARIES})
  target_compile_options(assay_${room}_apart PRIVATE ${options})
  assay_shareable(assay_${room}_apart)
  assay_precompile(assay_${room}_apart ${holder})
endfunction()

function(assay_room room)
  cmake_parse_arguments(ROOM "COLD" "TOGETHER" "ROOMS;LIBRARIES;COLD_SOURCES;HOT_SOURCES" ${ARGN})
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

  if(ASSAY_FUZZ)
    # All of a room is compiled alike: coverage is counted in all of it.
  elseif(ROOM_COLD_SOURCES)
    assay_sources_apart(${room} "${ROOM_COLD_SOURCES}" "${ASSAY_COLD_OPTIONS}" assay_cold_headers cold_sources)
  elseif(ROOM_HOT_SOURCES)
    assay_sources_apart(${room} "${ROOM_HOT_SOURCES}" "" assay_common_headers hot_sources)
    if(NOT ASSAY_TOGETHER)
      set_property(GLOBAL APPEND PROPERTY ASSAY_HOT_TARGETS assay_${room}_apart)
    endif()
  endif()
  if(ASSAY_TOGETHER AND ROOM_TOGETHER)
    set(holder assay_common_headers)
    set(options "")
    if(ROOM_COLD)
      set(holder assay_cold_headers)
      set(options ${ASSAY_COLD_OPTIONS})
    endif()
    assay_compile_together(${ROOM_TOGETHER} ${holder} "${options}" "${ROOM_LIBRARIES}" "${sources}")
    add_library(assay_${room} INTERFACE)
    set_target_properties(assay_${room} PROPERTIES ASSAY_GROUP ${ROOM_TOGETHER})
    target_include_directories(assay_${room} INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(assay_${room} INTERFACE ${linked} ${ROOM_LIBRARIES})
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
    set_property(GLOBAL APPEND PROPERTY ASSAY_HOT_TARGETS assay_${room})
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

# assay_hot_objects(OUT [ROOM…]): the objects of all sources so far that are not cold, or of these rooms'. Where several objects
# have the same inline function, the linker takes the first one: with these in front, that is one that was compiled to be fast.
function(assay_hot_objects out)
  get_property(targets GLOBAL PROPERTY ASSAY_HOT_TARGETS)
  set(hot)
  foreach(target ${targets})
    string(REGEX REPLACE "^assay_|_apart$" "" room ${target})
    if(NOT ARGN OR room IN_LIST ARGN)
      list(APPEND hot $<TARGET_OBJECTS:${target}>)
    endif()
  endforeach()
  set(${out} ${hot} PARENT_SCOPE)
endfunction()

function(assay_link_hot_first target)
  assay_hot_objects(hot ${ARGN})
  target_link_options(${target} PRIVATE ${hot})
endfunction()

# assay_link_groups(TARGET COMPILES GROUP): with what is compiled together, the hot ones first. GROUP is compiled with the target's own
# sources, which have the same options.
function(assay_link_groups target)
  cmake_parse_arguments(LINK "" "COMPILES" "" ${ARGN})
  foreach(temperature HOT COLD)
    get_property(groups GLOBAL PROPERTY ASSAY_${temperature}_GROUPS)
    foreach(group ${groups})
      if(group STREQUAL "assay_${LINK_COMPILES}")
        get_target_property(sources ${group} SOURCES)
        get_target_property(libraries ${group} LINK_LIBRARIES)
        target_sources(${target} PRIVATE ${sources})
        target_link_libraries(${target} PRIVATE ${libraries})
      else()
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:${group}>)
      endif()
    endforeach()
  endforeach()
endfunction()
