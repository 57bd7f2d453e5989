# What is installed where. The build folder has the same layout (bin, lib), so that everything can be used from it.
include(CMakePackageConfigHelpers)

file(RELATIVE_PATH libraries_from_programs "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set(build_bindir "${CMAKE_BINARY_DIR}/bin")
cmake_path(APPEND build_bindir "${libraries_from_programs}" OUTPUT_VARIABLE build_libdir)
cmake_path(NORMAL_PATH build_libdir)
set(packaging_templates "${CMAKE_CURRENT_SOURCE_DIR}/templates")
set(packaging_output "${CMAKE_CURRENT_BINARY_DIR}/packaging")

# Programs and libraries.
foreach(target hdTrace hdTrace_static hdTraceReader hdtrace-functions hdtrace-kokkos hdtrace-itt hdtrace-run project-merger project-merger-mpi)
    if(TARGET ${target})
        set_target_properties(${target} PROPERTIES
            RUNTIME_OUTPUT_DIRECTORY "${build_bindir}"
            LIBRARY_OUTPUT_DIRECTORY "${build_libdir}"
            ARCHIVE_OUTPUT_DIRECTORY "${build_libdir}")
        install(TARGETS ${target})
    endif()
endforeach()
install(DIRECTORY "${PROJECT_SOURCE_DIR}/hdtrace/include/" TYPE INCLUDE)

# The wrappers: each in the folder with the name by which programs ask for its MPI library. That is how hdtrace-run and the selector,
# which lies beside the folders, find it. Programs that are linked with the default one find it beside the other libraries.
set(wrappers_from_libraries hdtrace)
set_target_properties(HDTraceMPIWrapper-any PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${build_libdir}/${wrappers_from_libraries}")
set_target_properties(hdtrace-probe PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${build_libdir}/${wrappers_from_libraries}")
install(TARGETS HDTraceMPIWrapper-any hdtrace-probe
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/${wrappers_from_libraries}"
    RUNTIME DESTINATION "${CMAKE_INSTALL_LIBDIR}/${wrappers_from_libraries}")
list(GET HDTRACE_MPI_IDS 0 default_mpi)
foreach(id IN LISTS HDTRACE_MPI_IDS)
    set(suffix "_${id}")
    if(id STREQUAL default_mpi)
        set(suffix "")
    endif()
    set(folder "${wrappers_from_libraries}/${HDTRACE_MPI_SONAME_${id}}")
    foreach(target HDTraceMPIWrapper HDTraceMPIWrapper_static)
        set_target_properties(${target}${suffix} PROPERTIES
            LIBRARY_OUTPUT_DIRECTORY "${build_libdir}/${folder}" ARCHIVE_OUTPUT_DIRECTORY "${build_libdir}/${folder}")
        install(TARGETS ${target}${suffix} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/${folder}"
            ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/${folder}")
    endforeach()
    set_target_properties(hdtrace-measure-${id} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${build_libdir}/${folder}")
    install(TARGETS hdtrace-measure-${id} RUNTIME DESTINATION "${CMAKE_INSTALL_LIBDIR}/${folder}")
endforeach()
foreach(name libHDTraceMPIWrapper.so libHDTraceMPIWrapper.so.${PROJECT_VERSION_MAJOR} libHDTraceMPIWrapper.a)
    file(MAKE_DIRECTORY "${build_libdir}")
    file(CREATE_LINK "${wrappers_from_libraries}/${HDTRACE_MPI_SONAME}/${name}" "${build_libdir}/${name}" SYMBOLIC)
    install(FILES "${build_libdir}/${name}" TYPE LIB)
endforeach()

# pkg-config and find_package(hdtrace); both find everything relative to themselves, so the prefix may be moved.
file(RELATIVE_PATH prefix_from_pc "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" prefix_from_pc "${prefix_from_pc}")
file(RELATIVE_PATH includedir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_INCLUDEDIR}")
file(RELATIVE_PATH libdir "${CMAKE_INSTALL_PREFIX}" "${CMAKE_INSTALL_FULL_LIBDIR}")
# hdtrace_install_pc(NAME TEMPLATE)
function(hdtrace_install_pc name template)
    configure_file("${packaging_templates}/${template}.pc.in" "${packaging_output}/${name}.pc" @ONLY)
    install(FILES "${packaging_output}/${name}.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()
foreach(name hdtrace hdtrace-reader hdtrace-region)
    hdtrace_install_pc(${name} ${name})
endforeach()

# For the default MPI library, and one for each by its name.
set(mpi_targets "")
set(of_library "")
set(mpi_soname "${HDTRACE_MPI_SONAME}")
set(wrapperdir "\${libdir}")
hdtrace_install_pc(hdtrace-mpi hdtrace-mpi)
hdtrace_install_pc(hdtrace-mpi-static hdtrace-mpi-static)
foreach(id IN LISTS HDTRACE_MPI_IDS)
    set(of_library "-${id}")
    set(mpi_soname "${HDTRACE_MPI_SONAME_${id}}")
    set(wrapperdir "\${libdir}/${wrappers_from_libraries}/${mpi_soname}")
    hdtrace_install_pc(hdtrace-mpi-${id} hdtrace-mpi)
    hdtrace_install_pc(hdtrace-mpi-${id}-static hdtrace-mpi-static)
    string(APPEND mpi_targets
        "    _hdtrace_add_mpi(hdtrace::mpi_${id} \"\${_hdtrace_libraries}/${wrappers_from_libraries}/${mpi_soname}\")\n")
endforeach()

set(package_directory "${CMAKE_INSTALL_LIBDIR}/cmake/hdtrace")
configure_package_config_file("${packaging_templates}/hdtrace-config.cmake.in" "${packaging_output}/hdtrace-config.cmake"
    INSTALL_DESTINATION "${package_directory}" PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR)
write_basic_package_version_file("${packaging_output}/hdtrace-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${packaging_output}/hdtrace-config.cmake" "${packaging_output}/hdtrace-config-version.cmake"
    DESTINATION "${package_directory}")

# Schemas, a platform to simulate, and documentation.
install(DIRECTORY "${PROJECT_SOURCE_DIR}/hdtrace/schemas/" DESTINATION "${CMAKE_INSTALL_DATADIR}/hdtrace/schemas"
    FILES_MATCHING PATTERN "*.rng")
install(FILES "${PROJECT_SOURCE_DIR}/examples/simulate/cluster.xml" DESTINATION "${CMAKE_INSTALL_DATADIR}/hdtrace/platforms")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/" "${CMAKE_BINARY_DIR}/docs/" TYPE DOC
    FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN man EXCLUDE)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/man/" "${CMAKE_BINARY_DIR}/docs/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1"
    FILES_MATCHING PATTERN "*.1")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" TYPE DOC)
foreach(page README.md CHANGELOG.md SECURITY.md)
    # The pages of docs are beside them there.
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${page}")
    file(READ "${PROJECT_SOURCE_DIR}/${page}" text)
    string(REPLACE "](docs/" "](" text "${text}")
    file(WRITE "${packaging_output}/${page}" "${text}")
    install(FILES "${packaging_output}/${page}" TYPE DOC)
endforeach()

# For environment modules and Lmod; it finds everything relative to itself, too.
set(modulefiles "${CMAKE_INSTALL_DATADIR}/modulefiles/hdtrace")
cmake_path(ABSOLUTE_PATH modulefiles BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE full_modulefiles)
file(RELATIVE_PATH prefix_from_modulefile "${full_modulefiles}" "${CMAKE_INSTALL_PREFIX}")
if(HDTRACE_PYTHON)
    cmake_path(ABSOLUTE_PATH HDTRACE_PYTHON_INSTALL_DIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE full_pythondir)
    file(RELATIVE_PATH pythondir "${CMAKE_INSTALL_PREFIX}" "${full_pythondir}")
endif()
configure_file("${packaging_templates}/modulefile.in" "${packaging_output}/modulefile" @ONLY)
install(FILES "${packaging_output}/modulefile" DESTINATION "${modulefiles}" RENAME "${PROJECT_VERSION}")
