// Client libraries of databases. They are loaded when they are first needed: other users need none
// of them, and a program that was built on a machine that has them also runs on one that has not.
//
// src/collect/clients has a header that precedes each client's own. It turns the functions that
// drivers call into those of the same name in the loaded library; a call of a function that is not
// listed there is an error of the linker.
#pragma once

#include <string>

#include "assay/result.h"

namespace assay::internal {

struct ClientLibrary {
  const char* file;     // the name by which the system finds it
  const char* package;  // of Debian; if there is a variable, of npm
  // An environment variable that says where the file is, for a library that is not one of the
  // system's.
  const char* variable = nullptr;
};

inline constexpr ClientLibrary kLibduckdb{"libduckdb.so", "@duckdb/node-bindings-linux-x64",
                                          "ASSAY_DUCKDB"};

// Loads a library for the rest of the process. The error names the package.
Status load_client(const ClientLibrary& library);
// "in Debian: apt install libpq5"
std::string where_to_get(const ClientLibrary& library);

// A function of a library that can be loaded; if the library cannot, the program ends with a
// message.
void* client_function(const ClientLibrary& library, const char* name);

// The function, looked up once for each place that calls it.
#define ASSAY_CLIENT_FUNCTION(library, name)                                    \
  ([] {                                                                         \
    static const auto loaded = reinterpret_cast<decltype(&::name)>(             \
        ::assay::internal::client_function(::assay::internal::library, #name)); \
    return loaded;                                                              \
  }())

}  // namespace assay::internal
