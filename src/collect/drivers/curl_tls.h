// TLS for connections through libcurl, configured by the query of a URL: cacert (PEM file of the
// authorities to trust, instead of the system's), cert and key (of the client). The server must
// show a certificate for the URL's host.
#pragma once
#ifdef ASSAY_CURL
#include <curl/curl.h>

#include "collect/url.h"

namespace assay::internal::collect {

// Initializes libcurl once per process; to be called before any other function of libcurl.
void start_curl();
// A usage error if the query has an unknown name.
Status check_tls_query(const Url& url);
// Does nothing unless `tls`.
void set_up_tls(CURL* curl, const Url& url, bool tls);

}  // namespace assay::internal::collect
#endif
