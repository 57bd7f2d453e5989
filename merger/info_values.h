// The values of a line in a .info file that are more than a number or a text. All end with the line's error
// where a value is not what it has to be.
#pragma once

#include "hdtrace/format/info.h"
#include "merger/datatypes.h"
#include "merger/process_info.h"
#include "merger/rank_map.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hdtrace::merger {

/// The parts of `a;b;`.
std::vector<std::string> split_list(std::string_view text);

/// Numbers, and names such as MPI_ORDER_C.
void check_value(const InfoLine& line, std::string_view key, const std::string& value);

/// `1;MPI_ORDER_C;`, empty where the line does not have @p key. @p may_have_runs: also `0+8*1000;`.
ContentValues value_list(const InfoLine& line, std::string_view key, bool may_have_runs);

/// `1;-3;`, empty where the line does not have @p key.
std::vector<std::int64_t> id_list(const InfoLine& line, std::string_view key);

/// `0+4457;s7;`: at least one.
std::vector<SiteFrame> site_frames(const InfoLine& line, std::string_view key);

/// Hexadecimal, since files are looked for by it; empty where the line does not have @p key.
std::string build_id(const InfoLine& line, std::string_view key);

/// Small enough for the numbers that tools add behind the ids.
std::int64_t object_id(const InfoLine& line);

RankMap rank_map(const InfoLine& line, std::string_view key);

} // namespace hdtrace::merger
