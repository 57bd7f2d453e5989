#include "mpiwrapper/runtime/sites/frame_rules.h"

#include <dlfcn.h>
#include <string.h>

namespace hdtrace::mpi {

namespace {

// The numbers of registers in descriptions.
#if defined(__x86_64__)
constexpr uint64_t frame_pointer_register = 6, stack_pointer_register = 7, return_address_register = 16;
#elif defined(__aarch64__)
constexpr uint64_t frame_pointer_register = 29, stack_pointer_register = 31, return_address_register = 30;
#else
constexpr uint64_t frame_pointer_register = 1001, stack_pointer_register = 1002,
                   return_address_register = 1003;
#endif

// Reads the description forwards. What would be read beyond its end is 0 and makes it bad.
class Reader {
  public:
    Reader(const uint8_t* begin, const uint8_t* end) : m_next(begin), m_end(end) {}

    bool at_end() const { return m_next >= m_end; }
    bool is_good() const { return m_is_good; }
    const uint8_t* place() const { return m_next; }

    template <typename Number> Number take()
    {
        Number number = 0;
        if (!has(sizeof number))
            return 0;
        memcpy(&number, m_next, sizeof number);
        m_next += sizeof number;
        return number;
    }
    uint64_t take_unsigned()
    {
        uint64_t number = 0;
        for (int shift = 0; has(1); shift += 7) {
            const uint8_t byte = *m_next++;
            if (shift < 64)
                number |= static_cast<uint64_t>(byte & 0x7f) << shift;
            if ((byte & 0x80) == 0)
                break;
        }
        return number;
    }
    int64_t take_signed()
    {
        uint64_t number = 0;
        int shift = 0;
        uint8_t byte = 0x80;
        while ((byte & 0x80) != 0 && has(1)) {
            byte = *m_next++;
            if (shift < 64)
                number |= static_cast<uint64_t>(byte & 0x7f) << shift;
            shift += 7;
        }
        if ((byte & 0x40) != 0 && shift < 64)
            number |= ~uint64_t{0} << shift;
        return static_cast<int64_t>(number);
    }
    void skip(uint64_t size)
    {
        if (has(size))
            m_next += size;
    }

  private:
    bool has(uint64_t size)
    {
        if (size <= static_cast<uint64_t>(m_end - m_next))
            return true;
        m_is_good = false;
        m_next = m_end;
        return false;
    }

