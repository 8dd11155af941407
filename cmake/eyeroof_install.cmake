# What is installed, in three components, each a Debian package: cli (the program, its data and
# documents: eyeroof), gui (eyeroof-gui) and dev (the engine as a static library: libeyeroof-dev).
include(GNUInstallDirs)
set(share "${CMAKE_INSTALL_DATADIR}/eyeroof")

install(TARGETS eyeroof RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT cli)
# started by `eyeroof tune`, which looks for it there; `./bootstrap run` does not build it
install(TARGETS eyeroof-tune RUNTIME DESTINATION libexec/eyeroof COMPONENT cli OPTIONAL)
install(DIRECTORY hwdb/ DESTINATION ${share}/hwdb COMPONENT cli
        FILES_MATCHING PATTERN "*.yaml" PATTERN "*.schema.json" PATTERN "*.csv")
install(DIRECTORY profiles/metrics/ DESTINATION ${share}/metrics COMPONENT cli
        FILES_MATCHING PATTERN "*.yaml")
install(FILES profiles/recorded/h100-sxm-80gb/networks/resnet50-inference-fp16-nhwc.json.gz
        DESTINATION ${share}/recorded/h100-sxm-80gb/networks COMPONENT cli) # the explorer's example
install(DIRECTORY examples/networks/ DESTINATION ${share}/networks COMPONENT cli
        FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY examples/claims/ DESTINATION ${share}/claims COMPONENT cli)
install(DIRECTORY report/schema/ DESTINATION ${share}/schema COMPONENT cli FILES_MATCHING PATTERN "*.json")
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT cli FILES_MATCHING PATTERN "*.md")
install(FILES README.md LICENSE SECURITY.md THIRD-PARTY.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT cli)

# The manual page and the completions come from the program's own command tree.
set(made "${CMAKE_BINARY_DIR}/documents")
file(MAKE_DIRECTORY "${made}/schema")
add_custom_command(
    OUTPUT "${made}/eyeroof.1" "${made}/eyeroof.bash" "${made}/_eyeroof" "${made}/eyeroof.fish"
    COMMAND eyeroof manual -o "${made}/eyeroof.1"
    COMMAND eyeroof completion bash -o "${made}/eyeroof.bash"
    COMMAND eyeroof completion zsh -o "${made}/_eyeroof"
    COMMAND eyeroof completion fish -o "${made}/eyeroof.fish"
    COMMAND eyeroof manual --schemas "${made}/schema"
    DEPENDS eyeroof
    COMMENT "Writing the manual page and the shell completions")
add_custom_target(documents ALL DEPENDS "${made}/eyeroof.1")
install(DIRECTORY "${made}/schema/" DESTINATION ${share}/schema COMPONENT cli)
install(FILES "${made}/eyeroof.1" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT cli)
install(FILES "${made}/eyeroof.bash" DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
        RENAME eyeroof COMPONENT cli)
install(FILES "${made}/_eyeroof" DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT cli)
install(FILES "${made}/eyeroof.fish" DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
        COMPONENT cli)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME eyeroof)
set(CPACK_PACKAGE_VENDOR "The eyeroof authors")
# Who builds the package stands in it, as Debian's own tools take it from the environment.
set(name "The eyeroof authors")
if(DEFINED ENV{DEBFULLNAME})
    set(name "$ENV{DEBFULLNAME}")
endif()
set(contact "${name}")
if(DEFINED ENV{DEBEMAIL})
    string(APPEND contact " <$ENV{DEBEMAIL}>")
endif()
set(EYEROOF_CONTACT "${contact}" CACHE STRING "Maintainer in the packages: Name <address>; from DEBFULLNAME and DEBEMAIL")
set(CPACK_PACKAGE_CONTACT "${EYEROOF_CONTACT}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL cli dev)
if(TARGET eyeroof-gui)
    list(APPEND CPACK_COMPONENTS_ALL gui)
endif()
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_CLI_PACKAGE_NAME eyeroof)
set(CPACK_COMPONENT_CLI_DESCRIPTION "Analytical performance explorer for accelerators and GPUs
 How fast can a network run on a machine, which of seven limits stops it, and what would help.")
set(CPACK_COMPONENT_GUI_DESCRIPTION "Desktop explorer of accelerator and GPU performance
 The questions of eyeroof in a window: rooflines, layers, measurements, upgrades.")
set(CPACK_COMPONENT_DEV_DESCRIPTION "The engine of eyeroof as a static library, with headers
 For find_package(eyeroof): models, machines, mappings, file formats and exams.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libeyeroof-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS
    "libfmt-dev, libyaml-cpp-dev, nlohmann-json3-dev, libeigen3-dev, zlib1g-dev, libsqlite3-dev, libre2-dev, libutf8proc-dev, libyajl-dev, libxgboost-dev")
set(CPACK_DEBIAN_GUI_PACKAGE_NAME eyeroof-gui)
set(CPACK_DEBIAN_GUI_PACKAGE_DEPENDS "eyeroof (= ${PROJECT_VERSION})")
include(CPack)
