# EYEROOF_VERSION: what --version says. In a checkout with a tag like v1.2.0 it is git's description of
# the commit ("1.2.0", "1.2.0-5-g1a2b3c4"), elsewhere the project's own version. The number before the
# first dash must be the project's, or the tag and CMakeLists.txt contradict each other.
set(EYEROOF_VERSION "${PROJECT_VERSION}")
find_package(Git QUIET)
if(GIT_FOUND AND EXISTS "${PROJECT_SOURCE_DIR}/.git")
    execute_process(COMMAND "${GIT_EXECUTABLE}" describe --tags --match "v[0-9]*"
        WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE described RESULT_VARIABLE failed
        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT failed)
        string(SUBSTRING "${described}" 1 -1 EYEROOF_VERSION)
        string(REGEX REPLACE "-.*" "" tagged "${EYEROOF_VERSION}")
        if(NOT tagged VERSION_EQUAL PROJECT_VERSION)
            message(WARNING "the tag v${tagged} and the project's version ${PROJECT_VERSION} differ")
        endif()
    endif()
endif()
