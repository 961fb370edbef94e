// The libraries that drive databases (base/client_library.h).
#pragma once

#include "base/client_library.h"

namespace assay::internal {

// If the build finds a library, it sets its macro to the name of the file.
#ifdef ASSAY_POSTGRESQL
inline constexpr ClientLibrary kLibpq{ASSAY_POSTGRESQL, "libpq5"};
#endif
#ifdef ASSAY_MYSQL
inline constexpr ClientLibrary kLibmariadb{ASSAY_MYSQL, "libmariadb3"};
#endif
#ifdef ASSAY_CURL
inline constexpr ClientLibrary kLibcurl{ASSAY_CURL, "libcurl4"};
#endif
#ifdef ASSAY_REDIS
inline constexpr ClientLibrary kLibhiredis{ASSAY_REDIS, "libhiredis0.14"};
#endif
#ifdef ASSAY_OPENSSL
inline constexpr ClientLibrary kOpenssl{ASSAY_OPENSSL, "libssl3"};
#endif

}  // namespace assay::internal
