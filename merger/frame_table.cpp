#include "merger/frame_table.h"

#include <dwarf.h>
#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

namespace hdtrace::merger {

namespace {

/// Reads numbers; behind the end, and where they are wrong, it stays at the end and says that it failed.
class Bytes {
  public:
    Bytes(const unsigned char* begin, const unsigned char* end, bool is_big_endian)
        : m_next(begin), m_end(end), m_is_big_endian(is_big_endian)
    {
    }

    const unsigned char* next() const { return m_next; }
    bool at_end() const { return m_next == m_end; }
    bool failed() const { return m_failed; }

    void skip(std::uint64_t count)
    {
        if (count > static_cast<std::uint64_t>(m_end - m_next))
            fail();
        else
            m_next += count;
    }

    std::uint64_t natural(unsigned int size)
    {
        const unsigned char* const bytes = m_next;
        skip(size);
        std::uint64_t number = 0;
        for (unsigned int i = 0; i < size && !m_failed; ++i)
            number |= std::uint64_t{bytes[m_is_big_endian ? size - 1 - i : i]} << 8 * i;
        return number;
    }

    std::uint64_t leb128(bool is_signed)
    {
        std::uint64_t number = 0;
        for (unsigned int shift = 0; shift < 64; shift += 7) {
            const std::uint64_t byte = natural(1);
            number |= (byte & 0x7f) << shift;
            if ((byte & 0x80) != 0)
                continue;
            if (is_signed && (byte & 0x40) != 0 && shift + 7 < 64)
                number |= ~std::uint64_t{0} << (shift + 7);
            return number;
        }
        fail();
        return 0;
    }

    std::uint64_t uleb() { return leb128(false); }
    std::int64_t sleb() { return static_cast<std::int64_t>(leb128(true)); }

  private:
    void fail()
    {
        m_next = m_end;
        m_failed = true;
    }

    const unsigned char* m_next;
    const unsigned char* m_end;
    bool m_is_big_endian;
    bool m_failed = false;
};

std::int64_t product(std::int64_t a, std::int64_t b)
{
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

/// What operations have that do not matter here: u and s are numbers, b is a block.
std::optional<std::string_view> operands_of(unsigned int operation)
{
    if ((operation & 0xc0) == DW_CFA_offset)
        return "u";
    if ((operation & 0xc0) == DW_CFA_restore)
        return "";
    constexpr unsigned int negate_ra_state_with_pc = 0x2c; // of Arm; libdw does not know it yet
    switch (operation) {
    case DW_CFA_nop:
    case DW_CFA_GNU_window_save: // of Arm: DW_CFA_AARCH64_negate_ra_state
    case negate_ra_state_with_pc:
        return "";
    case DW_CFA_restore_extended:
    case DW_CFA_undefined:
    case DW_CFA_same_value:
    case DW_CFA_GNU_args_size:
        return "u";
    case DW_CFA_offset_extended:
    case DW_CFA_register:
    case DW_CFA_val_offset:
    case DW_CFA_GNU_negative_offset_extended:
        return "uu";
    case DW_CFA_offset_extended_sf:
    case DW_CFA_val_offset_sf:
        return "us";
    case DW_CFA_expression:
    case DW_CFA_val_expression:
        return "ub";
    default:
        return std::nullopt;
    }
}

/// Whether it knows the operation.
bool skip_operands(Bytes& bytes, unsigned int operation)
{
    const auto operands = operands_of(operation);
    if (!operands)
        return false;
    for (const char operand : *operands) {
        if (operand == 'b')
            bytes.skip(bytes.uleb());
        else
            bytes.leb128(operand == 's');
    }
    return true;
}

} // namespace

/// The functions in a section of call frame information.
class FrameTable::Section {
  public:
    /// @p data has to stay.
    Section(Elf_Data& data, const GElf_Ehdr& file, Dwarf_Addr address, bool is_of_exceptions, Steps& steps)
        : m_data(data), m_file(file), m_address(address), m_is_of_exceptions(is_of_exceptions), m_steps(steps)
    {
        for (Entry entry; read_entry(entry);) {
            if (entry.is_readable && !dwarf_cfi_cie_p(&entry.contents))
                add_function(entry.contents.fde);
        }
        std::ranges::stable_sort(m_functions, {}, &Function::begin);
    }

    std::optional<FrameRule> rule_at(Dwarf_Addr address)
    {
        auto function = std::ranges::upper_bound(m_functions, address, {}, &Function::begin);
        if (function == m_functions.begin() || address >= (--function)->end)
            return std::nullopt;
        const Common& common = *function->common;
        Row row{common.rule, function->begin};
        return run(function->program, common, row, address) ? row.rule : std::nullopt;
    }

