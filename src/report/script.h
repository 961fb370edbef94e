// The scripts of the HTML report, as cmake/embed.cmake writes them into the program.
#pragma once

#include <string_view>

namespace assay::internal {

struct Script {
  std::string_view text;
  std::string_view sha256;  // of the text, in hexadecimal digits
};

extern const Script kLayoutScript;  // third_party/dagre
extern const Script kReportScript;  // report.js

}  // namespace assay::internal
