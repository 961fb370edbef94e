# Run by cpack on what it has gathered, before it packs: what packages of Debian have besides, and with SOURCE_DATE_EPOCH in the
# environment the same times in every build.
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(CPACK_GENERATOR STREQUAL "DEB")
  string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH, if it is set
  foreach(part "program|assay" "library|libassay0" "development|libassay-dev" "python|python3-assay")
    string(REPLACE "|" ";" part "${part}")
    list(GET part 0 component)
    list(GET part 1 package)
    set(root ${CPACK_TEMPORARY_DIRECTORY}/${component})
    if(NOT EXISTS ${root})
      continue()
    endif()
    set(docs ${root}/usr/share/doc/${package})
    file(REMOVE ${docs}/LICENSE)  # /usr/share/common-licenses has it
    file(WRITE ${docs}/copyright "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: assay

Files: *
Copyright: 2026 The assay developers
License: Apache-2.0
 On Debian systems the text of the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
")
    file(WRITE ${docs}/changelog.Debian "${package} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium

  * CHANGELOG.md of the sources has the changes.

 -- ${CPACK_PACKAGE_CONTACT}  ${now}
")
    file(RENAME ${docs}/changelog.Debian ${docs}/changelog)
    file(GLOB plain ${docs}/changelog ${root}/usr/share/man/man1/*.1)
    run(gzip -9n ${plain})
  endforeach()
endif()
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  run(find ${CPACK_TEMPORARY_DIRECTORY} -exec touch -h -d @$ENV{SOURCE_DATE_EPOCH} {} +)
endif()
