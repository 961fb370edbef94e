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
    case EdgeKind::read_from:
      return "read-from";
    case EdgeKind::session:
      return "session";
    case EdgeKind::real_time:
      return "real-time";
    case EdgeKind::write_order:
      return "write-order";
    case EdgeKind::anti:
      return "anti";
    case EdgeKind::forced:
      return "forced";
  }
  return "session";
}

}  // namespace assay
