# One function makes every library, so that a folder's CMakeLists.txt says only what it is and what it
# links. Sources are globbed: a new file in a folder belongs to that folder. The links are the one
# table of dependencies: tests/architecture checks every include against them.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# What is released reads files of strangers: a mistake there ends the program with a word instead of
# going on with memory that is not its own.
if(CMAKE_BUILD_TYPE STREQUAL "Release")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fstack-protector-strong;-fstack-clash-protection>"
        "$<$<COMPILE_LANGUAGE:CXX>:-U_FORTIFY_SOURCE;-D_FORTIFY_SOURCE=2;-D_GLIBCXX_ASSERTIONS>")
    add_link_options(-Wl,-z,relro,-z,now)
    # The same bytes in any folder: tests/reproducible.sh.
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${CMAKE_BINARY_DIR}=.>"
        "$<$<COMPILE_LANGUAGE:CXX>:-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.>")
endif()

add_library(eyeroof_warnings INTERFACE)
if(EYEROOF_WARNINGS)
    target_compile_options(eyeroof_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion
        # Several files in one unit see each other's file-local names; single files are checked nightly.
        $<IF:$<BOOL:${EYEROOF_UNITY}>,-Wshadow=local;-Wno-subobject-linkage,-Wshadow>
        $<$<BOOL:${EYEROOF_WERROR}>:-Werror>
        $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>) # g++ 12 warns of std::string's own code (GCC bug 105651)
endif()

# What runs once a command, such as its options and the documents that it writes: in releases
# compiled in two thirds of the time, a little slower. `level`: -O1, or -Og for what has no loops.
function(eyeroof_seldom_runs target level)
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:${level}>)
endfunction()

# eyeroof_library(<name> [FOLDER <below this one>] PUBLIC <targets its headers need> PRIVATE <targets
# only its sources need>)
function(eyeroof_library name)
    cmake_parse_arguments(ARG "" "FOLDER" "PUBLIC;PRIVATE" ${ARGN})
    set(folder "${CMAKE_CURRENT_SOURCE_DIR}")
    if(ARG_FOLDER)
        string(APPEND folder "/${ARG_FOLDER}")
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${folder}/*.hpp")
    add_library(eyeroof_${name} STATIC ${sources} ${headers})
    add_library(eyeroof::${name} ALIAS eyeroof_${name})
    target_include_directories(eyeroof_${name} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/eyeroof>)
    target_compile_features(eyeroof_${name} PUBLIC cxx_std_20) # programs that link it need it too
    target_link_libraries(eyeroof_${name} PUBLIC ${ARG_PUBLIC}
        PRIVATE $<BUILD_INTERFACE:eyeroof_warnings> ${ARG_PRIVATE})
    set_target_properties(eyeroof_${name} PROPERTIES EXPORT_NAME ${name}
        UNITY_BUILD ${EYEROOF_UNITY} UNITY_BUILD_BATCH_SIZE 16)
    file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${folder}")
    eyeroof_module(${folder} eyeroof_${name})
endfunction()

# eyeroof_module(<folder from the root> <target>): a folder whose dependencies are the target's links.
function(eyeroof_module folder target)
    set_property(GLOBAL APPEND PROPERTY EYEROOF_MODULES "${folder}=${target}")
endfunction()

# eyeroof_write_modules(<file>): a line for each folder: "folder: target links..."; "folder/*" for a
# target that only stands for its folder's modules.
function(eyeroof_write_modules file)
    get_property(modules GLOBAL PROPERTY EYEROOF_MODULES)
    set(text "")
    foreach(module IN LISTS modules)
        string(REGEX MATCH "^(.*)=(.*)$" all "${module}")
        set(folder "${CMAKE_MATCH_1}")
        set(target "${CMAKE_MATCH_2}")
        get_target_property(type ${target} TYPE)
        if(type STREQUAL "INTERFACE_LIBRARY")
            get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
            string(APPEND folder "/*")
        else()
            get_target_property(links ${target} LINK_LIBRARIES)
        endif()
        list(JOIN links " " links)
        string(APPEND text "${folder}: ${target} ${links}\n")
    endforeach()
    file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
endfunction()
