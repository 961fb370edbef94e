#include "base/client_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/auxv.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "assay/result.h"

namespace assay::internal {
namespace {

// Opens the library. The system opens it only once, however often it is asked. Its symbols are
// global, since some clients have plugins that look for them.
void* opened(const ClientLibrary& library) {
  const char* path = library.variable == nullptr ? nullptr : std::getenv(library.variable);
  return dlopen(path == nullptr ? library.file : path, RTLD_NOW | RTLD_GLOBAL);
}

// Whether this is a static program: then no loader of shared libraries is in memory (its address is
// 0). glibc would still try, and then rely on the system having exactly the same glibc.
bool static_program() { return getauxval(AT_BASE) == 0; }

// The text of dlerror, which names the missing library.
std::string why() {
  const char* error = dlerror();
  return error == nullptr ? "no reason given" : error;
}

}  // namespace

Status load_client(const ClientLibrary& library) {
  if (static_program())
    return usage_error(
        fmt::format("the database needs {}, but this program cannot load shared libraries; "
                    "expected one that can, such as assay-portable",
                    library.file));
  if (opened(library) != nullptr) return Ok{};
  return io_error(fmt::format("the database's client library is not installed ({}); {}", why(),
                              where_to_get(library)));
}

std::string where_to_get(const ClientLibrary& library) {
  if (library.variable == nullptr) return fmt::format("in Debian: apt install {}", library.package);
  return fmt::format("npm's {} has it; expected {} to say where it is", library.package,
                     library.variable);
}

void* client_function(const ClientLibrary& library, const char* name) {
  void* handle = opened(library);
  void* function = handle == nullptr ? nullptr : dlsym(handle, name);
  if (function != nullptr) return function;
  std::fprintf(stderr, "assay: no %s in %s: %s\n", name, library.file, why().c_str());
  std::abort();
}

}  // namespace assay::internal
