# libassay.so.0: all rooms up to c_api in one library, of which only the functions of include/assay/assay_c.h are seen, each
# with the version that src/c_api/assay.map gives it.
set(map ${CMAKE_CURRENT_SOURCE_DIR}/c_api/assay.map)
# With ASSAY_TOGETHER it has all rooms, since a group has rooms of either side; what is released is built without.
set(objects $<TARGET_OBJECTS:assay_c_api>)
if(ASSAY_TOGETHER)
  assay_group_objects(objects EXCEPT together_record)  # whose library it would need
endif()
add_library(assay_shared SHARED ${objects})
target_link_libraries(assay_shared PRIVATE assay_c_api assay_options)
if(ASSAY_TOGETHER)
  target_link_libraries(assay_shared PRIVATE assay_collect assay_evidence assay_watch assay_lake)
endif()
assay_link_hot_first(assay_shared base history formats graph infer solver prefix_search levels certify)
target_link_options(assay_shared PRIVATE LINKER:--version-script=${map} LINKER:--no-undefined LINKER:--as-needed)
set_target_properties(assay_shared PROPERTIES
  OUTPUT_NAME assay VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR} EXPORT_NAME c LINK_DEPENDS ${map}
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_include_directories(assay_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
