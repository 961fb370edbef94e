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

if(PG_QUERY_INCLUDE_DIR AND PG_QUERY_LIBRARY)
  list(APPEND whole_libraries ${PG_QUERY_LIBRARY})
endif()

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

# assay_whole(NAME FLAGS …)
function(assay_whole name)
  set(program ${PROJECT_BINARY_DIR}/${name})
  if(whole_libraries MATCHES "NOTFOUND")
    add_custom_target(${name} COMMAND ${CMAKE_COMMAND} -E echo "run dev/static-libraries and cmake again: there is no libfmt.a or libsimdjson.a"
      COMMAND ${CMAKE_COMMAND} -E false)
    return()
  endif()
  add_custom_command(OUTPUT ${program} DEPENDS assay ${rooms} ${whole_libraries} COMMAND_EXPAND_LISTS VERBATIM
    COMMAND ${CMAKE_CXX_COMPILER} $<$<BOOL:${CMAKE_SYSROOT}>:--sysroot=${CMAKE_SYSROOT}> ${ARGN} -Wl,--gc-sections ${ASSAY_HARDENED_LINK} -s -o ${program} ${hot} $<TARGET_OBJECTS:assay>
            -Wl,--start-group ${archives} ${whole_libraries} -Wl,--end-group -pthread)
  add_custom_target(${name} DEPENDS ${program})
endfunction()
assay_whole(assay-portable -static-libstdc++ -static-libgcc)
# -w: glibc's warnings about loading libraries, which this program does not do.
assay_whole(assay-static -static -Wl,-w)
