#include "audit/logged_order.h"

#include <utility>

#include "explain/server_names.h"

namespace assay::internal {

CheckOptions with_logged_order(const History& history, CheckOptions options) {
  if (options.expected_order && options.expected_order->by == ExpectedOrder::By::log)
    options.expected_order->names = logged_transactions(history);
  return options;
}

}  // namespace assay::internal
