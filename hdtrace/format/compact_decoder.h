// compact_decoder.h - the text of compact traces.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "hdtrace/format/compact_text.h"
#include "hdtrace/format/decoder.h"

namespace hdtrace::detail {

/// Reads units (hdtrace/compact_form.h), their bodies plain or with frames of zstd's.
class CompactDecoder : public Decoder {
  public:
    /// @p zstd makes records of what is compressed.
    explicit CompactDecoder(std::unique_ptr<Decoder> zstd) : m_zstd(std::move(zstd)) {}
    void restart() override;
    Progress decode(std::string_view from, char* to, std::size_t size) override;
    Passing passing() const override
    {
        return m_head.empty() ? Passing{m_passing, m_taken} : Passing{m_head, m_head.size()};
    }
    TextNotes* begin_notes() override { return &m_compact.begin_notes(m_text.size() - m_handed_out); }

  private:
    bool make_text(char* to, std::size_t size, std::size_t& written);
    bool take_more(std::string_view& from);
    bool take_head(std::string_view& from);
    bool take_body(std::string_view& from);

    CompactText m_compact;
    std::unique_ptr<Decoder> m_zstd;
    std::string m_head;            ///< of the next unit, as far as it is there
    std::string m_passing;         ///< the head of the last unit that is no block
    std::uint64_t m_taken = 0;     ///< since that began
    std::uint64_t m_body_left = 0; ///< of this unit
    bool m_is_in_body = false;
    bool m_is_compressed = false; ///< the body
    bool m_is_damaged = false;
    std::string m_records; ///< that have no text yet, from m_record on
    std::size_t m_record = 0;
    std::string m_text; ///< that is not handed out yet, from m_handed_out on
    std::size_t m_handed_out = 0;
};

} // namespace hdtrace::detail
