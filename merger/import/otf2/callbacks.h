// Functions of C++ as callbacks of the library of OTF2, which is C: exceptions are kept until it has
// returned.
#pragma once

#include <exception>
#include <utility>

#include <otf2/otf2.h>

namespace hdtrace::importer::otf2 {

class ExceptionKeeper {
  public:
    template <class Work> OTF2_CallbackCode run(Work work)
    {
        try {
            work();
            return OTF2_CALLBACK_SUCCESS;
        } catch (...) {
            m_exception = std::current_exception();
            return OTF2_CALLBACK_INTERRUPT;
        }
    }
    /// Throws what was kept.
    void rethrow()
    {
        if (m_exception)
            std::rethrow_exception(std::exchange(m_exception, nullptr));
    }

  private:
    std::exception_ptr m_exception;
};

/// A callback for definitions and markers that calls Method of the user's object.
template <auto Method, class Target, class... Arguments>
OTF2_CallbackCode definition(void* user, Arguments... arguments)
{
    auto& target = *static_cast<Target*>(user);
    return target.keeper.run([&] { (target.*Method)(arguments...); });
}

/// The same for events.
template <auto Method, class Target, class... Arguments>
OTF2_CallbackCode event(OTF2_LocationRef, OTF2_TimeStamp time, uint64_t, void* user,
                        OTF2_AttributeList* attributes, Arguments... arguments)
{
    auto& target = *static_cast<Target*>(user);
    return target.keeper.run([&] { (target.*Method)(time, attributes, arguments...); });
}

} // namespace hdtrace::importer::otf2
