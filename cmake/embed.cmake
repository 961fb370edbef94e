# Writes a script as a C++ source: its text, and the SHA-256 of it that a Content-Security-Policy names.
#
#   cmake -DSCRIPT=FILE.js -DNAME=kName -DHEADER=include/of/the.h -DOUTPUT=FILE.cc [-DLICENCE=FILE] [-DSHA256=…] -P embed.cmake
#
# LICENCE is put in front of the script as a comment. With SHA256 the script must have this hash.
file(READ ${SCRIPT} text)
if(SHA256)
  file(SHA256 ${SCRIPT} found)
  if(NOT found STREQUAL SHA256)
    message(FATAL_ERROR "${SCRIPT}: expected the SHA-256 ${SHA256}, found ${found}")
  endif()
endif()
if(LICENCE)
  file(READ ${LICENCE} licence)
  set(text "/*!\n${licence}*/\n${text}")
endif()
string(TOLOWER "${text}" lower)
if(lower MATCHES "</script|<!--" OR text MATCHES "\r")
  message(FATAL_ERROR "${SCRIPT}: expected no </script, no <!-- and no carriage return, which would change the element around it")
endif()
string(SHA256 hash "${text}")
file(WRITE ${OUTPUT} "// Made by cmake/embed.cmake of ${SCRIPT}.
#include \"${HEADER}\"

namespace assay::internal {

const Script ${NAME} = {R\"assay~js(${text})assay~js\", \"${hash}\"};

}  // namespace assay::internal
")
