# Compiler settings shared by every target of the tree, carried by one interface library.
add_library(assay_options INTERFACE)
if(ASSAY_WARNINGS)
  target_compile_options(assay_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
                                                 -Wno-sign-conversion)
else()
  target_compile_options(assay_options INTERFACE -w)
  # Nor for mistakes in format strings, each of which it would read.
  target_compile_definitions(assay_options INTERFACE FMT_CONSTEVAL=)
endif()
# Some client libraries ask for it; all files must agree on the size of a file's offset.
target_compile_definitions(assay_options INTERFACE _FILE_OFFSET_BITS=64)
if(ASSAY_WERROR)
  target_compile_options(assay_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # False positives of g++ 12 inside the standard library at -O2 and above.
  target_compile_options(assay_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized
                                                 -Wno-stringop-overflow -Wno-stringop-overread
                                                 -Wno-array-bounds)
  # What of -O2 takes a sixth of the time to compile and makes nothing faster here but queries, by three per cent; reading takes a
  # tenth less without it (bench/results/2026-11-28-optimizer-passes.md).
  set(left_out schedule-insns2 tree-vectorize tree-vrp tree-pta expensive-optimizations ipa-sra ipa-vrp ipa-bit-cp ipa-modref
               ipa-reference ipa-profile devirtualize rerun-cse-after-loop cse-follow-jumps ree lra-remat caller-saves peephole2
               split-wide-types)
  list(TRANSFORM left_out PREPEND -fno-)
  target_compile_options(assay_options INTERFACE "$<$<CONFIG:Release>:${left_out}>")
endif()
if(ASSAY_TOGETHER AND ASSAY_WARNINGS)  # a local name may hide one of another source; g++ can look for those that hide a local one
  target_compile_options(assay_options INTERFACE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>)
endif()
if(ASSAY_TOGETHER AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A class with members of an unnamed namespace is fine in a source, which is what was written, and not in a header, for which
  # g++ takes sources that are compiled together.
  # Collecting garbage costs g++ a tenth of its time on sources of this size, and saves nothing on a machine with memory for them.
  target_compile_options(assay_options INTERFACE -Wno-subobject-linkage --param=ggc-min-heapsize=4000000)
endif()
if(PROJECT_IS_TOP_LEVEL AND ASSAY_HARDENED)
  # What reads files of strangers is built so that a mistake ends it rather than doing what they want: the guide of the OpenSSF for
  # compilers. Debian's compilers make position-independent programs by themselves.
  set(hardened "-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong -fstack-clash-protection")
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    string(APPEND hardened " -fcf-protection")
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    string(APPEND hardened " -mbranch-protection=standard")
  endif()
  set(ASSAY_HARDENED_LINK -Wl,-z,relro,-z,now)
  string(APPEND CMAKE_CXX_FLAGS_RELEASE " ${hardened}")
  string(APPEND CMAKE_EXE_LINKER_FLAGS_RELEASE " ${ASSAY_HARDENED_LINK}")
  string(APPEND CMAKE_SHARED_LINKER_FLAGS_RELEASE " ${ASSAY_HARDENED_LINK}")
endif()
if(ASSAY_ASSERTIONS)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()
if(ASSAY_SANITIZE)
  # What is undefined ends the program, as a test that goes on has passed.
  target_compile_options(assay_options INTERFACE -fsanitize=${ASSAY_SANITIZE} -fno-sanitize-recover=all
                                                 -fno-omit-frame-pointer -g1)
  target_link_options(assay_options INTERFACE -fsanitize=${ASSAY_SANITIZE})
  target_compile_definitions(assay_options INTERFACE ASSAY_INVARIANTS)  # src/base/invariants.h
endif()
find_program(ASSAY_CCACHE ccache)
if(ASSAY_CCACHE)
  # What it may not look at: precompiled headers, which it would otherwise refuse.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
      CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${ASSAY_CCACHE})
endif()
find_program(ASSAY_MOLD mold)
if(ASSAY_MOLD)
  target_link_options(assay_options INTERFACE -fuse-ld=mold)
endif()

# Code that calls the rooms and does no work of its own: compiling it quickly is worth more than running it quickly.
set(ASSAY_TEST_OPTIONS -O0 -U_FORTIFY_SOURCE)  # which needs the optimizer
set(ASSAY_COMMAND_LINE_OPTIONS -Og)
set(ASSAY_COLD_OPTIONS -Og)  # for rooms in which little time is spent
if(ASSAY_SANITIZE)  # sanitizers make the optimizer slow
  set(ASSAY_COMMAND_LINE_OPTIONS -O0)
  set(ASSAY_COLD_OPTIONS -O0)
endif()

# assay_shareable(TARGET): its code can be part of the shared library, which shows nothing of it but the C functions.
# Hidden names cost nothing: the compiler may do with them what it may do in a program.
function(assay_shareable target)
  if(ASSAY_SHARED)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden
                                               VISIBILITY_INLINES_HIDDEN ON)
  endif()
endfunction()
