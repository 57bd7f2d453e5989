// interruption.h - lets whoever waits for a reader end its work.
#pragma once

namespace hdtrace {

/// While it exists, all that its thread reads calls a function several times a second, and when a signal
/// ended the waiting for a file. The function ends the work by throwing; the reader must not be used any more
/// then.
class InterruptionCheck {
  public:
    using Function = void (*)();

    explicit InterruptionCheck(Function check);
    ~InterruptionCheck();
    InterruptionCheck(const InterruptionCheck&) = delete;
    InterruptionCheck& operator=(const InterruptionCheck&) = delete;

  private:
    Function m_before;
};

namespace detail {

/// What readers call for each block of a file and for some kilobytes of text.
void check_for_interruption();
/// What they call after a signal.
void check_for_interruption_now();

} // namespace detail

} // namespace hdtrace
