// The array of certificates of a certificate file, where another file holds it.
#pragma once

#include <vector>

#include "assay/certificate.h"
#include "assay/history.h"
#include "certify/json_cursor.h"

namespace assay::internal::certify {

// `history`: that they are about.
void read_list(JsonCursor& in, std::vector<Certificate>& certificates, const History& history);
void write_list(JsonWriter& out, const std::vector<Certificate>& certificates,
                const History& history);

}  // namespace assay::internal::certify
