# Compiler settings shared by every target of the tree, carried by one interface library.
add_library(assay_options INTERFACE)
target_compile_options(assay_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                               -Wno-sign-conversion)
if(ASSAY_WERROR)
  target_compile_options(assay_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives of g++ 12 inside the standard library at -O2 and above.
  target_compile_options(assay_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized
                                                 -Wno-stringop-overflow -Wno-array-bounds)
endif()
if(ASSAY_SANITIZE)
  target_compile_options(assay_options INTERFACE -fsanitize=${ASSAY_SANITIZE}
                                                 -fno-omit-frame-pointer -g1)
  target_link_options(assay_options INTERFACE -fsanitize=${ASSAY_SANITIZE})
endif()
find_program(ASSAY_CCACHE ccache)
if(ASSAY_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ASSAY_CCACHE})
endif()
find_program(ASSAY_MOLD mold)
if(ASSAY_MOLD)
  target_link_options(assay_options INTERFACE -fuse-ld=mold)
endif()

# For code that calls the rooms and does no work of its own (the command line, tests): compiling it
# quickly is worth more than running it quickly. Sanitizers make the optimizer slow.
if(ASSAY_SANITIZE)
  set(ASSAY_LIGHT_OPTIONS -O0)
else()
  set(ASSAY_LIGHT_OPTIONS -O1)
endif()
