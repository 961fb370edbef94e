// A level that the user defines, as a row like those of the table of levels. See
// level_definition.cc.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "assay/level.h"
#include "assay/result.h"

namespace assay::internal::formats {

using DefinedLevel = std::shared_ptr<const LevelInfo>;

Result<DefinedLevel> read_level_definition(const std::string& path);
// `name` is used in messages.
Result<DefinedLevel> parse_level_definition(std::string_view text, const std::string& name);

}  // namespace assay::internal::formats
