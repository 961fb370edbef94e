#include "assay/certificate.h"

namespace assay {

std::string_view outcome_name(Outcome o) {
  switch (o) {
    case Outcome::satisfied:
      return "satisfied";
    case Outcome::violated:
      return "violated";
    case Outcome::unknown:
      return "unknown";
  }
  return "unknown";
}

std::string_view edge_kind_name(EdgeKind k) {
  switch (k) {
    case EdgeKind::read_dependency:
      return "read-dependency";
    case EdgeKind::session:
      return "session";
    case EdgeKind::real_time:
      return "real-time";
    case EdgeKind::write_dependency:
      return "write-dependency";
    case EdgeKind::anti_dependency:
      return "anti-dependency";
    case EdgeKind::forced:
      return "forced";
  }
  return "session";
}

}  // namespace assay
