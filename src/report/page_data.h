// What the script of the HTML report works on, as JSON.
#pragma once

#include <string>

#include "assay/audit.h"
#include "base/json.h"

namespace assay::internal {

// The neighbourhood of the violations, the beginning of the order that proves the strongest level,
// and counts over the time of the whole run. Its size is bounded whatever the history.
Json page_data(const Audit& c);

// As the text of a script element that is data: nothing in it can end the element.
std::string as_script_text(const Json& data);

}  // namespace assay::internal
