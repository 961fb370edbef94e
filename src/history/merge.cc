#include "history/merge.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "history/copy.h"
#include "history/settled.h"

namespace assay::internal {
namespace {

class Merger {
 public:
  Result<History> run(std::span<const HistoryPart> parts) {
    alone_ = parts.size() == 1;
    for (const HistoryPart& part : parts)
      if (Status s = add(*part.history, part.name, *parts.front().history); !s.ok()) {
        return Error(s.error()).in(std::string(part.name));
      }
    return std::move(builder_).finish();
  }

 private:
  Status add(const History& h, std::string_view name, const History& first) {
    if (&h == &first) {
      copy_initial(h, builder_);
      for (KeyId k = 0; k < h.key_count(); ++k)
        if (h.own_initial(k) != kNone) initial_.insert(state_of(h, k));
      if (h.absent_is_never_written()) builder_.set_absent_is_never_written();
    }
    if (h.initial() != first.initial() ||
        h.absent_is_never_written() != first.absent_is_never_written())
      return bad_input(
          "states a different initial state than the first file; expected the same in all files");
    for (KeyId k = 0; k < h.key_count(); ++k)
      if (h.own_initial(k) != kNone && &h != &first && initial_.insert(state_of(h, k)).second)
        builder_.set_initial(h.key(k), h.initial(k));
    if (meta_.empty() && !h.meta().empty()) builder_.set_meta(meta_ = h.meta());
    for (SessionId s = 0; s < h.session_count(); ++s) {
      const ValueView session = h.session_name(s);
      const auto [known, fresh] =
          home_.try_emplace({session.type, session.to_string()}, std::string(name));
      if (!fresh)
        return bad_input("session " + session.to_string() + " appears in " + known->second +
                         " too; expected each session in one file");
    }
    for (TxnId t = 0; t < h.txn_count(); ++t)
      if (Status s = add_txn(h, t); !s.ok()) return s;
    for (const KnownOrder& order : h.known_orders()) {
      builder_.known_order(h.key(order.key), entries_.of(h, order));
    }
    // The orders in one file may lack writes by sessions of the others, and a transaction that this
    // file settles may share its name with one of theirs.
    for (const Event& event : h.events())
      if (alone_ || (!event.complete && names_no_transaction(event)))
        builder_.event(event.at, event.json, event.complete);
    return Ok{};
  }

  static bool names_no_transaction(const Event& event) {
    const auto names = settled_names(event.json);
    return names && names->empty();
  }

  static std::vector<std::string> state_of(const History& h, KeyId k) {
    std::vector<std::string> state;
    for (const ValueView& v : {h.key(k), h.initial(k)}) {
      state.push_back(std::to_string(static_cast<int>(v.type)));
      state.push_back(v.to_string());
    }
    return state;
  }

  Status add_txn(const History& h, TxnId t) {
    copier_.begin(h, t);
    for (OpId i = h.first_op(t); i < h.end_op(t); ++i) copier_.operation(h, i);
    return builder_.end_txn();
  }

  HistoryBuilder builder_;
  TxnCopier copier_{builder_};
  std::string meta_;
  std::map<std::pair<ValueView::Type, std::string>, std::string> home_;  // the file of each session
  std::set<std::vector<std::string>> initial_;  // keys and their initial values
  OrderCopier entries_;
  bool alone_ = true;
};

}  // namespace

Result<History> merge_histories(std::span<const HistoryPart> parts) { return Merger().run(parts); }

}  // namespace assay::internal
