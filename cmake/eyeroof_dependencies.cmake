# Every outside library is found here, behind one name each, so that differences between
# distributions stay in this file.
#
# eyeroof_need(<package> <Debian package>): what is missing is listed with the line that installs it.
set(eyeroof_missing "")
macro(eyeroof_need package debian)
    find_package(${package} QUIET ${ARGN})
    if(NOT ${package}_FOUND)
        list(APPEND eyeroof_missing ${debian})
    endif()
endmacro()
macro(eyeroof_need_library name header library debian)
    find_path(EYEROOF_${name}_INCLUDE_DIR ${header})
    find_library(EYEROOF_${name}_LIBRARY ${library})
    mark_as_advanced(EYEROOF_${name}_INCLUDE_DIR EYEROOF_${name}_LIBRARY)
    if(NOT EYEROOF_${name}_INCLUDE_DIR OR NOT EYEROOF_${name}_LIBRARY)
        list(APPEND eyeroof_missing ${debian})
    endif()
endmacro()
find_package(Threads REQUIRED)
eyeroof_need(fmt libfmt-dev)
eyeroof_need(yaml-cpp libyaml-cpp-dev)
eyeroof_need(nlohmann_json nlohmann-json3-dev)
eyeroof_need(CLI11 libcli11-dev)
eyeroof_need(Eigen3 libeigen3-dev NO_MODULE)
eyeroof_need(ZLIB zlib1g-dev)
eyeroof_need(SQLite3 libsqlite3-dev)
# Debian's RE2, utf8proc, YAJL, and XGBoost have no CMake packages.
eyeroof_need_library(RE2 re2/re2.h re2 libre2-dev)
eyeroof_need_library(UTF8PROC utf8proc.h utf8proc libutf8proc-dev)
eyeroof_need_library(YAJL yajl/yajl_parse.h yajl libyajl-dev)
eyeroof_need_library(XGBOOST xgboost/c_api.h xgboost libxgboost-dev)
if(EYEROOF_BUILD_TESTS)
    eyeroof_need(doctest doctest-dev)
endif()
if(eyeroof_missing)
    list(JOIN eyeroof_missing " " eyeroof_missing)
    message(FATAL_ERROR "Libraries are missing. On Debian and Ubuntu this installs them:\n"
        "  sudo apt-get install ${eyeroof_missing}")
endif()

# yaml-cpp 0.7 exports `yaml-cpp`, 0.8 exports `yaml-cpp::yaml-cpp`.
add_library(eyeroof_yaml INTERFACE)
target_link_libraries(eyeroof_yaml INTERFACE
    $<IF:$<TARGET_EXISTS:yaml-cpp::yaml-cpp>,yaml-cpp::yaml-cpp,yaml-cpp>)

add_library(eyeroof_re2 INTERFACE)
target_include_directories(eyeroof_re2 SYSTEM INTERFACE ${EYEROOF_RE2_INCLUDE_DIR})
target_link_libraries(eyeroof_re2 INTERFACE ${EYEROOF_RE2_LIBRARY} Threads::Threads)
add_library(eyeroof_utf8proc INTERFACE)
target_include_directories(eyeroof_utf8proc SYSTEM INTERFACE ${EYEROOF_UTF8PROC_INCLUDE_DIR})
target_link_libraries(eyeroof_utf8proc INTERFACE ${EYEROOF_UTF8PROC_LIBRARY})
add_library(eyeroof_yajl INTERFACE)
target_include_directories(eyeroof_yajl SYSTEM INTERFACE ${EYEROOF_YAJL_INCLUDE_DIR})
target_link_libraries(eyeroof_yajl INTERFACE ${EYEROOF_YAJL_LIBRARY})
add_library(eyeroof_xgboost INTERFACE)
target_include_directories(eyeroof_xgboost SYSTEM INTERFACE ${EYEROOF_XGBOOST_INCLUDE_DIR})
target_link_libraries(eyeroof_xgboost INTERFACE ${EYEROOF_XGBOOST_LIBRARY})

