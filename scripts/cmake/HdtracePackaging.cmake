# What is installed where. The build folder has the same layout (bin, lib), so that everything can be used from it.
include(CMakePackageConfigHelpers)

file(RELATIVE_PATH libraries_from_programs "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set(build_bindir "${CMAKE_BINARY_DIR}/bin")
cmake_path(APPEND build_bindir "${libraries_from_programs}" OUTPUT_VARIABLE build_libdir)
cmake_path(NORMAL_PATH build_libdir)
set(packaging_templates "${CMAKE_CURRENT_SOURCE_DIR}/templates")
set(packaging_output "${CMAKE_CURRENT_BINARY_DIR}/packaging")

# Programs and libraries.
foreach(target hdTrace hdTrace_static hdTraceReader HDTraceMPIWrapper HDTraceMPIWrapper_static hdtrace-functions hdtrace-kokkos hdtrace-itt hdtrace-run project-merger project-merger-mpi)
    if(TARGET ${target})
        set_target_properties(${target} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY "${build_bindir}"
            LIBRARY_OUTPUT_DIRECTORY "${build_libdir}"
            ARCHIVE_OUTPUT_DIRECTORY "${build_libdir}")
        install(TARGETS ${target})
    endif()
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/hdtrace/include/" TYPE INCLUDE)

# pkg-config and find_package(hdtrace); both find everything relative to themselves, so the prefix may be moved.
file(RELATIVE_PATH prefix_from_pc "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
file(RELATIVE_PATH includedir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
file(RELATIVE_PATH libdir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
foreach(name hdtrace hdtrace-mpi hdtrace-mpi-static hdtrace-reader hdtrace-region)
    configure_file("${packaging_templates}/${name}.pc.in" "${packaging_output}/${name}.pc" @ONLY)
    install(FILES "${packaging_output}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endforeach()

set(package_directory "${CMAKE_INSTALL_LIBDIR}/cmake/hdtrace")
configure_package_config_file("${packaging_templates}/hdtrace-config.cmake.in" "${packaging_output}/hdtrace-config.cmake"
    INSTALL_DESTINATION "${package_directory}" PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file("${packaging_output}/hdtrace-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${packaging_output}/hdtrace-config.cmake" "${packaging_output}/hdtrace-config-version.cmake"
    DESTINATION "${package_directory}")

# Schemas and documentation.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/hdtrace/schemas/" DESTINATION "${CMAKE_INSTALL_DATADIR}/hdtrace/schemas"
    FILES_MATCHING PATTERN "*.rng")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/" "${CMAKE_BINARY_DIR}/docs/" TYPE DOC
    FILES_MATCHING PATTERN "*.md" PATTERN man EXCLUDE)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/man/" "${CMAKE_BINARY_DIR}/docs/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
    FILES_MATCHING PATTERN "*.1")
foreach(file README.md CHANGELOG.md SECURITY.md LICENSE)
    install(FILES "${PROJECT_SOURCE_DIR}/${file}" TYPE DOC)
endforeach()
