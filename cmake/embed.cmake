# Writes texts as a C++ source that is compiled into the program.
#
#   cmake -DSCRIPT=FILE.js -DNAME=kName -DHEADER=include/of/the.h -DOUTPUT=FILE.cc [-DLICENCE=FILE] [-DSHA256=…] -P embed.cmake
#   cmake -DFOLDER=FOLDER -DNAME=kName -DHEADER=include/of/the.h -DNAMESPACE=… -DOUTPUT=FILE.cc -P embed.cmake
#
# A script comes with the SHA-256 of it that a Content-Security-Policy names. LICENCE is put in front of it as a comment. With
# SHA256 it must have this hash. Of a folder, each file comes with its name.
if(FOLDER)
  file(GLOB files RELATIVE ${FOLDER} ${FOLDER}/*)
  list(SORT files)
  foreach(name ${files})
    file(READ ${FOLDER}/${name} text)
    string(APPEND entries "    {\"${name}\", R\"assay~sql(${text})assay~sql\"},\n")
  endforeach()
  file(WRITE ${OUTPUT} "// Made by cmake/embed.cmake of ${FOLDER}.
#include \"${HEADER}\"

namespace ${NAMESPACE} {

static constexpr NamedText ${NAME}Texts[] = {
${entries}};
const std::span<const NamedText> ${NAME} = ${NAME}Texts;

}  // namespace ${NAMESPACE}
")
  return()
endif()
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
