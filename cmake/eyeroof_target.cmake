# One function makes every library, so that a folder's CMakeLists.txt says only what it is and what it
# links. Sources are globbed: a new file in a folder belongs to that folder. The links are the one
# table of dependencies: tests/architecture checks every include against them.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# Address and thread sanitizers replace the allocator and multiply the time of a test; the checks of the preset
# dev do neither.
set(EYEROOF_SLOW_SANITIZER OFF)
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize=[a-z,-]*(address|thread)")
    set(EYEROOF_SLOW_SANITIZER ON)
endif()

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

# Thirty programs are linked for the tests: lld takes a third of the time of GNU ld, gold two thirds.
# What is released is linked by the system's own.
if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
    find_program(EYEROOF_LLD ld.lld)
    find_program(EYEROOF_GOLD ld.gold)
    mark_as_advanced(EYEROOF_LLD EYEROOF_GOLD)
    if(EYEROOF_LLD)
        add_link_options(-fuse-ld=lld)
    elseif(EYEROOF_GOLD)
        add_link_options(-fuse-ld=gold)
    endif()
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

# What tests spend most of their time in: in the development build optimized as in releases.
function(eyeroof_often_runs target)
    if(NOT CMAKE_BUILD_TYPE AND NOT EYEROOF_SLOW_SANITIZER)
        target_compile_options(${target} PRIVATE -O2)
    endif()
endfunction()

# eyeroof_library(<name> [FOLDER <below this one>] [IN <archive> UNIT <unit>] PUBLIC <targets its headers
# need> PRIVATE <targets only its sources need>)
#
# IN: small modules are compiled together into one archive, the sources of a UNIT at once. Parsing the
# headers takes longer than their own code, and so it is done once for all of them.
function(eyeroof_library name)
    cmake_parse_arguments(ARG "" "FOLDER;IN;UNIT" "PUBLIC;PRIVATE" ${ARGN})
    set(folder "${CMAKE_CURRENT_SOURCE_DIR}")
    if(ARG_FOLDER)
        string(APPEND folder "/${ARG_FOLDER}")
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*.cpp")
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${folder}/*.hpp")
    file(RELATIVE_PATH module "${PROJECT_SOURCE_DIR}" "${folder}")
    eyeroof_module(${module} eyeroof_${name})
    if(ARG_IN)
        add_library(eyeroof_${name} INTERFACE)
        target_link_libraries(eyeroof_${name} INTERFACE ${ARG_PUBLIC} eyeroof_${ARG_IN})
        set_target_properties(eyeroof_${name} PROPERTIES
            EYEROOF_ARCHIVE ${ARG_IN} EYEROOF_LINKS "${ARG_PUBLIC};${ARG_PRIVATE}")
        set_source_files_properties(${sources} PROPERTIES UNITY_GROUP ${ARG_UNIT})
        target_sources(eyeroof_${ARG_IN} PRIVATE ${sources} ${headers})
        eyeroof_outside(${ARG_IN} public ${ARG_PUBLIC})
        eyeroof_outside(${ARG_IN} private ${ARG_PRIVATE})
        target_link_libraries(eyeroof_${ARG_IN} PUBLIC ${public} PRIVATE ${private})
    else()
        add_library(eyeroof_${name} STATIC ${sources} ${headers})
        eyeroof_archive(${name})
        target_link_libraries(eyeroof_${name} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
    endif()
    add_library(eyeroof::${name} ALIAS eyeroof_${name})
endfunction()

# eyeroof_outside(<archive> <variable> <target>…): those of the targets that are not compiled into it.
function(eyeroof_outside archive variable)
    set(outside)
    foreach(target IN LISTS ARGN)
        set(in)
        if(TARGET ${target})
            get_target_property(in ${target} EYEROOF_ARCHIVE)
        endif()
        if(NOT in STREQUAL archive)
            list(APPEND outside ${target})
        endif()
    endforeach()
    set(${variable} ${outside} PARENT_SCOPE)
endfunction()

# eyeroof_archive(<name>): what every library is compiled with.
function(eyeroof_archive name)
    target_include_directories(eyeroof_${name} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/eyeroof>)
    target_compile_features(eyeroof_${name} PUBLIC cxx_std_20) # programs that link it need it too
    target_link_libraries(eyeroof_${name} PRIVATE $<BUILD_INTERFACE:eyeroof_warnings>)
    set_target_properties(eyeroof_${name} PROPERTIES EXPORT_NAME ${name}
        UNITY_BUILD ${EYEROOF_UNITY} UNITY_BUILD_BATCH_SIZE 42)
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
        get_target_property(archive ${target} EYEROOF_ARCHIVE)
        if(archive)
            get_target_property(links ${target} EYEROOF_LINKS)
        elseif(type STREQUAL "INTERFACE_LIBRARY")
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
