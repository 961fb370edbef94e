#include "history/merge.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace assay {
namespace {

class Merger {
 public:
  Result<History> run(std::span<const HistoryPart> parts) {
    for (const HistoryPart& part : parts)
      if (Status s = add(*part.history, part.name, *parts.front().history); !s.ok()) {
        Error e = s.error();
        e.file = part.name;
        return e;
      }
    return std::move(builder_).finish();
  }

 private:
  Status add(const History& h, std::string_view name, const History& first) {
    if (&h == &first) {
      builder_.set_initial(h.initial());
      if (h.absent_is_never_written()) builder_.set_absent_is_never_written();
    }
    if (h.initial() != first.initial() ||
        h.absent_is_never_written() != first.absent_is_never_written())
      return bad_input("states another initial state than the first file; expected one for all");
    if (meta_.empty() && !h.meta().empty()) builder_.set_meta(meta_ = h.meta());
    for (SessionId s = 0; s < h.session_count(); ++s) {
      const ValueView session = h.session_name(s);
      const auto [known, fresh] =
          home_.try_emplace({session.type, session.to_string()}, std::string(name));
      if (!fresh)
        return bad_input("session " + session.to_string() + " stands in " + known->second +
                         " too; expected each session in one file");
    }
    for (TxnId t = 0; t < h.txn_count(); ++t)
      if (Status s = add_txn(h, t); !s.ok()) return s;
    for (const KnownOrder& order : h.known_orders()) {
      builder_.known_order(h.key(order.key), values(h, order.versions));
    }
    for (const Event& event : h.events()) builder_.event(event.at, event.json);
    return Ok{};
  }

  Status add_txn(const History& h, TxnId t) {
    const std::string name = h.name(t);
    TxnHeader header;
    header.session = h.session_name(h.session(t));
    header.name = name;
    header.status = h.status(t);
    header.begin = h.begin_time(t);
    header.end = h.end_time(t);
    header.start_ts = h.start_ts(t);
    header.commit_ts = h.commit_ts(t);
    header.meta = h.meta(t);
    header.line = h.line(t);
    builder_.begin_txn(header);
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) add_op(h, h.op(i), h.operands(i));
    return builder_.end_txn();
  }

  void add_op(const History& h, const Operation& op, std::span<const uint32_t> operands) {
    const auto key = [&](KeyId k) { return k == kNone ? ValueView::null() : h.key(k); };
    const ValueView value = op.version == kNone ? ValueView::null() : h.version_value(op.version);
    switch (op.kind) {
      case OpKind::read:
        return builder_.read(key(op.key), value);
      case OpKind::write:
        return builder_.write(key(op.key), value);
      case OpKind::remove:
        return builder_.remove(key(op.key), value);
      case OpKind::append:
        return builder_.append(key(op.key), value);
      case OpKind::insert:
        return builder_.insert(key(op.key), value, op.effect);
      case OpKind::cas:
        return builder_.cas(key(op.key), h.version_value(operands[0]), value, op.effect);
      case OpKind::read_list:
        return builder_.read_list(key(op.key), values(h, operands));
      case OpKind::range: {
        rows_.clear();
        for (const VersionId row : operands.subspan(2))
          rows_.emplace_back(h.key(h.version_key(row)), h.version_value(row));
        return builder_.range(key(operands[0]), key(operands[1]), rows_);
      }
    }
  }

  // Valid until the next call.
  std::span<const ValueView> values(const History& h, std::span<const VersionId> versions) {
    values_.clear();
    for (const VersionId v : versions) values_.push_back(h.version_value(v));
    return values_;
  }

  HistoryBuilder builder_;
  std::string meta_;
  std::map<std::pair<ValueView::Type, std::string>, std::string> home_;  // session: its file
  std::vector<ValueView> values_;
  std::vector<std::pair<ValueView, ValueView>> rows_;
};

}  // namespace

Result<History> merge_histories(std::span<const HistoryPart> parts) { return Merger().run(parts); }

}  // namespace assay
