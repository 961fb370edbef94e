// MariaDB Connector/C's functions for replicas.
#pragma once
#pragma GCC system_header  // #include_next is an extension

#include_next <mariadb_rpl.h>

#include "collect/client_library.h"

#define mariadb_free_rpl_event ASSAY_CLIENT_FUNCTION(kLibmariadb, mariadb_free_rpl_event)
#define mariadb_rpl_close ASSAY_CLIENT_FUNCTION(kLibmariadb, mariadb_rpl_close)
#define mariadb_rpl_fetch ASSAY_CLIENT_FUNCTION(kLibmariadb, mariadb_rpl_fetch)
#define mariadb_rpl_init_ex ASSAY_CLIENT_FUNCTION(kLibmariadb, mariadb_rpl_init_ex)
#define mariadb_rpl_open ASSAY_CLIENT_FUNCTION(kLibmariadb, mariadb_rpl_open)
#define mariadb_rpl_optionsv ASSAY_CLIENT_FUNCTION(kLibmariadb, mariadb_rpl_optionsv)
