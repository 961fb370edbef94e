#include "formats/jepsen_tally.h"

#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>

#include "formats/edn.h"
#include "formats/jepsen_log.h"
#include "formats/jepsen_record.h"
#include "formats/registry.h"

namespace assay::internal::formats {
namespace {

using Kind = Datum::Kind;
using Workload = Tally::Workload;
constexpr std::string_view kCounter = "counter";

class JepsenTallyReader {
 public:
  explicit JepsenTallyReader(Input& input) : input_(input) {}

  // `records` are JepsenRecords or JepsenLogRecords.
  template <class Records>
  Result<Tally> run(Records records) {
    DatumTree tree;
    tree_ = &tree;
    error_ = [&](size_t offset, std::string message) {
      return records.error(offset, std::move(message));
    };
    for (;;) {
      JepsenRecord record;
      const auto more = records.next(tree, record);
      if (!more.ok()) return more.error();
      if (!*more) break;
      // The nemesis and the like are not clients.
      if (record.process && record.process->type != ValueView::Type::integer) continue;
      if (auto s = add(record); !s.ok()) return s.error();
    }
    // Operations that never completed.
    for (const auto& [process, txn] : open_) tally_.txns[txn].status = TxnStatus::unknown;
    if (!workload_) return input_.located(bad_input("no operation of a bank or a counter"));
    tally_.workload = *workload_;
    return std::move(tally_);
  }

 private:
  Error expected(const Datum* at, std::string_view what) const {
    return error_(at ? at->at : 0, "expected " + std::string(what));
  }

  Status add(const JepsenRecord& record) {
    ++place_;
    if (auto s = choose_workload(record); !s.ok()) return s;
    const int64_t process = record.process ? record.process->integer : --nameless_;
    const auto open = open_.find(process);
    size_t txn = tally_.txns.size();
    if (open != open_.end() && record.type != JepsenType::invoke) txn = open->second;
    if (txn == tally_.txns.size()) {
      if (open != open_.end()) tally_.txns[open->second].status = TxnStatus::unknown;
      open_[process] = txn;
      TallyTxn& fresh = tally_.txns.emplace_back();
      fresh.session = process;
      fresh.line = record.line;
      if (record.type == JepsenType::invoke) fresh.begin = time_of(record);
    }
    const bool invoked = open != open_.end() && record.type != JepsenType::invoke;
    if (auto s = translate(record, invoked, tally_.txns[txn]); !s.ok()) return s;
    if (record.type == JepsenType::invoke) return Ok{};
    TallyTxn& done = tally_.txns[txn];
    done.status = record.type == JepsenType::ok     ? TxnStatus::committed
                  : record.type == JepsenType::fail ? TxnStatus::aborted
                                                    : TxnStatus::unknown;
    if (record.type == JepsenType::ok && done.begin.known()) done.end = time_of(record);
    open_.erase(process);
    return Ok{};
  }

  // Without times, the order of the records serves as the clock.
  Interval time_of(const JepsenRecord& record) {
    if (place_ == 1) timed_ = record.time.has_value();
    if (!timed_) return Interval::point(place_);
    return record.time ? Interval::point(*record.time) : Interval{};
  }

  Status choose_workload(const JepsenRecord& record) {
    std::optional<Workload> found;
    if (record.f == "transfer") found = Workload::bank;
    if (record.f == "add") found = Workload::counter;
    if (record.f == "read" && record.value && record.value->kind == Kind::map)
      found = Workload::bank;
    if (record.f == "read" && record.value && record.value->kind == Kind::integer)
      found = Workload::counter;
    const bool read = record.f == "read" && (!record.value || record.value->kind == Kind::nil ||
                                             record.type != JepsenType::ok);
    if (!found && !read)
      return expected(record.value,
                      "a bank (:transfer, and :read of a map) or a counter (:add, and :read of an "
                      "integer)");
    if (found && workload_ && found != workload_)
      return expected(record.value, "one workload, not a bank and a counter");
    if (found) workload_ = found;
    return Ok{};
  }

