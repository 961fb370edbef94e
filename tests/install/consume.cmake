# Installs the build into an empty folder, builds examples/library against it and runs the result.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\nended with ${status}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run(${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} -S ${SOURCE_DIR}/examples/library -B ${WORK_DIR}/build -G ${GENERATOR}
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix)
run(${CMAKE_COMMAND} --build ${WORK_DIR}/build)

run(${WORK_DIR}/build/consumer ${SOURCE_DIR}/examples/write-skew.hist)
foreach(expected "session-si satisfied" "session-serializable violated" "write-skew: ")
  string(FIND "${output}" "${expected}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "expected \"${expected}\" of the consumer, got:\n${output}")
  endif()
endforeach()

run(${WORK_DIR}/prefix/bin/assay version)

# What a shell and `man` look for.
function(expect_installed file expected)
  file(READ ${WORK_DIR}/prefix/${file} text)
  string(FIND "${text}" "${expected}" found)
  if(found EQUAL -1)
    message(FATAL_ERROR "expected \"${expected}\" in ${file}")
  endif()
endfunction()
expect_installed(share/man/man1/assay.1 "expected\\-order")
expect_installed(share/bash-completion/completions/assay "--expected-order")
expect_installed(share/zsh/site-functions/_assay "--expected-order")
expect_installed(share/fish/vendor_completions.d/assay.fish "expected-order")
