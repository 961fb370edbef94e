# Sources that are compiled as one file: what they share of headers and templates is compiled once, which is two thirds of the work.
#
# assay_batches(OUT NAME KILOBYTES SOURCES …): files in the build tree that include the sources, in their order, about KILOBYTES
# of them each; 0: one file. They name sources from the root of the tree, so that ccache finds the work of another checkout;
# those that CMake's UNITY_BUILD makes hold absolute paths.
function(assay_batches out name kilobytes)
  set(made)
  set(total 0)
  foreach(source ${ARGN})
    file(SIZE ${source} size)
    math(EXPR total "${total} + ${size}")
  endforeach()
  set(share ${total})
  if(kilobytes GREATER 0)  # files of about the same size
    math(EXPR share "${total} / (1 + ${total} / (${kilobytes} * 1024)) + 1")
  endif()
  set(before 0)
  set(number 0)
  foreach(source ${ARGN})
    if(number EQUAL 0 OR before GREATER_EQUAL limit)
      math(EXPR number "${number} + 1")
      math(EXPR limit "${number} * ${share}")
      set(file ${PROJECT_BINARY_DIR}/together/${name}_${number}.cc)
      list(APPEND made ${file})
      set(${file} "")
    endif()
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    string(APPEND ${file} "#include \"${path}\"\n")
    file(SIZE ${source} size)
    math(EXPR before "${before} + ${size}")
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