  Status translate(const JepsenRecord& record, bool invoked, TallyTxn& txn) {
    const bool nil = !record.value || record.value->kind == Kind::nil;
    if (record.f == "read")
      return !nil && record.type == JepsenType::ok ? read(*record.value, txn) : Ok{};
    // A completion may hold an explanation in place of the value, or nothing.
    if (invoked && (nil || record.type != JepsenType::ok)) return Ok{};
    // A failed operation added nothing.
    if (record.type == JepsenType::fail || (nil && record.type == JepsenType::invoke)) return Ok{};
    if (nil) return expected(record.value, "the added value: its invocation is missing");
    txn.adds.clear();
    if (record.f == "transfer") return transfer(*record.value, txn);
    int64_t amount = 0;
    if (!integer(record.value, amount)) return expected(record.value, "an integer to add");
    txn.adds.emplace_back(account(kCounter), amount);
    return Ok{};
  }

  Status transfer(const Datum& value, TallyTxn& txn) {
    const Datum* from = tree_->field(value, "from");
    const Datum* to = tree_->field(value, "to");
    const Datum* amount = tree_->field(value, "amount");
    int64_t moved = 0;
    if (!from || !to || !integer(amount, moved) || moved == INT64_MIN)
      return expected(&value, "a transfer, {:from a :to b :amount n}");
    txn.adds = {{account(name(*from)), -moved}, {account(name(*to)), moved}};
    return Ok{};
  }

  Status read(const Datum& value, TallyTxn& txn) {
    txn.reads.clear();
    int64_t amount = 0;
    if (*workload_ == Workload::counter) {
      if (!integer(&value, amount)) return expected(&value, "the value of the counter, an integer");
      txn.reads.emplace_back(account(kCounter), amount);
      return Ok{};
    }
    if (value.kind != Kind::map) return expected(&value, "a map of accounts to balances");
    for (const Datum* key = tree_->first(value); key; key = tree_->next(*tree_->next(*key))) {
      if (!integer(tree_->next(*key), amount))
        return expected(tree_->next(*key), "the balance of the account, an integer");
      txn.reads.emplace_back(account(name(*key)), amount);
    }
    return Ok{};
  }

  static bool integer(const Datum* d, int64_t& to) {
    if (!d || d->kind != Kind::integer) return false;
    to = d->integer;
    return true;
  }
  static std::string name(const Datum& d) {
    return d.kind == Kind::integer ? std::to_string(d.integer) : std::string(d.text);
  }
  AccountId account(std::string_view name) {
    const auto next = static_cast<AccountId>(tally_.accounts.size());
    const auto [it, fresh] = ids_.try_emplace(std::string(name), next);
    if (fresh) tally_.accounts.push_back(it->first);
    return it->second;
  }

  Input& input_;
  std::function<Error(size_t, std::string)> error_;
  const DatumTree* tree_ = nullptr;
  Tally tally_;
  std::optional<Workload> workload_;
  std::map<int64_t, size_t> open_;  // by process: its operation under way
  std::unordered_map<std::string, AccountId> ids_;
  int64_t place_ = 0;
  int64_t nameless_ = 0;
  bool timed_ = false;
};

Result<Tally> read(Input& input) {
  if (auto s = input.fill(kHeadBytes); !s.ok()) return s.error();
  // In JSON, the name of the first field is in quotes.
  const std::string_view head = input.window();
  const size_t open = std::min(head.find('{'), head.size());
  const size_t name = head.find_first_not_of(" \t\r\n", open + 1);
  const bool json = name != head.npos && head[name] == '"';
  JepsenTallyReader reader(input);
  return is_jepsen_log(head) ? reader.run(JepsenLogRecords(input))
                             : reader.run(JepsenRecords(input, json));
}

}  // namespace

Result<Tally> read_tally(const std::string& path, Budget* budget) {
  auto input = Input::open(path, budget);
  if (!input.ok()) return input.error();
  return read(*input);
}

Result<Tally> read_tally_text(std::string_view text, const std::string& name) {
  auto input = Input::memory(text, name, nullptr);
  if (!input.ok()) return input.error();
  return read(*input);
}

}  // namespace assay::internal::formats
