// The array of certificates, as part of another file.
#pragma once

#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "certify/json_cursor.h"

namespace assay::internal::certify {

// `history`: the one that the certificates are about.
void read_list(JsonCursor& in, std::vector<Certificate>& certificates, const History& history);
void write_list(JsonWriter& out, const std::vector<Certificate>& certificates,
                const History& history);

}  // namespace assay::internal::certify
