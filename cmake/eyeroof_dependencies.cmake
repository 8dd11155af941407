# Every outside library is found here, behind one name each, so that differences between
# distributions stay in this file.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
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

# Debian's RE2 and YAJL have no CMake packages.
find_path(EYEROOF_RE2_INCLUDE_DIR re2/re2.h REQUIRED)
find_library(EYEROOF_RE2_LIBRARY re2 REQUIRED)
find_path(EYEROOF_YAJL_INCLUDE_DIR yajl/yajl_parse.h REQUIRED)
find_library(EYEROOF_YAJL_LIBRARY yajl REQUIRED)
mark_as_advanced(EYEROOF_RE2_INCLUDE_DIR EYEROOF_RE2_LIBRARY
                 EYEROOF_YAJL_INCLUDE_DIR EYEROOF_YAJL_LIBRARY)
add_library(eyeroof_re2 INTERFACE)
target_include_directories(eyeroof_re2 SYSTEM INTERFACE ${EYEROOF_RE2_INCLUDE_DIR})
target_link_libraries(eyeroof_re2 INTERFACE ${EYEROOF_RE2_LIBRARY} Threads::Threads)
add_library(eyeroof_yajl INTERFACE)
target_include_directories(eyeroof_yajl SYSTEM INTERFACE ${EYEROOF_YAJL_INCLUDE_DIR})
target_link_libraries(eyeroof_yajl INTERFACE ${EYEROOF_YAJL_LIBRARY})

# Boosted trees of the learned search: XGBoost where it is (Debian's libxgboost-dev), eyeroof's own
# elsewhere.
if(NOT EYEROOF_WITH_XGBOOST STREQUAL "OFF")
    find_path(EYEROOF_XGBOOST_INCLUDE_DIR xgboost/c_api.h)
    find_library(EYEROOF_XGBOOST_LIBRARY xgboost)
    mark_as_advanced(EYEROOF_XGBOOST_INCLUDE_DIR EYEROOF_XGBOOST_LIBRARY)
    if(EYEROOF_XGBOOST_INCLUDE_DIR AND EYEROOF_XGBOOST_LIBRARY)
        add_library(eyeroof_xgboost INTERFACE)
        target_include_directories(eyeroof_xgboost SYSTEM INTERFACE ${EYEROOF_XGBOOST_INCLUDE_DIR})
        target_link_libraries(eyeroof_xgboost INTERFACE ${EYEROOF_XGBOOST_LIBRARY})
        target_compile_definitions(eyeroof_xgboost INTERFACE EYEROOF_HAS_XGBOOST=1)
    elseif(EYEROOF_WITH_XGBOOST STREQUAL "ON")
        message(FATAL_ERROR "EYEROOF_WITH_XGBOOST is ON, but XGBoost was not found (libxgboost-dev)")
    endif()
endif()
