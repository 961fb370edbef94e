#include "infer/stated_sources.h"

#include "history/accesses.h"

namespace assay::internal {
namespace {

bool written_before(const History& h, OpId read) {
  for (OpId i = read; i-- > h.first_op(h.txn_of(read));)
    if (installs_version(h.op(i)) && h.op(i).key == h.op(read).key) return true;
  return false;
}

// What the stated source of a read means.
enum class Statement : uint8_t { none, own, contradicted, outside };

Statement judge(const History& h, OpId read) {
  const TxnId source = h.stated_source(read);
  if (source == kNone) return Statement::none;
  const bool own = source == h.txn_of(read);
  if (written_before(h, read)) return own ? Statement::own : Statement::contradicted;
  const bool shown = source == kInitialTxn ? h.is_initial(h.op(read).version)
                                           : !own && stated_write(h, read, source) != kNone;
  return shown ? Statement::outside : Statement::contradicted;
}

}  // namespace

OpId stated_write(const History& h, OpId read, TxnId source) {
  for (OpId i = h.end_op(source); i-- > h.first_op(source);) {
    const Operation op = h.op(i);
    if (op.key == h.op(read).key && installs_version(op) &&
        shows(h, install_of(h, i).state(), h.op(read).version))
      return i;
  }
  return kNone;
}

TxnId stated_source(const History& h, OpId read) {
  return judge(h, read) == Statement::outside ? h.stated_source(read) : kNone;
}

bool is_overwritten(const History& h, OpId write) {
  for (OpId i = write + 1; i < h.end_op(h.txn_of(write)); ++i)
    if (installs_version(h.op(i)) && h.op(i).key == h.op(write).key) return true;
  return false;
}

BadRead stated_dirty_read(const History& h, OpId read) {
  if (h.stated_source(read) == kNone) return {};
  const TxnId source = stated_source(h, read);
  if (source == kNone || source == kInitialTxn) return {};
  const OpId write = stated_write(h, read, source);
  if (h.status(source) == TxnStatus::aborted) return {Anomaly::aborted_read, read, write};
  if (is_overwritten(h, write)) return {Anomaly::intermediate_read, read, write};
  return {};
}

BadRead stated_other_read(const History& h, OpId read) {
  if (h.stated_source(read) == kNone) return {};
  const TxnId source = stated_source(h, read);
  if (source == kNone) return {};
  for (OpId i = h.first_op(h.txn_of(read)); i < read; ++i) {
    if (h.stated_source(i) == kNone || h.op(i).key != h.op(read).key) continue;
    const TxnId other = stated_source(h, i);
    if (other != kNone && other != source) return {Anomaly::non_repeatable_read, read, i};
  }
  return {};
}

std::string contradicted_source(const History& h) {
  if (!h.states_sources()) return {};
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (h.status(t) == TxnStatus::aborted) continue;
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) {
      if (judge(h, i) != Statement::contradicted) continue;
      const TxnId source = h.stated_source(i);
      return "a read of " + h.key(h.op(i).key).to_string() + " by " + h.name(t) +
             " is stated to be from " +
             (source == kInitialTxn ? "the initial state" : h.name(source)) +
             (written_before(h, i) ? ", and " + h.name(t) + " itself had written the key"
                                   : ", which does not have " +
                                         h.version_value(h.op(i).version).to_string() + " there");
    }
  }
  return {};
}

}  // namespace assay::internal
