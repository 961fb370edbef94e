# What `cmake --install` lays down: the program, the public headers, the rooms behind them, and a CMake
# package, so that a consumer writes
#
#   find_package(assay REQUIRED)
#   target_link_libraries(mine PRIVATE assay::assay)
#
# or, of the shared library for C, `find_package(assay REQUIRED COMPONENTS c)` and assay::c, or `pkg-config assay`.
include(CMakePackageConfigHelpers)

# The library as its users see it: reading and writing histories, checking, verifying, explaining.
add_library(assay_library INTERFACE)
target_link_libraries(assay_library INTERFACE assay_audit)
set_target_properties(assay_library PROPERTIES EXPORT_NAME assay)
add_library(assay::assay ALIAS assay_library)

if(PROJECT_IS_TOP_LEVEL)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/assay)
  if(NOT ASSAY_TOGETHER)
    install(TARGETS assay_library assay_base assay_history assay_formats assay_graph assay_infer
                    assay_solver assay_prefix_search assay_levels assay_certify assay_explain assay_audit
            EXPORT assay-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
    install(EXPORT assay-targets NAMESPACE assay:: DESTINATION ${package_dir} COMPONENT development)
  endif()
  if(TARGET assay_shared)
    install(TARGETS assay_shared EXPORT assay-c-targets
            LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
    install(EXPORT assay-c-targets NAMESPACE assay:: DESTINATION ${package_dir} COMPONENT development)
    file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/assay.pc.in ${PROJECT_BINARY_DIR}/package/assay.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/package/assay.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
            COMPONENT development)
    # Only where it is asked for: pip installs the package otherwise.
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/python/assay DESTINATION lib/python3/dist-packages COMPONENT python
            EXCLUDE_FROM_ALL FILES_MATCHING PATTERN "*.py" PATTERN "py.typed")
    install(FILES ${PROJECT_SOURCE_DIR}/examples/recorders/recorder.py DESTINATION lib/python3/dist-packages/assay
            COMPONENT python EXCLUDE_FROM_ALL)  # what it records with
  endif()
  if(TARGET assay)
    install(TARGETS assay RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
    # The manual page and the completions are what the program says of itself.
    set(described ${PROJECT_BINARY_DIR}/package)
    install(CODE "
      foreach(part \"manual>assay.1\" \"completion;bash>assay\" \"completion;zsh>_assay\" \"completion;fish>assay.fish\")
        string(REPLACE \">\" \";\" words \"\${part}\")
        list(POP_BACK words file)
        execute_process(COMMAND $<TARGET_FILE:assay> \${words} OUTPUT_FILE ${described}/\${file} COMMAND_ERROR_IS_FATAL ANY)
      endforeach()" COMPONENT program)
    install(FILES ${described}/assay.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT program)
    install(FILES ${described}/assay DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT program)
    install(FILES ${described}/_assay DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT program)
    install(FILES ${described}/assay.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT program)
  endif()
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/assay DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
          COMPONENT development)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
          DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT program)

  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/assay-config.cmake.in
    ${PROJECT_BINARY_DIR}/package/assay-config.cmake INSTALL_DESTINATION ${package_dir})
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/package/assay-config-version.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/package/assay-config.cmake
                ${PROJECT_BINARY_DIR}/package/assay-config-version.cmake
          DESTINATION ${package_dir} COMPONENT development)
  include(${PROJECT_SOURCE_DIR}/cmake/packages.cmake)
endif()
