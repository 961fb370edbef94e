// libcurl, loaded when it is needed.
#pragma once
#pragma GCC system_header  // #include_next is an extension

#include_next <curl/curl.h>

#include "collect/client_library.h"

// Removes curl's own macros around the functions.
#undef curl_easy_getinfo
#undef curl_easy_setopt
#define curl_easy_cleanup ASSAY_CLIENT_FUNCTION(kLibcurl, curl_easy_cleanup)
#define curl_easy_getinfo ASSAY_CLIENT_FUNCTION(kLibcurl, curl_easy_getinfo)
#define curl_easy_init ASSAY_CLIENT_FUNCTION(kLibcurl, curl_easy_init)
#define curl_easy_perform ASSAY_CLIENT_FUNCTION(kLibcurl, curl_easy_perform)
#define curl_easy_recv ASSAY_CLIENT_FUNCTION(kLibcurl, curl_easy_recv)
#define curl_easy_send ASSAY_CLIENT_FUNCTION(kLibcurl, curl_easy_send)
#define curl_easy_setopt ASSAY_CLIENT_FUNCTION(kLibcurl, curl_easy_setopt)
#define curl_easy_strerror ASSAY_CLIENT_FUNCTION(kLibcurl, curl_easy_strerror)
#define curl_global_init ASSAY_CLIENT_FUNCTION(kLibcurl, curl_global_init)
#define curl_slist_append ASSAY_CLIENT_FUNCTION(kLibcurl, curl_slist_append)
#define curl_slist_free_all ASSAY_CLIENT_FUNCTION(kLibcurl, curl_slist_free_all)
