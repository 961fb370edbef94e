# Two more ways to link the program, of the same objects:
#
#   assay-portable   needs glibc and nothing else, and loads the clients of databases where they are
#   assay-static     needs nothing, not even glibc: drives SQLite and programs (exec:), and runs in an empty folder
#
#   cmake --preset release && cmake --build --preset portable
#
# The static libraries are those of Debian's packages, and those of dev/static-libraries, which Debian has as shared ones only.
set(ASSAY_STATIC_LIBRARIES ${PROJECT_SOURCE_DIR}/build/static-libraries CACHE PATH "Where dev/static-libraries has put them")
set(whole_libraries)
foreach(library fmt simdjson sqlite3 zstd z)
  find_library(ASSAY_STATIC_${library} lib${library}.a PATHS ${ASSAY_STATIC_LIBRARIES} NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH)
  find_library(ASSAY_STATIC_${library} lib${library}.a)
  list(APPEND whole_libraries ${ASSAY_STATIC_${library}})
endforeach()

set(rooms)
set(archives)
if(ASSAY_TOGETHER)
  assay_group_objects(hot EXCEPT together_c_api)
else()
  get_property(rooms GLOBAL PROPERTY ASSAY_ROOMS)
  list(REMOVE_ITEM rooms assay_c_api)
  assay_hot_objects(hot)
  foreach(room ${rooms})
    list(APPEND archives $<TARGET_FILE:${room}>)
  endforeach()
endif()

# assay_whole(NAME OBJECTS MORE FLAGS …): OBJECTS are those of the hot sources, MORE is what it links besides the archives
function(assay_whole name objects more)
  set(program ${PROJECT_BINARY_DIR}/${name})
  if(whole_libraries MATCHES "NOTFOUND")
    add_custom_target(${name} COMMAND ${CMAKE_COMMAND} -E echo "run dev/static-libraries and cmake again: there is no libfmt.a or libsimdjson.a"
      COMMAND ${CMAKE_COMMAND} -E false)
    return()
  endif()
  add_custom_command(OUTPUT ${program} DEPENDS assay ${rooms} ${whole_libraries} ${more} COMMAND_EXPAND_LISTS VERBATIM
    COMMAND ${CMAKE_CXX_COMPILER} $<$<BOOL:${CMAKE_SYSROOT}>:--sysroot=${CMAKE_SYSROOT}> ${ARGN} -Wl,--gc-sections ${ASSAY_HARDENED_LINK} -s -o ${program} "${objects}" $<TARGET_OBJECTS:assay>
            ${more} -Wl,--start-group ${archives} ${whole_libraries} -Wl,--end-group -pthread)
  add_custom_target(${name} DEPENDS ${program})
endfunction()
set(parser)
if(PG_QUERY_INCLUDE_DIR AND PG_QUERY_LIBRARY)
  set(parser ${PG_QUERY_LIBRARY})
endif()
assay_whole(assay-portable "${hot}" "${parser}" -static-libstdc++ -static-libgcc)

# assay-static cannot load PostgreSQL's client, so it needs no parser of its statements either: 1.3 megabytes. The source that
# calls it is compiled again without it; not where sources are compiled together.
if(NOT ASSAY_TOGETHER)
  add_library(assay_without_parser OBJECT EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/src/record/rewriting.cc)
  target_include_directories(assay_without_parser PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(assay_without_parser PRIVATE fmt::fmt)
  set(parser $<TARGET_OBJECTS:assay_without_parser>)
  set(hot "$<FILTER:${hot},EXCLUDE,/record/rewriting[.]cc>")
endif()
# The linker warns of glibc's functions that load libraries, which this program does not call. It is not asked to be silent: ld's -w
# leaves out errors too.
assay_whole(assay-static "${hot}" "${parser}" -static)
