// Every driver, declared once here and listed once in registry.cc.
#pragma once

#include "collect/driver.h"

namespace assay::collect {

extern const DriverInfo kSqlite;
extern const DriverInfo kSimulated;
extern const DriverInfo kPostgresql;  // if built with libpq

}  // namespace assay::collect
