// OpenSSL, loaded when it is needed: libssl, and libcrypto, which comes with it.
#pragma once
#pragma GCC system_header  // #include_next is an extension

#include <openssl/err.h>
#include <openssl/evp.h>
#include_next <openssl/ssl.h>
#include <openssl/x509.h>

#include "collect/client_library.h"

#define ASN1_INTEGER_set ASSAY_CLIENT_FUNCTION(kOpenssl, ASN1_INTEGER_set)
#define ERR_clear_error ASSAY_CLIENT_FUNCTION(kOpenssl, ERR_clear_error)
#define ERR_error_string_n ASSAY_CLIENT_FUNCTION(kOpenssl, ERR_error_string_n)
#define ERR_peek_last_error ASSAY_CLIENT_FUNCTION(kOpenssl, ERR_peek_last_error)
#define EVP_PKEY_Q_keygen ASSAY_CLIENT_FUNCTION(kOpenssl, EVP_PKEY_Q_keygen)
#define EVP_PKEY_free ASSAY_CLIENT_FUNCTION(kOpenssl, EVP_PKEY_free)
#define EVP_sha256 ASSAY_CLIENT_FUNCTION(kOpenssl, EVP_sha256)
#define SSL_CTX_check_private_key ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_CTX_check_private_key)
#define SSL_CTX_ctrl ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_CTX_ctrl)
#define SSL_CTX_free ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_CTX_free)
#define SSL_CTX_load_verify_file ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_CTX_load_verify_file)
#define SSL_CTX_new ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_CTX_new)
#define SSL_CTX_set_default_passwd_cb ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_CTX_set_default_passwd_cb)
#define SSL_CTX_set_default_verify_paths \
  ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_CTX_set_default_verify_paths)
#define SSL_CTX_set_num_tickets ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_CTX_set_num_tickets)
#define SSL_CTX_set_options ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_CTX_set_options)
#define SSL_CTX_set_verify ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_CTX_set_verify)
#define SSL_CTX_use_PrivateKey ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_CTX_use_PrivateKey)
#define SSL_CTX_use_PrivateKey_file ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_CTX_use_PrivateKey_file)
#define SSL_CTX_use_certificate ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_CTX_use_certificate)
#define SSL_CTX_use_certificate_chain_file \
  ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_CTX_use_certificate_chain_file)
#define SSL_ctrl ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_ctrl)
#define SSL_free ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_free)
#define SSL_get_error ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_get_error)
#define SSL_new ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_new)
#define SSL_has_pending ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_has_pending)
#define SSL_read ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_read)
#define SSL_set1_host ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_set1_host)
#define SSL_set_accept_state ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_set_accept_state)
#define SSL_set_connect_state ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_set_connect_state)
#define SSL_set_fd ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_set_fd)
#define SSL_shutdown ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_shutdown)
#define SSL_write ASSAY_CLIENT_FUNCTION(kOpenssl, SSL_write)
#define TLS_client_method ASSAY_CLIENT_FUNCTION(kOpenssl, TLS_client_method)
#define TLS_server_method ASSAY_CLIENT_FUNCTION(kOpenssl, TLS_server_method)
#define X509_NAME_add_entry_by_txt ASSAY_CLIENT_FUNCTION(kOpenssl, X509_NAME_add_entry_by_txt)
#define X509_free ASSAY_CLIENT_FUNCTION(kOpenssl, X509_free)
#define X509_get_serialNumber ASSAY_CLIENT_FUNCTION(kOpenssl, X509_get_serialNumber)
#define X509_get_subject_name ASSAY_CLIENT_FUNCTION(kOpenssl, X509_get_subject_name)
#define X509_getm_notAfter ASSAY_CLIENT_FUNCTION(kOpenssl, X509_getm_notAfter)
#define X509_getm_notBefore ASSAY_CLIENT_FUNCTION(kOpenssl, X509_getm_notBefore)
#define X509_gmtime_adj ASSAY_CLIENT_FUNCTION(kOpenssl, X509_gmtime_adj)
#define X509_new ASSAY_CLIENT_FUNCTION(kOpenssl, X509_new)
#define X509_set_issuer_name ASSAY_CLIENT_FUNCTION(kOpenssl, X509_set_issuer_name)
#define X509_set_pubkey ASSAY_CLIENT_FUNCTION(kOpenssl, X509_set_pubkey)
#define X509_set_version ASSAY_CLIENT_FUNCTION(kOpenssl, X509_set_version)
#define X509_sign ASSAY_CLIENT_FUNCTION(kOpenssl, X509_sign)