    const uint8_t* m_next;
    const uint8_t* m_end;
    bool m_is_good = true;
};

// Encodings of addresses; the only ones that linkers write today.
constexpr uint8_t four_bytes_from_here = 0x1b, four_bytes_from_section = 0x3b, four_bytes = 0x03;

int64_t read_four_bytes(const uint8_t* place)
{
    int32_t number;
    memcpy(&number, place, sizeof number);
    return number;
}

// What one function's description begins with.
struct Description {
    Reader first_instructions; // of many functions (CIE)
    Reader instructions;       // of this one (FDE)
    uint64_t code_unit = 1;
    int64_t data_unit = 1;
    uintptr_t begin = 0; // of the function
};

// The description of the last function that begins at or before an address: @p header is a sorted table.
const uint8_t* find_in_table(const uint8_t* header, uintptr_t address)
{
    if (header[0] != 1 || header[1] != four_bytes_from_here || header[2] != four_bytes ||
        header[3] != four_bytes_from_section)
        return nullptr;
    uint32_t count;
    memcpy(&count, header + 8, sizeof count);
    const uint8_t* const rows = header + 12;
    const auto base = reinterpret_cast<intptr_t>(header);
    const auto function_at = [&](uint32_t row) {
        return static_cast<uintptr_t>(base + read_four_bytes(rows + row * size_t{8}));
    };
    uint32_t low = 0, high = count; // the row before `high` is wanted
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (function_at(middle) <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low == 0 ? nullptr : header + read_four_bytes(rows + (low - 1) * size_t{8} + 4);
}

// An entry of the section, behind its length; what is too long for 32 bits is not known.
Reader entry_at(const uint8_t* place)
{
    uint32_t size;
    memcpy(&size, place, sizeof size);
    return size == 0 || size == 0xffffffff ? Reader(nullptr, nullptr)
                                           : Reader(place + sizeof size, place + sizeof size + size);
}

size_t size_of_encoded(uint8_t encoding)
{
    switch (encoding & 0x07) {
    case 0x02:
        return 2;
    case 0x03:
        return 4;
    default:
        return sizeof(void*);
    }
}

// What functions have in common. False if there is something in it that is not understood.
bool read_common(const uint8_t* place, Description& description, uint8_t& encoding)
{
    Reader common = entry_at(place);
    common.take<uint32_t>(); // 0: it is no function's
    const auto version = common.take<uint8_t>();
    const char* augmentation = reinterpret_cast<const char*>(common.place());
    common.skip(strlen(augmentation) + 1);
    description.code_unit = common.take_unsigned();
    description.data_unit = common.take_signed();
    const uint64_t address_column = version == 1 ? common.take<uint8_t>() : common.take_unsigned();
    if ((version != 1 && version != 3) || *augmentation++ != 'z' || address_column != return_address_register)
        return false;
    const uint64_t size = common.take_unsigned();
    Reader details = common;
    common.skip(size);
    encoding = 0;
    for (; *augmentation != '\0'; ++augmentation) {
        if (*augmentation == 'R')
            encoding = details.take<uint8_t>();
        else if (*augmentation == 'L')
            details.take<uint8_t>();
        else if (*augmentation == 'P') {
            const auto personality = details.take<uint8_t>();
            details.skip(size_of_encoded(personality));
        } else
            return false; // such as frames of signals, whose caller is no caller
    }
    description.first_instructions = common;
    return common.is_good() && details.is_good();
}

// False if the address is in no function that is described.
bool find_description(uintptr_t address, Description& description)
{
    dl_find_object object;
    if (_dl_find_object(reinterpret_cast<void*>(address), &object) != 0 || object.dlfo_eh_frame == nullptr)
        return false;
    const uint8_t* const place = find_in_table(static_cast<const uint8_t*>(object.dlfo_eh_frame), address);
    if (place == nullptr)
        return false;
    Reader function = entry_at(place);
    const uint8_t* const here = function.place();
    const auto distance = function.take<uint32_t>();
    uint8_t encoding = 0;
    if (here == nullptr || distance == 0 || !read_common(here - distance, description, encoding) ||
        encoding != four_bytes_from_here)
        return false;
    description.begin = reinterpret_cast<uintptr_t>(function.place()) + read_four_bytes(function.place());
    function.skip(4);
    const uint64_t size = function.take<uint32_t>();
    function.skip(function.take_unsigned());
    description.instructions = function;
    return function.is_good() && address - description.begin < size;
}

// Where the caller's value of a register is.
struct Saved {
    enum { same, at, unknown } how = same;
    int64_t offset = 0; // from the CFA
};

struct Rules {
    uint64_t base = ~uint64_t{0}; // a register, for the CFA
    int64_t offset = 0;
    Saved frame_pointer;
    Saved return_address;

    Saved* of(uint64_t number)
    {
        return number == frame_pointer_register    ? &frame_pointer
               : number == return_address_register ? &return_address
                                                   : nullptr;
    }
    void save(uint64_t number, Saved saved)
    {
        if (Saved* const known = of(number))
            *known = saved;
    }
    void restore(uint64_t number, Rules initial)
    {
        if (Saved* const known = of(number))
            *known = *initial.of(number);
    }
};

// Follows the instructions of a description up to an address.
class Interpreter {
  public:
    Interpreter(const Description& description, uintptr_t address)
        : m_description(description), m_address(address), m_location(description.begin)
    {
    }

    bool run(Rules& result)
    {
        if (!run(m_description.first_instructions))
            return false;
        m_initial = m_rules;
        m_location = m_description.begin;
        if (!run(m_description.instructions))
            return false;
        result = m_rules;
        return true;
    }

  private:
    static constexpr int most_remembered = 8;

    bool run(Reader instructions)
    {
        while (!instructions.at_end() && m_location <= m_address) {
            if (!step(instructions))
                return false;
        }
        return instructions.is_good();
    }

    bool step(Reader& in)
    {
        const auto code = in.take<uint8_t>();
        const uint64_t operand = code & 0x3f;
        switch (code & 0xc0) {
        case 0x40: // advance_loc
            return advance(operand);
        case 0x80: // offset
            return save_at(operand, static_cast<int64_t>(in.take_unsigned()));
        case 0xc0: // restore
            m_rules.restore(operand, m_initial);
            return true;
        default:
            return extended_step(code, in);
        }
    }

    bool extended_step(uint8_t code, Reader& in)
    {
        switch (code) {
        case 0x00: // nop
            return true;
        case 0x02: // advance_loc1
            return advance(in.take<uint8_t>());
        case 0x03: // advance_loc2
            return advance(in.take<uint16_t>());
        case 0x04: // advance_loc4
            return advance(in.take<uint32_t>());
        case 0x05:   // offset_extended
        case 0x11: { // offset_extended_sf
            const uint64_t number = in.take_unsigned();
            return save_at(number,
                           code == 0x05 ? static_cast<int64_t>(in.take_unsigned()) : in.take_signed());
        }
        case 0x06: // restore_extended
            m_rules.restore(in.take_unsigned(), m_initial);
            return true;
        case 0x07: // undefined
            m_rules.save(in.take_unsigned(), {Saved::unknown});
            return true;
        case 0x08: // same_value
            m_rules.save(in.take_unsigned(), {Saved::same});
            return true;
        case 0x09:   // register
        case 0x14:   // val_offset
        case 0x15: { // val_offset_sf
            const uint64_t number = in.take_unsigned();
            in.take_unsigned();
            m_rules.save(number, {Saved::unknown});
            return true;
        }
        case 0x0a: // remember_state
            if (m_remembered_count == most_remembered)
                return false;
            m_remembered[m_remembered_count++] = m_rules;
            return true;
        case 0x0b: // restore_state
            if (m_remembered_count == 0)
                return false;
            m_rules = m_remembered[--m_remembered_count];
            return true;
        case 0x0c: // def_cfa
            m_rules.base = in.take_unsigned();
            m_rules.offset = static_cast<int64_t>(in.take_unsigned());
            return true;
        case 0x12: // def_cfa_sf
            m_rules.base = in.take_unsigned();
            m_rules.offset = in.take_signed() * m_description.data_unit;
            return true;
        case 0x0d: // def_cfa_register
            m_rules.base = in.take_unsigned();
            return true;
        case 0x0e: // def_cfa_offset
            m_rules.offset = static_cast<int64_t>(in.take_unsigned());
            return true;
        case 0x13: // def_cfa_offset_sf
            m_rules.offset = in.take_signed() * m_description.data_unit;
            return true;
        case 0x0f: // def_cfa_expression
            m_rules.base = ~uint64_t{0};
            in.skip(in.take_unsigned());
            return true;
        case 0x10:   // expression
        case 0x16: { // val_expression
            m_rules.save(in.take_unsigned(), {Saved::unknown});
            in.skip(in.take_unsigned());
            return true;
        }
        case 0x2d: // AARCH64_negate_ra_state: without_signature() is asked of all
            return true;
        case 0x2e: // GNU_args_size
            in.take_unsigned();
            return true;
        default:
            return false;
        }
    }

    bool advance(uint64_t units)
    {
        m_location += units * m_description.code_unit;
        return true;
    }

    bool save_at(uint64_t number, int64_t units)
    {
        m_rules.save(number, {Saved::at, units * m_description.data_unit});
        return true;
    }

    const Description& m_description;
    uintptr_t m_address;
    uintptr_t m_location;
    Rules m_rules;
    Rules m_initial; // what all functions begin with
    Rules m_remembered[most_remembered];
    int m_remembered_count = 0;
};

bool is_small(int64_t offset)
{
    return offset == static_cast<int32_t>(offset);
}

} // namespace

FrameRule find_frame_rule(const void* return_address)
{
    // A call may be the last instruction of its function.
    const uintptr_t address = reinterpret_cast<uintptr_t>(return_address) - 1;
    Description description{Reader(nullptr, nullptr), Reader(nullptr, nullptr)};
    Rules rules;
    if (!find_description(address, description) || !Interpreter(description, address).run(rules))
        return {};
    const bool is_known = (rules.base == stack_pointer_register || rules.base == frame_pointer_register) &&
                          is_small(rules.offset) && rules.return_address.how == Saved::at &&
                          is_small(rules.return_address.offset) && is_small(rules.frame_pointer.offset);
    if (!is_known)
        return {};
    // Without the frame pointer its caller is found all the same, but perhaps not the caller's.
    return {rules.base == stack_pointer_register ? FrameRule::Base::stack_pointer
                                                 : FrameRule::Base::frame_pointer,
            rules.frame_pointer.how == Saved::at, static_cast<int32_t>(rules.offset),
            static_cast<int32_t>(rules.frame_pointer.offset),
            static_cast<int32_t>(rules.return_address.offset)};
}

bool Frame::go_to_caller(const FrameRule& rule, uintptr_t stack_end)
{
    if (rule.base == FrameRule::Base::nothing)
        return false;
    uintptr_t cfa = frame_pointer + static_cast<intptr_t>(rule.cfa);
    if (rule.base == FrameRule::Base::stack_pointer && !is_deeper) {
        cfa = stack_pointer + static_cast<intptr_t>(rule.cfa);
    } else if (rule.base == FrameRule::Base::stack_pointer) {
        // By Arm's calling convention the frame pointer leads to where both are saved.
        if (!rule.has_saved_frame_pointer ||
            rule.return_address != rule.frame_pointer + static_cast<int32_t>(sizeof(uintptr_t)))
            return false;
        cfa = frame_pointer - static_cast<intptr_t>(rule.frame_pointer);
    }
    const auto is_on_stack = [&](uintptr_t place) {
        return place >= stack_pointer && place <= stack_end - sizeof(uintptr_t) &&
               place % sizeof(uintptr_t) == 0;
    };
    const auto word_at = [&](int32_t offset, uintptr_t& word) {
        const uintptr_t place = cfa + static_cast<intptr_t>(offset);
        if (!is_on_stack(place))
            return false;
        word = *reinterpret_cast<const uintptr_t*>(place);
        return true;
    };
    uintptr_t caller = 0, saved = frame_pointer;
    if (cfa <= stack_pointer || !word_at(rule.return_address, caller) || caller == 0 ||
        (rule.has_saved_frame_pointer && !word_at(rule.frame_pointer, saved)))
        return false;
    return_address = without_signature(caller);
    stack_pointer = cfa;
    frame_pointer = saved;
    is_deeper = false;
    return true;
}

uintptr_t outermost_of_callers(Frame frame, uintptr_t stack_end)
{
    constexpr int most = 10'000;
    for (int i = 0; i < most; ++i)
        if (!frame.go_to_caller(find_frame_rule(frame.return_address), stack_end))
            return frame.stack_pointer;
    return 0;
}

} // namespace hdtrace::mpi
