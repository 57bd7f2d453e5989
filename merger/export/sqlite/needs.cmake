# Debian has the library in libsqlite3-dev.
pkg_check_modules(SQLITE QUIET IMPORTED_TARGET sqlite3)
if(SQLITE_FOUND)
    set(needed_libraries PkgConfig::SQLITE)
else()
    set(needed_is_missing ON)
endif()
