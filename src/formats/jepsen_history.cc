#include "formats/jepsen_history.h"

#include <array>
#include <utility>

#include "formats/json_text.h"

namespace assay::internal::formats {
namespace {

using Kind = Datum::Kind;

Value text_value(std::string_view text) { return Value::of(std::string(text)); }

bool is_name(const Datum& d) {
  return d.kind == Kind::keyword || d.kind == Kind::string || d.kind == Kind::symbol;
}

// Whether the value is a vector of vectors that start with a name, like [[:r 1 nil] [:w 2 3]], or
// an empty one.
bool are_mops(const DatumTree& tree, const Datum* value) {
  if (!value || value->kind != Kind::list) return false;
  const Datum* mop = tree.first(*value);
  if (!mop) return true;
  if (mop->kind != Kind::list || mop->children < 2) return false;
  return is_name(*tree.first(*mop));
}

// A row of one column.
Value row_value(std::string_view column, const Value& value) {
  Value row = Value::row("{");
  append_json_string(row.text, column);
  row.text += ':';
  append_json_value(row.text, value.view());
  row.text += '}';
  return row;
}

// The condition "set = 'it''s'".
std::string equals(std::string_view column, const Value& value) {
  std::string where = std::string(column) + " = ";
  if (value.is_integer()) return where + std::to_string(value.integer);
  where += '\'';
  for (const char c : value.text) where.append(c == '\'' ? 2 : 1, c);
  return where + '\'';
}

// The key as a name, in which 1 and "1" differ.
std::string name_of(const Value& key) {
  std::string name;
  append_json_value(name, key.view());
  return name;
}

// The row of a set's element, ["k",5].
Value element_of(const Value& set, const Value& element) {
  Value key = text_value("[");
  append_json_value(key.text, set.view());
  key.text += ',';
  append_json_value(key.text, element.view());
  key.text += ']';
  return key;
}

constexpr std::string_view kSet = "set";
constexpr std::string_view kPairKey = "key";
constexpr std::string_view kRegister = "register";
constexpr std::string_view kLock = "lock";
constexpr std::string_view kFree = "free";
constexpr std::string_view kHeld = "held";

}  // namespace

bool JepsenHistory::fail(const Datum* at, std::string message) {
  fault_ = {at ? at->at : 0, std::move(message)};
  return false;
}

bool JepsenHistory::add(const JepsenRecord& record, const DatumTree& tree, std::string_view text) {
  tree_ = &tree;
  text_ = text;
  ++records_;
  if (!any_) timed_ = record.time.has_value();
  any_ = true;
  if (record.process && !record.process->is_integer()) return add_event(record);
  if (record.f == "init" && record.value && record.value->kind == Kind::map)
    return add_initial(record);
  if (!choose_workload(record)) return false;
  // Each operation without a process is in a separate session.
  const std::string process = record.process ? std::to_string(record.process->integer) : "";
  Pending& pending = pending_[process];
  ops_.clear();
  if (!translate(record, pending.open)) return false;
  if (record.type == JepsenType::invoke) {
    if (pending.open) {
      ++open_ends_;
      if (!finish(pending, names_[process], TxnStatus::unknown, Interval::kUnknown)) return false;
    }
    names_[process] = session_of(record);
    return start(pending, record);
  }
  const bool invoked = pending.open;
  if (!invoked) {
    names_[process] = session_of(record);
    pending = {};
    pending.line = record.line;
  }
  if (record.type == JepsenType::ok || !invoked) pending.ops = std::move(ops_);
  const TxnStatus status = record.type == JepsenType::ok     ? TxnStatus::committed
                           : record.type == JepsenType::fail ? TxnStatus::aborted
                                                             : TxnStatus::unknown;
  // An unknown outcome has no time: the effect may come later. In a history with only completions,
  // their order does not say when things happened.
  const bool untimed = record.type == JepsenType::info || (!timed_ && !invoked);
  const int64_t end = untimed ? Interval::kUnknown : time_of(record);
  return finish(pending, names_[process], status, end);
}

int64_t JepsenHistory::time_of(const JepsenRecord& record) const {
  if (timed_) return record.time.value_or(Interval::kUnknown);
  return records_;  // the records are in the order in which things happened
}

Value JepsenHistory::session_of(const JepsenRecord& record) {
  if (record.process) return *record.process;
  return text_value("no process " + std::to_string(++nameless_));
}

bool JepsenHistory::start(Pending& pending, const JepsenRecord& record) {
  pending = {std::move(ops_), time_of(record), record.line, true};
  return true;
}

bool JepsenHistory::finish(Pending& pending, const Value& session, TxnStatus status, int64_t end) {
  TxnHeader header;
  header.session = session.view();
  header.status = status;
  const bool invoked = pending.begin != Interval::kUnknown;
  const bool completed = end != Interval::kUnknown;
  if (invoked) header.begin = {pending.begin, completed ? end : Interval::kOpen};
  if (completed) header.end = {invoked ? pending.begin : end, end};
  header.line = pending.line;
  if (status != TxnStatus::committed) {
    std::erase_if(pending.ops, [](const OwnedOp& op) { return !changes_data(op.kind); });
  }
  bool added = true;
  if (workload_ == Workload::key_value)
    store_.add(session, header, std::move(pending.ops));
  else if (workload_ == Workload::writes)
    held_.push_back({header, session, std::move(pending.ops)});
  else
    added = add_txn(header, pending.ops);
  pending = {};
  return added;
}

// Decides, by the first read, whether the writes are values of registers or elements of a set.
bool JepsenHistory::resolve_writes(Workload workload) {
  workload_ = workload;
  const auto translated = [&](std::vector<OwnedOp>& ops) {
    if (workload == Workload::set)
      for (OwnedOp& op : ops) op = element(std::move(op.value));
  };
  for (auto& [process, pending] : pending_) translated(pending.ops);
  for (Held& held : held_) {
    translated(held.ops);
    held.header.session = held.session.view();
    if (!add_txn(held.header, held.ops)) return false;
  }
  held_ = {};
  return true;
}

OwnedOp JepsenHistory::element(Value name) {
  OwnedOp op;
  op.kind = OpKind::write;
  op.key = std::move(name);
  op.value = Value::of(1);
  return op;
}

bool JepsenHistory::add_txn(const TxnHeader& header, const std::vector<OwnedOp>& ops) {
  builder_.begin_txn(header);
  for (const OwnedOp& op : ops) builder_.add(op.view(buffers_));
  auto s = builder_.end_txn();
  return s.ok() || fail(nullptr, s.error().message);
}

// Adds what Elle's closed predicates load first, which counts as being there before everything
// else.
bool JepsenHistory::add_initial(const JepsenRecord& record) {
  if (record.type == JepsenType::invoke || record.type == JepsenType::fail) return true;
  if (record.type == JepsenType::info)
    return fail(record.value, "expected :init to be :ok, because all else depends on it");
  for (const Datum* k = tree_->first(*record.value); k; k = tree_->next(*tree_->next(*k))) {
    Value key, value;
    if (!key_of(*k, key) || !written(*tree_->next(*k), value)) return false;
    builder_.set_initial(key.view(), value.view(), record.line);
  }
  return true;
}

// Adds operations of the nemesis and other processes that are not clients.
bool JepsenHistory::add_event(const JepsenRecord& record) {
  std::string json = "{\"event\":";
  append_json_string(json, record.f.empty() ? std::string_view("event") : record.f);
  if (record.time) json += ",\"at\":" + std::to_string(*record.time);
  json += ",\"process\":";
  append_json_string(json, record.process->text);
  if (record.value && record.value->kind != Kind::nil) {
    json += ",\"value\":";
    append_json_string(json, text_.substr(record.value->at, record.value->end - record.value->at));
  }
  const Status s = builder_.event(record.time.value_or(Interval::kUnknown), json + "}");
  return s.ok() || fail(nullptr, s.error().message);
}

// Refuses anything but a history of reads and writes of keys.
bool JepsenHistory::refuse_workload(const JepsenRecord& record) {
  const std::string_view f = record.f;
  const auto refuse = [&](const char* what) {
    return fail(record.value, "'" + std::string(f) + "' is of " + what +
                                  ", which is not checked; expected reads and writes of keys");
  };
  if (f == "enqueue" || f == "dequeue" || f == "drain")
    return refuse("a queue, whose elements are taken out");
  if (f == "generate") return refuse("unique ids, which are never read");
  if (f == "send" || f == "poll" || f == "subscribe" || f == "assign" || f == "crash")
    return refuse("a log of messages such as Kafka's, which is read by offsets");
  return true;
}

bool JepsenHistory::choose_workload(const JepsenRecord& record) {
  Workload found = Workload::none;
  if (!refuse_workload(record)) return false;
  if (are_mops(*tree_, record.value) && !(record.f == "read" && workload_ == Workload::set))
    found = Workload::txn;
  else if (record.f == "acquire" || record.f == "release")
    found = Workload::lock;
  else if (record.key && (record.f == "get" || record.f == "put" || record.f == "append"))
    found = Workload::key_value;
  else if (record.f == "add")
    found = Workload::set;
  else if (record.f == "insert")
    found = Workload::pairs;
  else if (record.f == "write" || record.f == "cas" || record.f == "read")
    return choose_registers(record);
  else if (workload_ == Workload::txn && record.type != JepsenType::ok)
    found = Workload::txn;  // without a value, or with an explanation in its place
  else if (workload_ == Workload::none && record.type != JepsenType::ok && record.value &&
           record.value->kind == Kind::map && record.f != "transfer")
    return true;  // a request in an unknown form; its completion has the operations
  if (found == Workload::none)
    return fail(record.value,
                "the workload '" + std::string(record.f) +
                    "' is not one that can be checked; expected transactions, read/write/cas, "
                    "get/put/append, acquire/release or add/read (of a bank or a counter: assay "
                    "tally)");
  if (workload_ == Workload::none && found == Workload::lock)
    builder_.set_initial(ValueView::of(kFree));
  if (workload_ == Workload::none && found == Workload::key_value)
    builder_.set_initial(ValueView::of(std::string_view()));  // as gets return it
  if (workload_ != Workload::none && workload_ != found)
    return fail(record.value, "the history mixes workloads");
  workload_ = found;
  return true;
}

// Writes of single values are held until a read shows either one of them or several: Jepsen's
// causal-reverse writes the elements of a set.
bool JepsenHistory::choose_registers(const JepsenRecord& record) {
  if (workload_ == Workload::set &&
      (record.f == "read" || (record.f == "write" && elements_written_)))
    return true;
  if (workload_ == Workload::cas_register) return true;
  if (workload_ != Workload::none && workload_ != Workload::writes)
    return fail(record.value, "the history mixes workloads");
  const bool list = record.value && record.value->kind == Kind::list;
  const bool pair = list && record.value->children == 2;
  const bool elements = list || (record.value && record.value->kind == Kind::set);
  if (record.f == "write" && !record.key && !list) {
    elements_written_ = true;
    workload_ = Workload::writes;
    return true;
  }
  const bool completes = record.type == JepsenType::info || record.type == JepsenType::fail;
  if (completes && workload_ == Workload::writes) return true;
  if (record.f == "read" && !record.key && workload_ == Workload::writes) {
    if (record.type != JepsenType::ok) return true;
    return resolve_writes(elements ? Workload::set : Workload::cas_register);
  }
  // If a vector is read before anything was written and it is not a pair, it can only be a set.
  if (record.f == "read" && record.type == JepsenType::ok && elements && !pair && !record.key) {
    elements_written_ = true;
    return resolve_writes(Workload::set);
  }
  // A read that has not been answered determines nothing yet.
  if (record.f == "read" && record.type != JepsenType::ok && !pair && !record.key) {
    workload_ = Workload::writes;
    return true;
  }
  return resolve_writes(Workload::cas_register);
}

// `invoked`: a completion whose invocation has given the request. Unless the completion is :ok, it
// may repeat the request or hold an explanation in its place.
bool JepsenHistory::translate(const JepsenRecord& record, bool invoked) {
  const bool done = record.type == JepsenType::fail || record.type == JepsenType::info;
  if (!done) return translate_ops(record);
  if (invoked || record.f == "read") return true;
  if (translate_ops(record)) return true;
  // The possible writes of an operation of unknown outcome must be known; a failed one wrote
  // nothing.
  if (record.type == JepsenType::info) {
    fault_.message += "; its possible writes are not known without its invocation";
    return false;
  }
  ops_.clear();
  fault_ = {};
  return true;
}

bool JepsenHistory::translate_ops(const JepsenRecord& record) {
  switch (workload_) {
    case Workload::txn:
      if (record.type == JepsenType::invoke && !are_mops(*tree_, record.value)) return true;
      if (!are_mops(*tree_, record.value))
        return fail(record.value, "expected a transaction, a vector of operations like [:w k v]");
      return translate_txn(*record.value, record.type == JepsenType::ok);
    case Workload::writes:
    case Workload::cas_register:
      return translate_register(record);
    case Workload::lock:
      return translate_lock(record);
    case Workload::key_value:
      return translate_key_value(record);
    case Workload::set:
      return translate_set(record);
    case Workload::pairs:
      return translate_pair(record);
    default:
      return record.type == JepsenType::invoke ||
             fail(record.value, "expected a transaction, a vector of operations like [:w k v]");
  }
}

// Makes a value; collections and the like become their text in the file.
bool JepsenHistory::value_of(const Datum& d, Value& to) const {
  switch (d.kind) {
    case Kind::nil:
      to = {};
      break;
    case Kind::integer:
      to = Value::of(d.integer);
      break;
    case Kind::string:
    case Kind::keyword:
    case Kind::symbol:
      to = text_value(d.text);
      break;
    default:
      to = text_value(text_.substr(d.at, d.end - d.at));
  }
  return true;
}

bool JepsenHistory::key_of(const Datum& d, Value& to) {
  return value_of(d, to) && (!to.is_null() || fail(&d, "expected a key, not nil"));
}

bool JepsenHistory::written(const Datum& d, Value& to) {
  if (d.kind == Kind::set) return fail(&d, "expected a value to write, not a set");
  return value_of(d, to) && (!to.is_null() || fail(&d, "expected a value to write, not nil"));
}

bool JepsenHistory::values_of(const Datum& list, std::vector<Value>& to) {
  for (const Datum* e = tree_->first(list); e; e = tree_->next(*e))
    if (!written(*e, to.emplace_back())) return false;
  return true;
}

bool JepsenHistory::translate_txn(const Datum& value, bool observed) {
  for (const Datum* mop = tree_->first(value); mop; mop = tree_->next(*mop))
    if (!translate_mop(*mop, observed)) return false;
  return true;
}

bool JepsenHistory::translate_mop(const Datum& mop, bool observed) {
  constexpr std::string_view kForm = "expected an operation like [:r k v], [:w k v], [:append k v]";
  if (mop.kind != Kind::list || mop.children < 2 || mop.children > 3)
    return fail(&mop, std::string(kForm));
  const Datum& f = *tree_->first(mop);
  const Datum& key = *tree_->next(f);
  const Datum* value = tree_->next(key);
  if (f.text == "rp") return translate_predicate_read(key, value, observed);
  if (f.text == "send" || f.text == "poll")
    return fail(&f,
                "a log of messages such as Kafka's, which is read by offsets, is not checked; " +
                    std::string(kForm));
  OwnedOp op;
  if (!key_of(key, op.key)) return false;
  if (f.text == "r" || f.text == "read") {
    if (!observed) return true;
    const bool list = value && value->kind == Kind::list;
    if ((value && value->kind == Kind::set) || (list && sets_.contains(name_of(op.key))))
      return translate_set_read(op.key, *value);
    if (list) {
      list_read_ = true;
      op.kind = OpKind::read_list;
      if (!values_of(*value, op.list)) return false;
    } else if (value) {
      if (!refuse_collection(*value)) return false;
      value_of(*value, op.value);
    }
  } else if (f.text == "add" && value) {
    Value element;
    if (!written(*value, element)) return false;
    if (sets_.insert(name_of(op.key)).second && list_read_)
      return fail(&f,
                  "a vector was read as a list before; expected [:append k v], or no read of a set "
                  "before its first [:add k v]");
    op.kind = OpKind::write;
    op.value = row_value(kSet, op.key);
    op.key = element_of(op.key, element);
  } else if (f.text == "delete") {
    op.kind = OpKind::remove;
    op.value = text_value("deletion " + std::to_string(++deletions_));
  } else if ((f.text == "w" || f.text == "write" || f.text == "insert" || f.text == "append") &&
             value) {
    op.kind = f.text == "append" ? OpKind::append : OpKind::write;
    if (!written(*value, op.value)) return false;
  } else {
    return fail(&f, std::string(kForm));
  }
  ops_.push_back(std::move(op));
  return true;
}

// [:rp [:= 5] {:x 5}]: all rows that hold 5. :true is a condition that every row satisfies.
bool JepsenHistory::translate_predicate_read(const Datum& predicate, const Datum* found,
                                             bool observed) {
  OwnedOp op;
  op.kind = OpKind::range;
  const Datum* name = predicate.kind == Kind::list ? tree_->first(predicate) : nullptr;
  if (name && name->text == "=" && predicate.children == 2) {
    Value value;
    if (!written(*tree_->next(*name), value)) return false;
    op.where = equals("value", value);
  } else if (predicate.text != "true") {
    return fail(&predicate, "expected the condition :true or [:= value]");
  }
  if (!observed) return true;
  if (!found || found->kind != Kind::map)
    return fail(found, "expected a map of the keys and values that were found");
  for (const Datum* k = tree_->first(*found); k; k = tree_->next(*tree_->next(*k)))
    if (auto& [key, held] = op.rows.emplace_back();
        !key_of(*k, key) || !written(*tree_->next(*k), held))
      return false;
  ops_.push_back(std::move(op));
  return true;
}

// Adds a query for all rows of one set.
bool JepsenHistory::translate_set_read(const Value& set, const Datum& found) {
  OwnedOp op;
  op.kind = OpKind::range;
  op.where = equals(kSet, set);
  for (const Datum* e = tree_->first(found); e; e = tree_->next(*e)) {
    Value element;
    if (!written(*e, element)) return false;
    op.rows.emplace_back(element_of(set, element), row_value(kSet, set));
  }
  ops_.push_back(std::move(op));
  return true;
}

// [k [a nil]]: neither of the two tables had a row with key k, so a row with id a was inserted into
// one of them; [k [nil b]] means the other.
bool JepsenHistory::translate_pair(const JepsenRecord& record) {
  constexpr const char* kForm =
      "expected [key [id nil]] or [key [nil id]], the id of the row that was inserted";
  const Datum* value = record.value;
  if (!value || value->kind != Kind::list || value->children != 2) return fail(value, kForm);
  const Datum& key = *tree_->first(*value);
  const Datum& ids = *tree_->next(key);
  if (ids.kind != Kind::list || ids.children != 2) return fail(&ids, kForm);
  const Datum& a = *tree_->first(ids);
  const Datum& b = *tree_->next(a);
  if ((a.kind == Kind::nil) == (b.kind == Kind::nil)) return fail(&ids, kForm);
  Value of;
  OwnedOp found, put;
  if (!key_of(key, of) || !key_of(a.kind == Kind::nil ? b : a, put.key)) return false;
  found.kind = OpKind::range;
  found.where = equals(kPairKey, of);
  put.kind = OpKind::write;
  put.value = row_value(kPairKey, of);
  ops_.push_back(std::move(found));
  ops_.push_back(std::move(put));
  return true;
}

// Refuses accounts and elements, which are not values of a register: as such they would have no
// writer.
bool JepsenHistory::refuse_collection(const Datum& read) {
  if (read.kind == Kind::map)
    return fail(&read,
                "expected the value of a register, not a map; if these are the accounts of a bank, "
                "use assay tally");
  if (read.kind == Kind::set)
    return fail(&read,
                "expected the value of a register, not a set; elements of a set are added with :f "
                ":add before it is read; for a bank or a counter use assay tally");
  return true;
}

bool JepsenHistory::translate_register(const JepsenRecord& record) {
  OwnedOp op;
  op.key = text_value(kRegister);
  const Datum* value = record.value;
  // One of many registers, which :key names, or [key value].
  if (record.key) {
    if (!key_of(*record.key, op.key)) return false;
  } else if (value && value->kind == Kind::list && value->children == 2) {
    const Datum* first = tree_->first(*value);
    const Datum* second = tree_->next(*first);
    if (record.f != "cas" || second->kind == Kind::list) {
      if (!key_of(*first, op.key)) return false;
      value = second;
    }
  }
  if (record.f == "read") {
    if (record.type != JepsenType::ok) return true;
    if (value && !refuse_collection(*value)) return false;
    if (value && value->kind == Kind::list)
      return fail(value,
                  "expected the value of a register, not a vector; a vector is read as a set only "
                  "if single values were written, without a key, before the first read");
    if (value) value_of(*value, op.value);
  } else if (!value) {
    return fail(nullptr, "expected a :value");
  } else if (record.f == "write") {
    op.kind = OpKind::write;
    if (!written(*value, op.value)) return false;
  } else {
    op.kind = OpKind::cas;
    if (value->kind != Kind::list || value->children != 2)
      return fail(value, "expected [old new], the values of a compare-and-set");
    const Datum& old = *tree_->first(*value);
    value_of(old, op.expected);
    if (!written(*tree_->next(old), op.value)) return false;
  }
  ops_.push_back(std::move(op));
  return true;
}

bool JepsenHistory::translate_lock(const JepsenRecord& record) {
  const bool acquire = record.f == "acquire";
  OwnedOp op;
  op.kind = OpKind::cas;
  op.key = text_value(kLock);
  op.expected = text_value(acquire ? kFree : kHeld);
  op.value = text_value(acquire ? kHeld : kFree);
  ops_.push_back(std::move(op));
  return true;
}

bool JepsenHistory::translate_key_value(const JepsenRecord& record) {
  OwnedOp op;
  if (!key_of(*record.key, op.key)) return false;
  const bool textual = record.value && record.value->kind == Kind::string;
  std::string_view text = textual ? record.value->text : std::string_view();
  if (record.f == "get") {
    if (record.type != JepsenType::ok) return true;
    if (!KeyValueStore::read(text, op)) return fail(record.value, KeyValueStore::kWantPieces);
  } else {
    if (!textual) return fail(record.value, "expected a string to write");
    op.kind = record.f == "put" ? OpKind::write : OpKind::append;
    if (op.kind == OpKind::append && !KeyValueStore::is_piece(text))
      return fail(record.value, KeyValueStore::kWantPieces);
    op.value = text_value(text);
  }
  ops_.push_back(std::move(op));
  return true;
}

bool JepsenHistory::translate_set(const JepsenRecord& record) {
  if (record.f != "read") {
    if (!record.value) return fail(nullptr, "expected a :value");
    Value name;
    if (!is_element(*record.value) || !key_of(*record.value, name)) return false;
    ops_.push_back(element(std::move(name)));
    return true;
  }
  if (record.type != JepsenType::ok) return true;
  if (!record.value || (record.value->kind != Kind::list && record.value->kind != Kind::set))
    return fail(record.value, "expected the elements of the set (of a counter, see assay tally)");
  for (const Datum* e = tree_->first(*record.value); e; e = tree_->next(*e))
    if (!is_element(*e)) return false;
  set_read_ = true;
  OwnedOp op;
  op.kind = OpKind::range;
  std::vector<Value> elements;
  if (!values_of(*record.value, elements)) return false;
  for (Value& element : elements) op.rows.emplace_back(std::move(element), Value::of(1));
  ops_.push_back(std::move(op));
  return true;
}

bool JepsenHistory::is_element(const Datum& d) {
  return d.kind != Kind::list ||
         fail(&d,
              "expected an element, not a vector; sets of several keys and Jepsen's sequential "
              "workload are not read");
}

Result<History> JepsenHistory::finish(Notes& notes) && {
  builder_.take_null_for_empty_lists();
  for (auto& [process, pending] : pending_) {
    if (!pending.open) continue;
    ++open_ends_;
    if (!finish(pending, names_[process], TxnStatus::unknown, Interval::kUnknown))
      return bad_input(fault_.message);
  }
  if (workload_ == Workload::writes && !resolve_writes(Workload::cas_register))
    return bad_input(fault_.message);
  if (auto s = store_.finish([&](const TxnHeader& header, const std::vector<OwnedOp>& ops) {
        return add_txn(header, ops);
      });
      !s.ok())
    return s.error();
  if (open_ends_ > 0)
    notes.push_back({0, std::to_string(open_ends_) +
                            " operations have no completion; their outcome is unknown"});
  if (workload_ == Workload::set && !set_read_)
    notes.push_back({0, "nothing was read, so this history cannot show what the database did"});
  if (nameless_ > 0)
    notes.push_back({0, std::to_string(nameless_) +
                            " operations name no process; each is in a session of its own"});
  return std::move(builder_).finish();
}

}  // namespace assay::internal::formats
