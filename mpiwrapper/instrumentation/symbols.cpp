#include "mpiwrapper/instrumentation/symbols.h"

#include "hdtrace/writer/undisturbed.h"
#include "mpiwrapper/runtime/process/program_path.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace hdtrace::instrumentation {

namespace {

// Of the C++ library, which a program in C++ has.
static char* demangle(const char* name, char* buffer, size_t* size, int* status)
    __attribute__((weakref("__cxa_demangle")));

/// An object file in memory; the last one is kept, for the next function is mostly in it. For one thread at a
/// time.
class SymbolFile {
  public:
    /// The name of what is at @p offset, or null. It lives until the next call.
    const char* find(const char* path, uintptr_t offset)
    {
        if (strcmp(path, m_path) != 0)
            open(path);
        for (int i = 0; m_data != nullptr && i < header().e_shnum; ++i) {
            const ElfW(Shdr)& section = sections()[i];
            if (section.sh_type != SHT_SYMTAB || !is_inside(section) || section.sh_link >= header().e_shnum)
                continue;
            if (const char* const name = find_in(section, sections()[section.sh_link], offset))
                return name;
        }
        return nullptr;
    }

    void close()
    {
        if (m_data != nullptr)
            munmap(const_cast<char*>(m_data), m_size);
        m_data = nullptr;
        m_path[0] = '\0';
    }

  private:
    const ElfW(Ehdr) & header() const { return *reinterpret_cast<const ElfW(Ehdr)*>(m_data); }
    const ElfW(Shdr) * sections() const
    {
        return reinterpret_cast<const ElfW(Shdr)*>(m_data + header().e_shoff);
    }
    bool is_inside(const ElfW(Shdr) & section) const
    {
        return section.sh_offset <= m_size && section.sh_size <= m_size - section.sh_offset;
    }

    void open(const char* path)
    {
        close();
        snprintf(m_path, sizeof m_path, "%s", path);
        const int file = ::open(path, O_RDONLY | O_CLOEXEC);
        struct stat status;
        if (file < 0)
            return;
        if (fstat(file, &status) == 0 && status.st_size > static_cast<off_t>(sizeof(ElfW(Ehdr)))) {
            m_size = static_cast<size_t>(status.st_size);
            void* const data = mmap(nullptr, m_size, PROT_READ, MAP_PRIVATE, file, 0);
            m_data = data == MAP_FAILED ? nullptr : static_cast<const char*>(data);
        }
        ::close(file);
        if (m_data != nullptr && !is_sound()) {
            munmap(const_cast<char*>(m_data), m_size);
            m_data = nullptr;
        }
    }
    bool is_sound() const
    {
        return memcmp(m_data, ELFMAG, SELFMAG) == 0 && header().e_shentsize == sizeof(ElfW(Shdr)) &&
               header().e_shoff <= m_size &&
               header().e_shnum <= (m_size - header().e_shoff) / sizeof(ElfW(Shdr));
    }

    const char* find_in(const ElfW(Shdr) & symbols, const ElfW(Shdr) & names, uintptr_t offset) const
    {
        if (!is_inside(names) || names.sh_size == 0 || m_data[names.sh_offset + names.sh_size - 1] != '\0')
            return nullptr;
        const auto* const first = reinterpret_cast<const ElfW(Sym)*>(m_data + symbols.sh_offset);
        for (size_t i = 0; i < symbols.sh_size / sizeof *first; ++i) {
            const ElfW(Sym)& symbol = first[i];
            const bool is_it = ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
                               symbol.st_value <= offset && offset - symbol.st_value < symbol.st_size;
            if (is_it && symbol.st_name < names.sh_size)
                return m_data + names.sh_offset + symbol.st_name;
        }
        return nullptr;
    }

    char m_path[4096] = "";
    const char* m_data = nullptr;
    size_t m_size = 0;
};

SymbolFile symbols;
pthread_mutex_t symbols_mutex = HDTRACE_MUTEX_INITIALIZER;

// In a signal handler, which has its signal blocked, the program's memory must not be asked for.
bool may_be_in_handler()
{
    sigset_t blocked;
    return pthread_sigmask(SIG_BLOCK, nullptr, &blocked) != 0 || !sigisemptyset(&blocked);
}

void demangle_in_place(char* name, size_t size)
{
    if (demangle == nullptr || strncmp(name, "_Z", 2) != 0 || may_be_in_handler())
        return;
    int status = 0;
    char* const plain = demangle(name, nullptr, nullptr, &status);
    if (plain != nullptr)
        snprintf(name, size, "%s", plain);
    free(plain);
}

// To be opened: the program itself has no name.
const char* file_of(const link_map& object)
{
    if (object.l_name[0] != '\0')
        return object.l_name;
    return mpi::is_started_by_loader() ? mpi::program_path() : "/proc/self/exe";
}

// The file knows more names than the loader. False if neither knows one.
bool put_name(const link_map& object, uintptr_t offset, const char* known_to_loader, char* name, size_t size)
{
    const Lock lock(symbols_mutex);
    const char* symbol = lock.held() ? symbols.find(file_of(object), offset) : nullptr;
    if (symbol == nullptr)
        symbol = known_to_loader;
    if (symbol != nullptr)
        snprintf(name, size, "%s", symbol);
    return symbol != nullptr;
}

} // namespace

void forget_file()
{
    const Lock lock(symbols_mutex);
    if (lock.held())
        symbols.close();
}

// The loader is asked while nothing is held: it may wait itself for a constructor that calls us.
void name_of_function(const void* address, char* name, size_t size)
{
    Dl_info found;
    link_map* object = nullptr;
    if (dladdr1(address, &found, reinterpret_cast<void**>(&object), RTLD_DL_LINKMAP) == 0 ||
        object == nullptr) {
        snprintf(name, size, "%p", address);
        return;
    }
    const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - object->l_addr;
    if (put_name(*object, offset, found.dli_sname, name, size))
        return demangle_in_place(name, size);
    const char* const slash = strrchr(found.dli_fname, '/');
    snprintf(name, size, "%s+0x%zx", slash != nullptr ? slash + 1 : found.dli_fname,
             static_cast<size_t>(offset));
}

} // namespace hdtrace::instrumentation
