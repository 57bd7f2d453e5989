// The sanitizers of compilers, which the traced program may have been built with and we have not: their
// run-time libraries look at what the functions of the C library do for us.
#pragma once

extern "C" {
// Null without these libraries; the last two are ThreadSanitizer's.
[[gnu::weak]] void __sanitizer_set_report_path(const char* path);
[[gnu::weak]] void AnnotateIgnoreReadsBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreReadsEnd(const char* file, int line);
}

namespace hdtrace {

/// Whether the program has one.
inline bool has_sanitizer()
{
    return __sanitizer_set_report_path != nullptr;
}

/// While it lives, what this thread reads is no race: ThreadSanitizer does not see how threads of ours agree
/// on the text that one reads while another one adds to it, unless we have been built with it, too.
class ReadsAreNoRaces {
  public:
    ReadsAreNoRaces()
    {
        if (is_needed && AnnotateIgnoreReadsBegin != nullptr)
            AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    }
    ~ReadsAreNoRaces()
    {
        if (is_needed && AnnotateIgnoreReadsEnd != nullptr)
            AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    }
    ReadsAreNoRaces(const ReadsAreNoRaces&) = delete;
    ReadsAreNoRaces& operator=(const ReadsAreNoRaces&) = delete;

  private:
#ifdef __SANITIZE_THREAD__
    static constexpr bool is_needed = false;
#else
    static constexpr bool is_needed = true;
#endif
};

} // namespace hdtrace
