// Traces of an application in JSON, and OpenTelemetry's spans: docs/formats/json-trace.md.
#pragma once

#include "formats/registry.h"

namespace assay::internal::formats {

extern const Format kJsonTrace;

}  // namespace assay::internal::formats