  private:
    struct Program {
        const unsigned char* begin = nullptr;
        const unsigned char* end = nullptr;
    };
    /// What many functions share.
    struct Common {
        bool is_usable = false;
        std::uint64_t code_alignment = 0;
        std::int64_t data_alignment = 0;
        unsigned int encoding = DW_EH_PE_absptr; ///< of addresses
        bool has_sized_augmentation = false;
        std::optional<FrameRule> rule = std::nullopt; ///< where functions begin
    };
    struct Function {
        Dwarf_Addr begin;
        Dwarf_Addr end;
        const Common* common;
        Program program;
    };
    struct Entry {
        Dwarf_Off next = 0; ///< where the one behind it begins
        Dwarf_CFI_Entry contents = {};
        bool is_readable = false;
    };
    /// Holds from this address on.
    struct Row {
        std::optional<FrameRule> rule;
        Dwarf_Addr address = 0;
        std::vector<std::optional<FrameRule>> remembered = {};
    };

    /// Goes on to the next one; false if there is none.
    bool read_entry(Entry& entry)
    {
        m_steps.count();
        const Dwarf_Off offset = entry.next;
        const int result = dwarf_next_cfi(reinterpret_cast<const unsigned char*>(m_file.e_ident), &m_data,
                                          m_is_of_exceptions, offset, &entry.next, &entry.contents);
        entry.is_readable = result == 0;
        return result <= 0 && entry.next > offset;
    }

    Bytes bytes_of(const Program& program) const
    {
        return {program.begin, program.end, m_file.e_ident[EI_DATA] == ELFDATA2MSB};
    }

    unsigned int address_size() const { return m_file.e_ident[EI_CLASS] == ELFCLASS32 ? 4 : 8; }

    /// Nothing for encodings that compilers do not use for code.
    std::optional<Dwarf_Addr> address(Bytes& bytes, unsigned int encoding) const
    {
        const auto* const data = static_cast<const unsigned char*>(m_data.d_buf);
        const Dwarf_Addr here = m_address + static_cast<Dwarf_Addr>(bytes.next() - data);
        Dwarf_Addr address = 0;
        switch (encoding & 0x0f) {
        case DW_EH_PE_absptr:
            address = bytes.natural(address_size());
            break;
        case DW_EH_PE_udata4:
            address = bytes.natural(4);
            break;
        case DW_EH_PE_sdata4:
            address = static_cast<Dwarf_Addr>(static_cast<std::int32_t>(bytes.natural(4)));
            break;
        case DW_EH_PE_udata8:
        case DW_EH_PE_sdata8:
            address = bytes.natural(8);
            break;
        default:
            return std::nullopt;
        }
        if ((encoding & 0xf0) == DW_EH_PE_pcrel)
            address += here;
        else if ((encoding & 0xf0) != DW_EH_PE_absptr)
            return std::nullopt;
        return address_size() == 4 ? address & 0xffffffff : address;
    }

    const Common& common_at(Dwarf_Off offset)
    {
        const auto [known, is_new] = m_common.try_emplace(offset);
        Entry entry{offset};
        if (is_new && read_entry(entry) && entry.is_readable && dwarf_cfi_cie_p(&entry.contents))
            known->second = common_of(entry.contents.cie);
        return known->second;
    }

    Common common_of(const Dwarf_CIE& entry)
    {
        Common common{false, entry.code_alignment_factor, entry.data_alignment_factor};
        const std::string_view augmentation = entry.augmentation;
        common.has_sized_augmentation = augmentation.starts_with('z');
        if (!augmentation.empty() && !common.has_sized_augmentation)
            return common;
        if (!read_augmentation(entry, augmentation, common))
            return common;
        Row row{std::nullopt, 0};
        common.is_usable =
            run({entry.initial_instructions, entry.initial_instructions_end}, common, row, ~Dwarf_Addr{0});
        common.rule = row.rule;
        return common;
    }

    /// Of its values only the encoding of the addresses matters.
    bool read_augmentation(const Dwarf_CIE& entry, std::string_view augmentation, Common& common) const
    {
        if (augmentation.empty())
            return true;
        Bytes values =
            bytes_of({entry.augmentation_data, entry.augmentation_data + entry.augmentation_data_size});
        for (const char kind : augmentation.substr(1)) {
            if (kind == 'R')
                common.encoding = static_cast<unsigned int>(values.natural(1));
            else if (kind == 'L')
                values.skip(1);
            else if (kind == 'P' ? !address(values, values.natural(1) & 0x0f)
                                 : kind != 'S' && kind != 'B' && kind != 'G')
                return false;
        }
        return !values.failed();
    }

    void add_function(const Dwarf_FDE& entry)
    {
        const Common& common = common_at(entry.CIE_pointer);
        if (!common.is_usable)
            return;
        Bytes bytes = bytes_of({entry.start, entry.end});
        const auto begin = address(bytes, common.encoding);
        const auto size = address(bytes, common.encoding & 0x0f);
        if (common.has_sized_augmentation)
            bytes.skip(bytes.uleb());
        if (begin && size && !bytes.failed() && *begin + *size > *begin)
            m_functions.push_back({*begin, *begin + *size, &common, {bytes.next(), entry.end}});
    }

