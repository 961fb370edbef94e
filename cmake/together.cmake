# Sources that are compiled as one file: what they share of headers and templates is compiled once, which is two thirds of the work.
#
# assay_batches(OUT NAME KILOBYTES SOURCES …): files in the build tree that include the sources, in their order, each until it has
# KILOBYTES of them; 0: one file. They name sources from the root of the tree, so that ccache finds the work of another checkout;
# those that CMake's UNITY_BUILD makes hold absolute paths.
function(assay_batches out name kilobytes)
  set(made)
  math(EXPR limit "${kilobytes} * 1024")
  set(number 0)
  set(bytes 0)
  foreach(source ${ARGN})
    file(SIZE ${source} size)
    math(EXPR bytes "${bytes} + ${size}")
    if(number EQUAL 0 OR (limit GREATER 0 AND bytes GREATER limit))
      math(EXPR number "${number} + 1")
      set(bytes ${size})
      set(file ${PROJECT_BINARY_DIR}/together/${name}_${number}.cc)
      list(APPEND made ${file})
      set(${file} "")
    endif()
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    string(APPEND ${file} "#include \"${path}\"\n")
  endforeach()
  foreach(file ${made})
    file(CONFIGURE OUTPUT ${file} CONTENT "${${file}}" @ONLY)  # leaves it alone where it says this already
  endforeach()
  set(${out} ${made} PARENT_SCOPE)
endfunction()

# assay_replace_by_batches(TARGET): the sources of the tree in a target by files that include them; what the build makes stays.
function(assay_replace_by_batches target)
  get_target_property(sources ${target} SOURCES)
  set(made ${sources})
  list(FILTER made INCLUDE REGEX "^${PROJECT_BINARY_DIR}/")
  list(FILTER sources EXCLUDE REGEX "^${PROJECT_BINARY_DIR}/")
  assay_batches(batches ${target} ${ASSAY_TOGETHER_KILOBYTES} ${sources})
  set_property(TARGET ${target} PROPERTY SOURCES ${made} ${batches})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()
