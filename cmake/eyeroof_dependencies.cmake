# Every outside library is found here, behind one name each, so that differences between
# distributions stay in this file.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(TBB REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(ZLIB REQUIRED)
find_package(SQLite3 REQUIRED)
if(EYEROOF_BUILD_TESTS)
    find_package(doctest REQUIRED)
endif()

# yaml-cpp 0.7 exports `yaml-cpp`, 0.8 exports `yaml-cpp::yaml-cpp`.
add_library(eyeroof_yaml INTERFACE)
target_link_libraries(eyeroof_yaml INTERFACE
    $<IF:$<TARGET_EXISTS:yaml-cpp::yaml-cpp>,yaml-cpp::yaml-cpp,yaml-cpp>)
