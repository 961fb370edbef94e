#include "certify/stated_sources.h"

#include <fmt/format.h>

#include "certify/reads.h"

namespace assay::internal::certify {
namespace {

bool writes_key_of(const History& history, OpId i, OpId read) {
  return writes(history.op(i)) && history.op(i).key == history.op(read).key;
}

// The write puts what the read returned.
bool puts(const History& history, OpId i, OpId read) {
  const VersionId version = history.op(read).version;
  return history.op(i).version == version ||
         (history.op(i).kind == OpKind::remove && history.version_value(version).is_null());
}

bool has_own_write(const History& history, OpId read) {
  bool found = false;
  for (OpId i = history.first_op(history.txn_of(read)); i < read; ++i)
    found = found || writes_key_of(history, i, read);
  return found;
}

bool ever_put(const History& history, TxnId writer, OpId read) {
  for (OpId i = history.first_op(writer); i < history.end_op(writer); ++i)
    if (writes_key_of(history, i, read) && puts(history, i, read)) return true;
  return false;
}

bool can_be_right(const History& history, OpId read) {
  const TxnId source = history.stated_source(read), reader = history.txn_of(read);
  if (has_own_write(history, read)) return source == reader;
  if (source == kInitialTxn) return history.is_initial(history.op(read).version);
  return source != reader && ever_put(history, source, read);
}

}  // namespace

TxnId stated_to_be_from(const History& history, OpId read) {
  const TxnId source = history.stated_source(read);
  if (source == kNone || has_own_write(history, read) || !can_be_right(history, read)) return kNone;
  return source;
}

bool left_behind(const History& history, TxnId writer, OpId read) {
  if (history.status(writer) == TxnStatus::aborted) return false;
  OpId last = kNone;
  for (OpId i = history.first_op(writer); i < history.end_op(writer); ++i)
    if (writes_key_of(history, i, read)) last = i;
  return last != kNone && puts(history, last, read);
}

std::string source_contradiction(const History& history) {
  if (!history.states_sources()) return {};
  for (TxnId t = 0; t < history.txn_count(); ++t) {
    if (history.status(t) == TxnStatus::aborted) continue;
    for (OpId i = history.first_op(t); i < history.end_op(t); ++i)
      if (history.stated_source(i) != kNone && !can_be_right(history, i))
        return fmt::format(
            "operation {} of transaction {} cannot have read from where it is stated to have",
            i - history.first_op(t), history.name(t));
  }
  return {};
}

}  // namespace assay::internal::certify
