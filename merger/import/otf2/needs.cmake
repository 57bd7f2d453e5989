# Debian has the library in libotf2-trace-dev.
pkg_check_modules(OTF2 QUIET IMPORTED_TARGET otf2)
if(OTF2_FOUND)
    set(needed_libraries PkgConfig::OTF2)
else()
    set(needed_is_missing ON)
endif()