    /// Goes on to the row that holds at @p wanted; false if it does not understand everything before.
    bool run(const Program& program, const Common& common, Row& row, Dwarf_Addr wanted)
    {
        Bytes bytes = bytes_of(program);
        while (!bytes.at_end() && row.address <= wanted) {
            m_steps.count();
            const auto operation = static_cast<unsigned int>(bytes.natural(1));
            const bool is_known = advance(bytes, operation, common, row) ||
                                  change_rule(bytes, operation, common, row) ||
                                  change_remembered(operation, row) || skip_operands(bytes, operation);
            if (!is_known || bytes.failed())
                return false;
        }
        return true;
    }

    /// Each of these functions says whether it knows the operation.
    bool advance(Bytes& bytes, unsigned int operation, const Common& common, Row& row) const
    {
        const auto add = [&](std::uint64_t count) {
            row.address += count * common.code_alignment;
            return true;
        };
        if ((operation & 0xc0) == DW_CFA_advance_loc)
            return add(operation & 0x3f);
        switch (operation) {
        case DW_CFA_advance_loc1:
            return add(bytes.natural(1));
        case DW_CFA_advance_loc2:
            return add(bytes.natural(2));
        case DW_CFA_advance_loc4:
            return add(bytes.natural(4));
        default:
            return false;
        }
    }

    static bool change_rule(Bytes& bytes, unsigned int operation, const Common& common, Row& row)
    {
        const auto scaled = [&] { return product(bytes.sleb(), common.data_alignment); };
        const auto change = [&](auto FrameRule::*part, auto value) {
            if (row.rule)
                (*row.rule).*part = value;
        };
        switch (operation) {
        case DW_CFA_def_cfa:
        case DW_CFA_def_cfa_sf:
            row.rule = FrameRule{bytes.uleb()};
            row.rule->offset =
                operation == DW_CFA_def_cfa ? static_cast<std::int64_t>(bytes.uleb()) : scaled();
            return true;
        case DW_CFA_def_cfa_register:
            change(&FrameRule::register_number, bytes.uleb());
            return true;
        case DW_CFA_def_cfa_offset:
            change(&FrameRule::offset, static_cast<std::int64_t>(bytes.uleb()));
            return true;
        case DW_CFA_def_cfa_offset_sf:
            change(&FrameRule::offset, scaled());
            return true;
        case DW_CFA_def_cfa_expression:
            bytes.skip(bytes.uleb());
            row.rule.reset();
            return true;
        default:
            return false;
        }
    }

    static bool change_remembered(unsigned int operation, Row& row)
    {
        constexpr std::size_t most = 1000;
        if (operation == DW_CFA_remember_state && row.remembered.size() < most) {
            row.remembered.push_back(row.rule);
            return true;
        }
        if (operation != DW_CFA_restore_state || row.remembered.empty())
            return false;
        row.rule = row.remembered.back();
        row.remembered.pop_back();
        return true;
    }

    Elf_Data& m_data;
    GElf_Ehdr m_file;
    Dwarf_Addr m_address;
    bool m_is_of_exceptions;
    Steps& m_steps;
    std::map<Dwarf_Off, Common> m_common;
    std::vector<Function> m_functions; ///< ascending
};

FrameTable::FrameTable(const UsedObject& object, Steps& steps) : m_object(object), m_steps(steps) {}

FrameTable::~FrameTable() = default;

std::optional<FrameRule> FrameTable::rule_at(Dwarf_Addr address)
{
    if (!std::exchange(m_is_read, true)) {
        read(m_object.object(), ".eh_frame", true); // in files for debug information it has no contents
        read(m_object.informed(), ".debug_frame", false);
    }
    for (const std::unique_ptr<Section>& section : m_sections) {
        if (const auto rule = section->rule_at(address))
            return rule;
    }
    return std::nullopt;
}

void FrameTable::read(const ElfFile& file, const char* name, bool is_of_exceptions)
{
    std::size_t names = 0;
    GElf_Ehdr identification;
    if (elf_getshdrstrndx(file.elf(), &names) != 0 || !gelf_getehdr(file.elf(), &identification))
        return;
    for (Elf_Scn* section = elf_nextscn(file.elf(), nullptr); section;
         section = elf_nextscn(file.elf(), section)) {
        GElf_Shdr header;
        const char* const known =
            gelf_getshdr(section, &header) ? elf_strptr(file.elf(), names, header.sh_name) : nullptr;
        const bool has_contents = header.sh_type != SHT_NOBITS && (header.sh_flags & SHF_COMPRESSED) == 0;
        if (!known || std::strcmp(known, name) != 0 || !has_contents)
            continue;
        Elf_Data* const data = elf_rawdata(section, nullptr);
        if (data && data->d_buf)
            m_sections.push_back(
                std::make_unique<Section>(*data, identification, header.sh_addr, is_of_exceptions, m_steps));
    }
}

} // namespace hdtrace::merger
