# What `cpack` makes in a build tree: packages for Debian (-G DEB), for others with RPM (-G RPM), and an archive (-G TGZ). dev/packages
# makes all, the same bytes in every build.
#
#   assay          the program, its manual, completions
#   libassay0      the shared library
#   libassay-dev   headers, static libraries, the CMake package, pkg-config
#   python3-assay  the Python package, which takes libassay0
set(CPACK_PACKAGE_NAME assay)
set(CPACK_PACKAGE_VENDOR "assay")
set(ASSAY_MAINTAINER "The assay developers <assay@localhost>" CACHE STRING "Whom packages name as their maintainer")
set(CPACK_PACKAGE_CONTACT ${ASSAY_MAINTAINER})
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "decides which transaction isolation level a database gave")
set(CPACK_PACKAGE_DESCRIPTION "assay drives a database with concurrent transactions, or reads the history
of such a run, decides every isolation level from read committed to strict
serializability, explains violations, and certifies each verdict for an
independent verifier.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program library development python)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/packages_gathered.cmake)
set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/packages_made.cmake)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME assay)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION database)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS "libpq5, libmariadb3, libcurl4, libhiredis0.14")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libassay0)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
# What depends on the library, and that the system has to look for it.
set(control ${PROJECT_BINARY_DIR}/package/control)
file(WRITE ${control}/shlibs "libassay ${PROJECT_VERSION_MAJOR} libassay0 (>= ${PROJECT_VERSION})\n")
file(WRITE ${control}/triggers "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${control}/shlibs ${control}/triggers)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libassay-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libassay0 (= ${PROJECT_VERSION}), libfmt-dev, libsimdjson-dev, libzstd-dev, nlohmann-json3-dev, zlib1g-dev")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-assay)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "libassay0 (>= ${PROJECT_VERSION}), python3 (>= 3.10)")
foreach(part "PROGRAM|program, its manual and completions" "LIBRARY|shared library"
             "DEVELOPMENT|headers and static libraries" "PYTHON|Python package")
  string(REPLACE "|" ";" part "${part}")
  list(POP_FRONT part component)
  set(CPACK_DEBIAN_${component}_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}\n\nThis package has the ${part}.")
endforeach()

set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
# The time of the build is SOURCE_DATE_EPOCH, if it is set, and the machine is not named.
set(CPACK_RPM_SPEC_MORE_DEFINE "%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1
%global _buildhost localhost
%global source_date_epoch_from_changelog 0")
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0")
set(CPACK_RPM_PROGRAM_PACKAGE_NAME assay)
set(CPACK_RPM_LIBRARY_PACKAGE_NAME libassay0)
set(CPACK_RPM_DEVELOPMENT_PACKAGE_NAME libassay-devel)
set(CPACK_RPM_DEVELOPMENT_PACKAGE_REQUIRES "libassay0 = ${PROJECT_VERSION}")
set(CPACK_RPM_PYTHON_PACKAGE_NAME python3-assay)
set(CPACK_RPM_PYTHON_PACKAGE_ARCHITECTURE noarch)
set(CPACK_RPM_PYTHON_PACKAGE_REQUIRES "libassay0 >= ${PROJECT_VERSION}")
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION
    /usr/lib/python3 /usr/lib/python3/dist-packages /usr/share/man /usr/share/man/man1 /usr/share/zsh
    /usr/share/zsh/site-functions /usr/share/fish /usr/share/fish/vendor_completions.d /usr/share/bash-completion
    /usr/share/bash-completion/completions /usr/${CMAKE_INSTALL_LIBDIR} /usr/${CMAKE_INSTALL_LIBDIR}/cmake
    /usr/${CMAKE_INSTALL_LIBDIR}/pkgconfig)
include(CPack)
