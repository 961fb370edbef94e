#include "cli/exit_code.h"

namespace assay::internal::cli {

Exit exit_code(const Error& e) {
  switch (e.kind) {
    case ErrorKind::bad_input:
      return Exit::bad_input;
    case ErrorKind::budget:
      return Exit::unknown;
    case ErrorKind::io:
    case ErrorKind::usage:
      break;
  }
  return Exit::usage;
}

Exit exit_code(Outcome outcome) {
  return outcome == Outcome::satisfied  ? Exit::satisfied
         : outcome == Outcome::violated ? Exit::violated
                                        : Exit::unknown;
}

Exit worse(Exit a, Exit b) {
  for (const Exit e : {Exit::usage, Exit::violated, Exit::bad_input, Exit::unknown})
    if (a == e || b == e) return e;
  return Exit::satisfied;
}

}  // namespace assay::internal::cli
