# What is installed where. The build folder has the same layout (bin, lib), so that everything can be used from it.
file(RELATIVE_PATH libraries_from_programs "${CMAKE_INSTALL_FULL_BINDIR}" "${CMAKE_INSTALL_FULL_LIBDIR}")
set(build_bindir "${CMAKE_BINARY_DIR}/bin")
cmake_path(APPEND build_bindir "${libraries_from_programs}" OUTPUT_VARIABLE build_libdir)
cmake_path(NORMAL_PATH build_libdir)

function(hdtrace_install)
    foreach(target IN LISTS ARGN)
        if(TARGET ${target})
            set_target_properties(${target} PROPERTIES
                RUNTIME_OUTPUT_DIRECTORY "${build_bindir}"
                LIBRARY_OUTPUT_DIRECTORY "${build_libdir}"
                ARCHIVE_OUTPUT_DIRECTORY "${build_libdir}")
            install(TARGETS ${target})
        endif()
    endforeach()
endfunction()

hdtrace_install(hdTrace hdTrace_static HDTraceMPIWrapper HDTraceMPIWrapper_static hdtrace-run project-merger)
