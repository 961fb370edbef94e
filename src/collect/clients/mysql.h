// MariaDB Connector/C, loaded when it is needed.
#pragma once
#pragma GCC system_header  // #include_next is an extension

#include_next <mysql.h>

#include "collect/client_library.h"

#define mysql_affected_rows ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_affected_rows)
#define mysql_close ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_close)
#define mysql_errno ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_errno)
#define mysql_error ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_error)
#define mysql_fetch_field_direct ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_fetch_field_direct)
#define mysql_fetch_lengths ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_fetch_lengths)
#define mysql_fetch_row ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_fetch_row)
#define mysql_free_result ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_free_result)
#define mysql_init ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_init)
#define mysql_num_fields ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_num_fields)
#define mysql_options ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_options)
#define mysql_query ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_query)
#define mysql_real_connect ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_real_connect)
#define mysql_real_escape_string ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_real_escape_string)
#define mysql_real_query ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_real_query)
#define mysql_server_init ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_server_init)
#define mysql_store_result ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_store_result)
#define mysql_thread_id ASSAY_CLIENT_FUNCTION(kLibmariadb, mysql_thread_id)
