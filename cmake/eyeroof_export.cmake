# The engine as a library for other programs: model, machines, mapper, formats and exam, with their
# headers. After `cmake --install build/release --component dev --prefix DIR`:
#
#   find_package(eyeroof REQUIRED)                      # with DIR in CMAKE_PREFIX_PATH
#   target_link_libraries(mine PRIVATE eyeroof::exam eyeroof::formats)
#
# tests/outside is such a program. Static libraries: what they use must be there when linking.
include(CMakePackageConfigHelpers)
set(exported base model hwdb profiles mapper formats scenario program exam)
list(TRANSFORM exported PREPEND eyeroof_ OUTPUT_VARIABLE exported_targets)
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/eyeroof")

install(TARGETS ${exported_targets} eyeroof_yaml eyeroof_re2 eyeroof_utf8proc eyeroof_yajl EXPORT eyeroof
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(EXPORT eyeroof NAMESPACE eyeroof:: FILE eyeroof-targets.cmake DESTINATION ${package}
        COMPONENT dev)
foreach(folder base model hwdb profiles mapper formats analysis/scenario analysis/program analysis/exam)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}/" DESTINATION include/eyeroof/${folder}
            COMPONENT dev FILES_MATCHING PATTERN "*.hpp" PATTERN "cupti" EXCLUDE
            PATTERN "gpu/*.cu" EXCLUDE)
endforeach()
file(WRITE "${CMAKE_BINARY_DIR}/eyeroof-config.cmake" [=[
include(CMakeFindDependencyMacro)
foreach(package Threads fmt yaml-cpp nlohmann_json Eigen3 ZLIB SQLite3)
    find_dependency(${package})
endforeach()
include("${CMAKE_CURRENT_LIST_DIR}/eyeroof-targets.cmake")
]=])
write_basic_package_version_file("${CMAKE_BINARY_DIR}/eyeroof-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/eyeroof-config.cmake"
              "${CMAKE_BINARY_DIR}/eyeroof-config-version.cmake"
        DESTINATION ${package} COMPONENT dev)
