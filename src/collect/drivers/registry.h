// Every driver, declared once here and listed once in registry.cc.
#pragma once

#include "collect/driver.h"

namespace assay::internal::collect {

extern const DriverInfo kSqlite;
extern const DriverInfo kSimulated;
extern const DriverInfo kExec;
extern const DriverInfo kDuckdb;
extern const DriverInfo kPostgresql;  // if built with libpq
extern const DriverInfo kH2;          // if built with libpq
extern const DriverInfo kMysql;       // if built with MariaDB's client library
extern const DriverInfo kEtcd;        // if built with libcurl
extern const DriverInfo kRedis;       // if built with hiredis

}  // namespace assay::internal::collect
