// The data that the script of the HTML report works on, as JSON.
#pragma once

#include <string>

#include "assay/audit.h"
#include "base/json.h"

namespace assay::internal {

// Returns the neighbourhood of the violations, the beginning of the order that proves the strongest
// level, and counts over the time of the whole run. Its size is bounded for every history.
Json page_data(const Audit& c);

// Returns the data as the text of a script element: nothing in it can end the element.
std::string as_script_text(const Json& data);

}  // namespace assay::internal
