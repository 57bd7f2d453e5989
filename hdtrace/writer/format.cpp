#include "hdtrace/writer/format.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>

namespace hdtrace {

namespace {

locale_t make_locale()
{
    const locale_t with_utf8 = newlocale(LC_ALL_MASK, "C.UTF-8", static_cast<locale_t>(nullptr));
    return with_utf8 != nullptr ? with_utf8 : newlocale(LC_ALL_MASK, "C", static_cast<locale_t>(nullptr));
}

// One for the process, made when it is first needed; null if memory is short.
locale_t our_locale()
{
    static locale_t shared = nullptr;
    const locale_t known = __atomic_load_n(&shared, __ATOMIC_ACQUIRE);
    if (known != nullptr)
        return known;
    const locale_t fresh = make_locale();
    locale_t first = nullptr;
    if (__atomic_compare_exchange_n(&shared, &first, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return fresh;
    if (fresh != nullptr)
        freelocale(fresh);
    return first;
}

/// Holds for the calling thread only.
class LocaleChange {
  public:
    explicit LocaleChange(locale_t locale) : m_previous(uselocale(locale)) {}
    ~LocaleChange() { uselocale(m_previous); }
    LocaleChange(const LocaleChange&) = delete;
    LocaleChange& operator=(const LocaleChange&) = delete;

  private:
    locale_t m_previous;
};

// Returns how long the text is, even if there is no memory for it; negative with errno set if it cannot be
// formatted.
int format_into(TextBuffer& out, size_t size, const char* format, va_list arguments)
{
    char* const space = out.space(size);
    va_list copy;
    va_copy(copy, arguments);
    const int length = vsnprintf(space, space == nullptr ? 0 : size + 1, format, copy);
    va_end(copy);
    return length;
}

} // namespace

int append_format(TextBuffer& out, const char* format, va_list arguments)
{
    constexpr size_t usual_length = 250;
    const locale_t locale = our_locale();
    if (locale == nullptr)
        return ENOMEM;
    const LocaleChange change(locale);
    int length = format_into(out, usual_length, format, arguments);
    if (length > static_cast<int>(usual_length))
        length = format_into(out, static_cast<size_t>(length), format, arguments);
    if (length < 0)
        return errno;
    if (out.bad()) {
        out.truncate(out.size());
        return ENOMEM;
    }
    out.added(static_cast<size_t>(length));
    return 0;
}

} // namespace hdtrace
