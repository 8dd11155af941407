include(GNUInstallDirs)
install(DIRECTORY hwdb/ DESTINATION ${CMAKE_INSTALL_DATADIR}/eyeroof/hwdb
    FILES_MATCHING PATTERN "*.yaml" PATTERN "*.schema.json")
install(DIRECTORY profiles/metrics/ DESTINATION ${CMAKE_INSTALL_DATADIR}/eyeroof/metrics FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY examples/networks/ DESTINATION ${CMAKE_INSTALL_DATADIR}/eyeroof/networks FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/eyeroof/examples)
