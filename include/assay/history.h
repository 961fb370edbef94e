// A history: what the clients of a database did and saw. Built once by streaming, then read-only.
//
// Storage is columnar. Keys are interned to dense ids, and so are *versions*, the pairs (key,
// value): a read and the write it returned carry the same VersionId, so matching reads to writers
// is array indexing. An operation takes 14 bytes of columns plus its share of the interners; the
// whole store stays below 64 bytes an operation for transactions of a few operations and more.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "assay/budget.h"
#include "assay/level.h"
#include "assay/result.h"

namespace assay {

using SessionId = uint32_t;
using TxnId = uint32_t;  // position of the transaction in the file, from 0; aborted ones count
using OpId = uint32_t;  // index into the operation columns; a transaction's operations are adjacent
using KeyId = uint32_t;
using VersionId = uint32_t;
using PredicateId = uint32_t;  // a condition on rows
inline constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
// Where a transaction that installed a version is named: no transaction did, it is the initial
// state.
inline constexpr TxnId kInitialTxn = kNone - 1;

// committed: acknowledged. aborted: certainly without effect. unknown: a timeout, a lost
// connection, or a `pending` line without an outcome; may or may not have taken effect.
enum class TxnStatus : uint8_t { committed, aborted, unknown };

// An outside key or value: null, a 64-bit integer or a string; a value may be a row of columns as
// well. A view; the text lives in the history (or, on the way in, in the caller's buffer until the
// transaction ends).
struct ValueView {
  enum class Type : uint8_t { null, integer, string, row };
  Type type = Type::null;
  int64_t integer = 0;
  std::string_view text;

  static ValueView null() { return {}; }
  static ValueView of(int64_t v) { return {Type::integer, v, {}}; }
  static ValueView of(std::string_view v) { return {Type::string, 0, v}; }
  // A JSON object of columns without blanks, sorted by name (docs/formats/native.md).
  static ValueView row(std::string_view columns) { return {Type::row, 0, columns}; }
  bool has_text() const { return type == Type::string || type == Type::row; }
  bool is_null() const { return type == Type::null; }
  // For people: null, 42, the bare text, or the row as JSON.
  std::string to_string() const;
  friend bool operator==(const ValueView&, const ValueView&) = default;
};

// Order of keys for range queries: integers by value before strings by bytes.
bool key_less(const ValueView& a, const ValueView& b);

// When something happened, in nanoseconds on one clock: at some moment between request and
// response. For a point in time both are equal. The response may be open: any time from the request
// on.
struct Interval {
  static constexpr int64_t kUnknown = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kOpen = std::numeric_limits<int64_t>::max();
  int64_t request = kUnknown;
  int64_t response = kUnknown;

  static Interval point(int64_t t) { return {t, t}; }
  static Interval from(int64_t t) { return {t, kOpen}; }
  bool known() const { return request != kUnknown; }
  // Whether one end of an interval is a moment: neither unknown nor open.
  static constexpr bool is_moment(int64_t t) { return t != kUnknown && t != kOpen; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

//  kind       version                      operands (History::operands)
//  read       the version returned         -
//  write      the version written          -
//  remove     the tombstone written        -
//  append     (key, element)               -
//  read_list  the last element's version;  every element's version, in order
//             of an empty list (key, null)
//  range      kNone                        the bounds lo, hi (keys, both inclusive; kNone: open
//                                          end), then what it says of rows (History::selected);
//                                          effect: no row is missing
//  cas        the version to write         the version expected; effect: it was written
//  insert     the version to write         -; effect: the key was absent
enum class OpKind : uint8_t { read, write, remove, append, read_list, range, cas, insert };

struct Operation {
  OpKind kind;
  bool effect;  // cas and insert: took effect. range: it claims to be complete. All others: true.
  KeyId key;    // range: the lower bound, kNone if open
  VersionId version;
};

// Whether operations of this kind write, provided that they take effect.
constexpr bool changes_data(OpKind kind) {
  return kind != OpKind::read && kind != OpKind::read_list && kind != OpKind::range;
}
// Whether the operation installs its version: a write of some kind that took effect.
inline bool installs_version(const Operation& op) { return changes_data(op.kind) && op.effect; }

// An aggregate over rows: their number, or a function of one of their columns.
enum class AggregateFunction : uint8_t { count, sum, min, max };

// Whether a row satisfies a condition; open: this depends on the database.
enum class Match : uint8_t { no, yes, open };

// What a range says of the rows within its bounds.
//
//   range a..c: [b=1]                     b held 1, the others were absent
//   p(value < 9, [b=1])                   b held 1; what the others held, if anything, was 9 or
//                                         more
//   p(value < 9, [b=1], passed [c=10])    in addition: c held 10
//   p(value < 9, matched [b])             b held something below 9, the others did not (an update
//                                         WHERE value < 9)
struct Selected {
  PredicateId predicate = kNone;      // kNone: every row satisfies it
  std::span<const VersionId> rows;    // returned
  std::span<const VersionId> passed;  // seen and skipped, as they do not satisfy it; null: absent
  std::span<const KeyId> matched;     // keys of rows that satisfied it and were not returned
  bool complete = true;               // no other row within the bounds satisfied it
  // The number of the aggregate that the query returned, if it did; the other members are what
  // follows from the aggregate for rows. kNone: the query returned rows.
  uint32_t aggregate = kNone;
};

// One line {"key":…,"order":[…]}: these versions were installed in this order, perhaps with others
// in between.
struct KnownOrder {
  KeyId key;
  std::vector<VersionId> versions;
  // Per version the transaction that is stated to have installed it, kNone where only the value is
  // stated; empty if no transaction is stated.
  std::vector<TxnId> txns;

  TxnId txn(size_t entry) const { return txns.empty() ? kNone : txns[entry]; }
};

// Anything in the history that is not a transaction: a fault, a note. Kept verbatim.
struct Event {
  int64_t at = Interval::kUnknown;  // nanoseconds on the history's clock
  std::string json;                 // the whole object as one line of JSON
  bool complete = false;            // see History::orders_complete_to
};

// An operation in outside values: what readers add, and what a history gives back
// (History::outside). A view: it refers to the caller's buffers.
//
//   b.add(Op::write(ValueView::of("x"), ValueView::of(1)));
//   b.add(Op::select(lo, hi, "value < 9", rows));
struct Op {
  using Row = std::pair<ValueView, ValueView>;  // key and value

  OpKind kind = OpKind::read;
  bool effect = true;  // as in Operation
  // range: the bounds are `key` and `value`, both inclusive; null: open.
  ValueView key = {};
  ValueView value = {};     // read, written, appended; or the tombstone
  ValueView expected = {};  // cas: the expected value. range: the value that an aggregate returned
  // read_list: the elements. range: keys of rows that satisfied the condition and were not
  // returned.
  std::span<const ValueView> list = {};
  std::span<const Row> rows = {};    // range: returned
  std::span<const Row> passed = {};  // range: seen and skipped; null: absent
  // range: the condition, if it has one, as text; and the aggregate over the rows that satisfy it,
  // if that was returned instead of the rows, with its column unless it is a count.
  std::optional<std::string_view> where = {};
  std::optional<AggregateFunction> aggregate = {};
  std::string_view column = {};
  // read: the name of the transaction that is stated to have written the value; empty: the initial
  // state. Names of transactions added after this must be unique, as with known_order.
  std::optional<std::string_view> source = {};
  Interval time = {};  // when the operation was sent and answered; may be unknown

  static Op read(ValueView key, ValueView value) { return {.key = key, .value = value}; }
  static Op read_from(ValueView key, ValueView value, std::string_view source) {
    return {.key = key, .value = value, .source = source};
  }
  static Op write(ValueView key, ValueView value) {
    return {.kind = OpKind::write, .key = key, .value = value};
  }
  static Op remove(ValueView key, ValueView tombstone) {
    return {.kind = OpKind::remove, .key = key, .value = tombstone};
  }
  static Op append(ValueView key, ValueView element) {
    return {.kind = OpKind::append, .key = key, .value = element};
  }
  static Op read_list(ValueView key, std::span<const ValueView> elements) {
    return {.kind = OpKind::read_list, .key = key, .list = elements};
  }
  // All rows between two keys.
  static Op range(ValueView lo, ValueView hi, std::span<const Row> rows) {
    return {.kind = OpKind::range, .key = lo, .value = hi, .rows = rows};
  }
  // The rows that satisfy a condition. effect: no other row does.
  static Op select(ValueView lo, ValueView hi, std::string_view where,
                   std::span<const Row> rows = {}) {
    return {.kind = OpKind::range, .key = lo, .value = hi, .rows = rows, .where = where};
  }
  // The value that an aggregate over these rows returned.
  static Op aggregated(ValueView lo, ValueView hi, std::string_view where,
                       AggregateFunction function, std::string_view column, ValueView returned) {
    return {.kind = OpKind::range,
            .key = lo,
            .value = hi,
            .expected = returned,
            .where = where,
            .aggregate = function,
            .column = column};
  }
  static Op cas(ValueView key, ValueView expected, ValueView value, bool effect) {
    return {
        .kind = OpKind::cas, .effect = effect, .key = key, .value = value, .expected = expected};
  }
  static Op insert(ValueView key, ValueView value, bool effect) {
    return {.kind = OpKind::insert, .effect = effect, .key = key, .value = value};
  }
  // Whether key, value and effect are all that the operation has.
  bool is_plain() const {
    return kind != OpKind::range && kind != OpKind::read_list && kind != OpKind::cas && !source;
  }
};

// Room for what a history's operation refers to.
struct OpBuffers {
  std::vector<ValueView> list;
  std::vector<Op::Row> rows, passed;
  std::string text;
};

class HistoryBuilder;
namespace internal {
class PassedRows;
class Predicates;

// A column most of whose rows hold the same value. It is as long as its last row with another
// value.
template <class T>
class RareColumn {
 public:
  explicit RareColumn(T usual = {}) : usual_(usual) {}

  const T& operator[](size_t row) const { return row < rows_.size() ? rows_[row] : usual_; }
  bool empty() const { return rows_.empty(); }
  const std::vector<T>& rows() const { return rows_; }
  void set(size_t row, T value) {
    if (row >= rows_.size() && value == usual_) return;
    if (row >= rows_.size()) rows_.resize(row + 1, usual_);
    rows_[row] = value;
  }
  void clear() { std::vector<T>().swap(rows_); }
  // Keeps only these rows, in this order.
  void keep(std::span<const uint32_t> staying) {
    const std::vector<T> all = std::exchange(rows_, {});
    for (size_t row = 0; row < staying.size() && !all.empty(); ++row)
      set(row, staying[row] < all.size() ? all[staying[row]] : usual_);
  }

 private:
  T usual_;
  std::vector<T> rows_;
};
}  // namespace internal

class History {
 public:
  // Defined in a source file, to be compiled once: the members are many.
  History();
  History(History&&) noexcept;
  History& operator=(History&&) noexcept;
  ~History();
  History(const History&) = delete;
  History& operator=(const History&) = delete;

  uint32_t txn_count() const { return static_cast<uint32_t>(txns_.size()); }
  uint32_t op_count() const { return static_cast<uint32_t>(op_kind_.size()); }
  uint32_t session_count() const { return static_cast<uint32_t>(session_txns_.size()); }
  uint32_t key_count() const { return static_cast<uint32_t>(keys_.size()); }
  uint32_t version_count() const { return static_cast<uint32_t>(versions_.size()); }

  // Transactions.
  TxnStatus status(TxnId t) const { return txns_[t].status; }
  SessionId session(TxnId t) const { return txns_[t].session; }
  // 0-based position in its session, counting every transaction of the session.
  uint32_t position(TxnId t) const { return txns_[t].position; }
  OpId first_op(TxnId t) const { return txns_[t].first_op; }
  OpId end_op(TxnId t) const { return txns_[t].end_op; }
  Interval begin_time(TxnId t) const { return begin_[t]; }
  Interval end_time(TxnId t) const { return end_[t]; }
  // The database's own logical times; Interval::kUnknown where the database reported none.
  int64_t start_ts(TxnId t) const { return start_ts_[t]; }
  int64_t commit_ts(TxnId t) const { return commit_ts_[t]; }
  // The level that the transaction asked for; nullopt if none is stated. Only LevelId::mixed uses
  // it.
  std::optional<LevelId> declared_level(TxnId t) const { return level_[t]; }
  bool declares_levels() const { return !level_.empty(); }
  // The name the file gave ("3-17"), or "<session>-<position>" where it gave none.
  std::string name(TxnId t) const;
  // Returns what the database says that the transaction saw, in the database's own words; may be
  // empty.
  std::string_view snapshot(TxnId t) const;
  // The transaction's own metadata as JSON text; empty if none.
  std::string_view meta(TxnId t) const;
  // 1-based line (or record) of the source that the transaction was read from; 0 if there is none.
  uint32_t line(TxnId t) const { return txns_[t].line; }

  // Sessions: outside name and transactions in session order (all statuses).
  ValueView session_name(SessionId s) const { return session_names_.view(s); }
  std::span<const TxnId> session_txns(SessionId s) const { return session_txns_[s]; }

  // Operations.
  Operation op(OpId i) const {
    return {op_kind_[i], op_effect_[i] != 0, op_key_[i], op_version_[i]};
  }
  // The transaction an operation belongs to. O(log transactions).
  TxnId txn_of(OpId i) const;
  // See OpKind. Empty for kinds without operands.
  std::span<const uint32_t> operands(OpId i) const;
  // Returns what a range says about rows.
  Selected selected(OpId range) const;
  // The operation as it was added. Valid until the buffers are used again.
  Op outside(OpId i, OpBuffers& buffers) const;
  // The conditions of ranges; to be called only if some range has one.
  const internal::Predicates& predicates() const { return *predicates_; }
  bool has_predicates() const { return predicates_ != nullptr; }
  // The transaction that is stated to have written the value returned by a read, kInitialTxn for
  // the initial state; kNone if none is stated.
  TxnId stated_source(OpId i) const { return op_source_[i]; }
  bool states_sources() const { return !op_source_.empty(); }
  uint64_t stated_source_count() const;
  // Whether the history states orders of versions or sources of reads.
  bool states_versions() const;
  // When the client sent the operation and received its answer; unknown where this was not
  // recorded. Only statement-snapshot uses it: operations sent at the same moment are one
  // statement.
  Interval op_time(OpId i) const { return op_time_[i]; }
  bool has_op_times() const { return !op_time_.empty(); }
  uint64_t op_time_count() const;

  // Keys and versions.
  ValueView key(KeyId k) const { return keys_.view(k); }
  KeyId version_key(VersionId v) const { return versions_.key(v); }
  ValueView version_value(VersionId v) const { return versions_.value(v); }
  // The value of every key before any write, except for keys with an initial value in
  // own_initial().
  ValueView initial() const { return versions_.initial(); }
  ValueView initial(KeyId k) const {
    const VersionId own = own_initial(k);
    return own == kNone ? initial() : version_value(own);
  }
  // The version that the key holds before any write, where the history gives this key an initial
  // value; else kNone.
  VersionId own_initial(KeyId k) const { return versions_.own_initial(k); }
  bool has_own_initial() const { return versions_.has_own_initial(); }
  bool is_initial(VersionId v) const { return versions_.is_initial(v); }

  std::span<const KnownOrder> known_orders() const { return known_orders_; }
  std::span<const Event> events() const { return events_; }
  // The time by which every version that was installed is in the stated orders; Interval::kUnknown
  // if nothing says so.
  int64_t orders_complete_to() const;
  // The header's "meta" object as JSON text; empty if none.
  const std::string& meta() const { return meta_; }

  // Whether a deletion leaves its tombstone as the value of the key; if so, an absent key was never
  // written. Such a history has no `remove`: its deletions are writes.
  bool absent_is_never_written() const { return absent_is_never_written_; }

  // By how much the clocks of two sessions may differ, in nanoseconds; 0 for one clock. An
  // assumption of the check, not part of the history: between sessions S is before T
  // iff T's request is at least this much later than S's response.
  int64_t clock_drift() const { return clock_drift_; }
  void set_clock_drift(int64_t nanoseconds) { clock_drift_ = nanoseconds; }

  // The definition of a level. That of LevelId::defined comes from the user and is an assumption,
  // too.
  const LevelInfo& level(LevelId id) const {
    return id == LevelId::defined && defined_ ? *defined_ : level_info(id);
  }
  const std::shared_ptr<const LevelInfo>& defined_level() const { return defined_; }
  void define_level(std::shared_ptr<const LevelInfo> row) { defined_ = std::move(row); }
  // Adopts the assumptions under which the other history is checked.
  void assume_as(const History& other) {
    clock_drift_ = other.clock_drift_;
    defined_ = other.defined_;
  }

  // Keeps this share of the entries of the stated orders, 0…1, and forgets the others, to see how
  // much of them a verdict needs. The choice of entries depends on the history alone.
  void keep_stated_orders(double share);
  // Forgets the stated sources of reads.
  void forget_stated_sources() { op_source_.clear(); }

  // Sets the initial value of every key, for sources that could not state it.
  void set_initial(const ValueView& v) { versions_.set_initial(v); }

  // True if every committed transaction has a begin and an end time.
  bool fully_timed() const;
  // Digest of everything a verdict depends on (sessions, statuses, times, operations, initial
  // value, known orders), in the order of the transactions; independent of compression, names of
  // transactions, metadata, and of the format if it keeps that order. 32 hexadecimal digits.
  // One pass over the history.
  std::string content_hash() const;
  // Bytes held by the columns and interners.
  uint64_t memory_bytes() const;

 private:
  friend class HistoryBuilder;
  friend class internal::PassedRows;

  // An upper bound on the bytes touched by adding this many rows; 0 if there is room for them.
  uint64_t bytes_to_grow(size_t txns, size_t names, size_t ops, size_t operands) const;

  // Dense ids for null, integers and strings, in order of first appearance. An integer that is
  // small for their number is looked up in an array, everything else in a hash table.
  class ValueTable {
   public:
    // `hash` is what prefetch returned, possibly before other values were interned.
    uint32_t intern(const ValueView& v, uint64_t hash);
    uint32_t intern(const ValueView& v) { return intern(v, prefetch(v)); }
    // Fetches the place at which the look-up of the value begins.
    uint64_t prefetch(const ValueView& v) const;
    // Called once nothing more will be interned.
    void release_slots();
    ValueView view(uint32_t id) const;
    size_t size() const { return payload_.size(); }
    uint64_t memory_bytes() const;
    // The bytes that growing takes before `values` values with `text` bytes are added; 0 if there
    // is room for them.
    uint64_t bytes_to_grow(size_t values, size_t text) const;

   private:
    bool is_direct(const ValueView& v) const {
      return v.type == ValueView::Type::integer &&
             static_cast<uint64_t>(v.integer) < direct_.size();
    }
    uint32_t add(const ValueView& v);
    uint32_t intern_hashed(const ValueView& v, uint64_t hash);
    void grow_direct(uint64_t integer);

    std::vector<uint64_t> payload_;  // integer, or offset << 24 | length in text_
    std::vector<ValueView::Type> type_;
    std::string text_;
    std::vector<uint32_t> direct_;  // by integer, id + 1; 0 = none
    std::vector<uint64_t> slots_;   // hash tag << 32 | id + 1; 0 = empty
    size_t hashed_ = 0;             // number of values in slots_
  };

  // Dense ids for (key, value). Null, and the first version of an integer that is small for their
  // number, are looked up in arrays, everything else in a hash table. So nearly all values that
  // occur once are found at the index that equals the value.
  class VersionTable {
   public:
    // `hash` is what prefetch_entry returned, possibly before other versions were interned.
    VersionId intern(KeyId key, const ValueView& v, uint64_t hash);
    VersionId intern(KeyId key, const ValueView& v) {
      return intern(key, v, prefetch_entry(key, v, prefetch(key, v)));
    }
    // Appends the versions of several values of one key. The cache misses of their look-ups
    // overlap.
    void intern(KeyId key, std::span<const ValueView> values, std::vector<VersionId>& to);
    // To be called two steps ahead of intern and one step ahead: the first fetches the place where
    // the look-up begins, the second where that leads. Both return the version's hash, or 0 if none
    // is needed so far; the second takes what the first returned.
    uint64_t prefetch(KeyId key, const ValueView& v) const;
    uint64_t prefetch_entry(KeyId key, const ValueView& v, uint64_t hash) const;
    // Called once nothing more will be interned.
    void release_slots();
    KeyId key(VersionId v) const { return entries_[v].key; }
    ValueView value(VersionId v) const;
    void set_initial(const ValueView& v);
    ValueView initial() const;
    // Sets the initial value of the version's key; false if the key has one already.
    bool set_own_initial(VersionId v);
    VersionId own_initial(KeyId key) const {
      return key < own_initial_.size() ? own_initial_[key] : kNone;
    }
    bool has_own_initial() const { return !own_initial_.empty(); }
    bool is_initial(VersionId v) const;
    size_t size() const { return entries_.size(); }
    uint64_t memory_bytes() const;
    uint64_t bytes_to_grow(size_t versions, size_t text) const;

   private:
    struct Entry {
      uint64_t payload;  // as in ValueTable
      KeyId key;
      ValueView::Type type;
    };
    // The first version of an integer.
    struct Direct {
      KeyId key;
      uint32_t id;  // id + 1; 0 = none
    };
    bool is_direct(const ValueView& v) const {
      return v.type == ValueView::Type::integer &&
             static_cast<uint64_t>(v.integer) < direct_.size();
    }
    VersionId add(KeyId key, const ValueView& v);
    VersionId intern_null(KeyId key);
    VersionId intern_hashed(KeyId key, const ValueView& v, uint64_t hash);
    void grow_direct(uint64_t integer);

    std::vector<Entry> entries_;
    std::string text_;
    std::vector<Direct> direct_;   // indexed by integer
    std::vector<uint32_t> nulls_;  // indexed by key, may be shorter: id of (key, null) + 1; 0 =
                                   // none
    std::vector<uint64_t> slots_;  // as in ValueTable
    size_t hashed_ = 0;            // number of versions in slots_
    ValueView::Type initial_type_ = ValueView::Type::null;
    int64_t initial_integer_ = 0;
    std::string initial_text_;
    std::vector<VersionId> own_initial_;  // indexed by key, may be shorter; empty: no key has an
                                          // initial value of its own
  };

  struct Txn {
    SessionId session;
    uint32_t position;
    OpId first_op;
    OpId end_op;
    uint32_t line;
    uint32_t name_end;  // end of its name in names_; its begin is the end of the one before
    TxnStatus status;
  };

  ValueTable keys_;
  VersionTable versions_;
  ValueTable session_names_;
  std::vector<std::vector<TxnId>> session_txns_;
  std::vector<Txn> txns_;
  internal::RareColumn<Interval> begin_, end_;  // indexed by transaction, as are the next members
  internal::RareColumn<int64_t> start_ts_{Interval::kUnknown}, commit_ts_{Interval::kUnknown};
  internal::RareColumn<std::optional<LevelId>> level_;
  std::string names_;
  std::vector<std::pair<TxnId, std::string>> txn_meta_, txn_snapshot_;  // sorted by transaction
  std::vector<OpKind> op_kind_;
  std::vector<uint8_t> op_effect_;
  std::vector<KeyId> op_key_;
  std::vector<VersionId> op_version_;
  internal::RareColumn<uint32_t> op_operands_;    // per operation an index into pool_, 0 = none
  internal::RareColumn<TxnId> op_source_{kNone};  // per operation
  internal::RareColumn<Interval> op_time_;        // per operation
  // At the index of op_operands_: count, then that many operands; or for a list count + kOfLongest,
  // and the elements are the first ones of the key's longest list.
  std::vector<uint32_t> pool_;
  std::vector<std::vector<VersionId>> longest_list_;  // indexed by key, may be shorter
  static constexpr uint32_t kOfLongest = uint32_t{1} << 31;
  std::shared_ptr<internal::Predicates> predicates_;  // null: no range has a condition
  std::vector<KnownOrder> known_orders_;
  std::vector<Event> events_;
  std::string meta_;
  bool absent_is_never_written_ = false;
  int64_t clock_drift_ = 0;
  std::shared_ptr<const LevelInfo> defined_;  // null: no level is defined
};

// What a reader knows of a transaction, apart from its operations.
struct TxnHeader {
  ValueView session{};      // required: integer or string
  std::string_view name{};  // may be empty
  TxnStatus status = TxnStatus::committed;
  // The line was written before the outcome was known. The next line of the same session and name
  // replaces it; if none comes, the transaction is unknown.
  bool pending = false;
  Interval begin{};  // may be unknown
  Interval end{};    // may be unknown
  int64_t start_ts = Interval::kUnknown;
  int64_t commit_ts = Interval::kUnknown;
  std::optional<LevelId> level{};  // the level that it asked for, if stated
  std::string_view snapshot{};     // may be empty
  std::string_view meta{};         // JSON text, may be empty
  uint64_t line = 0;               // its line in the source, for messages
};

// An entry of a stated order. If it names a transaction, it means the version that this transaction
// installed: the one with this value, its deletion if the value is null, or its last write.
struct StatedVersion {
  ValueView value = {};
  std::string_view txn = {};  // empty: any transaction that wrote the value
  bool final = false;         // the last version that `txn` installed; `value` is ignored
};

// Transactions that are collected but not yet looked up in a history: the part of building one that
// any thread can do. For each transaction begin_txn, its operations in program order, end_txn.
// Views passed in must live until the batch has been added or cleared; `keep` makes a copy that
// does.
class TxnBatch {
 public:
  void begin_txn(const TxnHeader& header);
  // Returns false if the text of the operation's condition is not a condition, or its aggregate
  // cannot return the value. Then the operation is left out, fault() says why, its column being the
  // place in the condition, and end_txn fails.
  bool add(const Op& op) {
    ops_.emplace_back(op, extra_.size());
    has_rare_ = has_rare_ || op.time.known();
    return op.is_plain() || add_extra(op);
  }
  const Error& fault() const { return *fault_; }
  // The header of the transaction that has begun; it may be changed until that ends.
  TxnHeader& header() { return header_; }
  // A point in this transaction to which it may roll back.
  size_t savepoint() const;
  // Takes back the operations since then, as ROLLBACK TO SAVEPOINT does: their reads stay reads of
  // this transaction, and their writes become an aborted transaction after it in its session, named
  // like this one, if it has a name, with ":undone". Fails if a query that is undone follows an
  // undone write to a key in its range, and that key is not an integer or the query has a
  // condition.
  Status roll_back_to(size_t savepoint);
  // Fails on limits and if an `add` failed; the transaction is then left out.
  Status end_txn();

  // Names of transactions added after this must be unique: they are looked up when the history is
  // complete. `line`: the order's line in the source, for messages.
  void known_order(ValueView key, std::span<const StatedVersion> entries, uint64_t line = 0);
  // `complete`: the event says that the stated orders hold every version that was installed by
  // `at`.
  void event(int64_t at, std::string json, bool complete = false);
  // The initial value of one key. `line`: the statement's line in the source, for messages.
  void initial(ValueView key, ValueView value, uint64_t line = 0);

  // A copy of `text` that lives until clear().
  std::string_view keep(std::string_view text);
  void clear();

 private:
  friend class HistoryBuilder;
  // A ValueView in half the space, so an operation fits into a cache line.
  class RawValue {
   public:
    RawValue(const ValueView& v)  // NOLINT(google-explicit-constructor): the same in another form
        : type_(v.type), length_(static_cast<uint32_t>(std::min<size_t>(v.text.size(), kNone))) {
      v.has_text() ? static_cast<void>(text_ = v.text.data())
                   : static_cast<void>(integer_ = v.integer);
    }
    operator ValueView() const {  // NOLINT(google-explicit-constructor): converts back
      if (type_ == ValueView::Type::string || type_ == ValueView::Type::row)
        return {type_, 0, {text_, length_}};
      return {type_, integer_, {}};
    }
    bool is_null() const { return type_ == ValueView::Type::null; }
    uint32_t text_bytes() const { return length_; }

   private:
    union {
      int64_t integer_;
      const char* text_;
    };
    ValueView::Type type_;
    uint32_t length_;  // of the text; end_txn refuses texts that are too long
  };
  struct RawOp {
    RawOp(const Op& op, size_t extras)
        : kind(op.kind),
          effect(op.effect),
          key(op.key),
          value(op.value),
          first_extra(static_cast<uint32_t>(extras)),
          time(op.time) {}

    OpKind kind;
    bool effect;
    uint32_t query = kNone;  // range: index into queries_
    RawValue key, value;
    uint32_t first_extra, extra_count = 0;  // index into extra_
    Interval time;

    // Whether this is a read with a stated source. Its one extra is then the name of the source,
    // null for the initial state.
    bool has_source() const { return kind == OpKind::read && extra_count > 0; }
  };
  // The part of an operation that only ranges have.
  struct RawQuery {
    // The numbers of returned and skipped rows among the extras; the rest are matched keys.
    uint32_t rows = 0, passed = 0;
    PredicateId predicate = kNone;  // index into predicates_
    uint32_t aggregate = kNone;     // index into predicates_
  };
  struct RawTxn {
    TxnHeader header;
    size_t first_op, end_op;  // indices into ops_
  };
  struct RawOrder {
    ValueView key;
    size_t first_entry, end_entry;  // indices into entries_
    uint64_t line;
    size_t before_txn;  // the order precedes this element of txns_
  };
  struct RawInitial {
    ValueView key, value;
    uint64_t line;
  };
  class Undoing;  // history/savepoints.cc
  bool add_extra(const Op& op);
  Status number_query(const Op& op, RawOp& raw, RawQuery& query);
  void end_undone();
  size_t end_of_txns() const { return txns_.empty() ? 0 : txns_.back().end_op; }

  bool ends_with_own(const RawOp& list) const;

  TxnHeader header_;  // of the transaction that has begun
  std::vector<RawTxn> txns_;
  std::vector<RawOp> ops_;
  std::vector<RawQuery> queries_;
  std::vector<ValueView> extra_;  // list elements, range rows, sources of ops_
  bool has_rare_ = false;         // whether some of ops_ have times or sources
  size_t text_bytes_ = 0;         // of keys and values of ops_, in transactions that have ended
  std::vector<RawOp> undone_;     // writes of the transaction that has begun
  std::optional<Error> fault_;    // in an operation of the transaction that has begun
  std::vector<RawOrder> orders_;
  std::vector<StatedVersion> entries_;
  std::vector<Event> events_;
  std::vector<RawInitial> initial_;
  std::shared_ptr<internal::Predicates> predicates_;  // null: no range has a condition
  std::vector<std::unique_ptr<char[]>> text_;         // copied texts
  char* text_end_ = nullptr;                          // end of the texts in the last block
  size_t text_left_ = 0;                              // bytes free after text_end_
};

// Builds a History by streaming: for each transaction begin_txn, its operations in program order,
// end_txn. Views passed in need to live only until end_txn returns. Not thread-safe.
//
//   HistoryBuilder b;
//   b.begin_txn({.session = ValueView::of(1)});
//   b.add(Op::write(ValueView::of("x"), ValueView::of(1)));
//   if (auto s = b.end_txn(); !s.ok()) …
//   Result<History> h = std::move(b).finish();
class HistoryBuilder : private TxnBatch {
 public:
  // Largest counts accepted; beyond them end_txn and finish report bad input.
  static constexpr uint64_t kMaxOps = 0xFFFF'FFF0;
  static constexpr uint64_t kMaxTextBytes = (1u << 24) - 1;  // one key or value

  HistoryBuilder();
  HistoryBuilder(HistoryBuilder&&) noexcept;
  HistoryBuilder& operator=(HistoryBuilder&&) noexcept;
  ~HistoryBuilder();

  // Makes end_txn and finish fail before they pass the memory limit of `budget`, which must outlive
  // the builder and may be null.
  void limit(Budget* budget) { budget_ = budget; }

  // Sets the value that every key has before anything is written. To be called before the first
  // transaction.
  void set_initial(ValueView v) { h_.versions_.set_initial(v); }
  // Sets the value that this key has before anything is written, instead of that of every key.
  void set_initial(ValueView key, ValueView value, uint64_t line = 0) {
    store_initial({key, value, line});
  }
  void set_meta(std::string json) { h_.meta_ = std::move(json); }
  // After this `remove` is a write of the tombstone; see History::absent_is_never_written.
  void set_absent_is_never_written() { h_.absent_is_never_written_ = true; }

  // Reads of null count as reads of the empty list if the key is otherwise used as a list: for
  // sources that write both in the same way.
  void take_null_for_empty_lists() { null_is_empty_list_ = true; }

  using TxnBatch::add;
  using TxnBatch::begin_txn;
  using TxnBatch::fault;
  using TxnBatch::header;
  using TxnBatch::roll_back_to;
  using TxnBatch::savepoint;
  // Resolves keys and values to ids. Fails on limits and if an `add` failed.
  Status end_txn();
  void known_order(ValueView key, std::span<const ValueView> values);
  void known_order(ValueView key, std::span<const StatedVersion> entries, uint64_t line = 0);
  void event(int64_t at, std::string json, bool complete = false);

  // Adds everything in the batch, in its order, as if it had been added here.
  Status add(const TxnBatch& batch);

  // Makes the history. Pending transactions without outcome become unknown, and times are
  // validated: there must be a moment in each interval at which the begins and ends of a session's
  // transactions can have happened in session order.
  Result<History> finish() &&;

 private:
  Status check_limits(const TxnBatch& batch) const;
  uint64_t bytes_to_grow(const TxnBatch& batch) const;
  Status make_room(uint64_t bytes) const;
  void number_predicates(const TxnBatch& batch);
  void add_txns(const TxnBatch& batch, size_t first, size_t end);
  TxnId place_txn(const TxnHeader& header);
  void store_header(TxnId t, const TxnHeader& header);
  void resolve_window(std::span<const RawOp> ops, const TxnBatch& batch);
  void resolve_operands(const RawOp& op, const TxnBatch& batch, size_t index);
  bool resolve_list(KeyId key, std::span<const ValueView> elements, bool ends_with_own);
  KeyId key_id(const ValueView& v);
  VersionId version_id(KeyId key, const ValueView& v);
  void include_least_rows();
  void drop_replaced_ops();
  void turn_nulls_into_lists();
  void store_initial(const RawInitial& initial);
  // That all columns are equally long, operations of transactions do not overlap, and ids and
  // places of operands exist.
  void check_invariants() const;

  // The names by which orders of versions, and sources of reads, refer to transactions. Until all
  // transactions are known, such a reference is the number of the name. See
  // history/stated_names.cc.
  class StatedNames {
   public:
    uint32_t number(std::string_view name);
    // Adds these entries to an order that has none yet, and adds the order to the history.
    void add_order(History& h, KnownOrder order, std::span<const StatedVersion> entries,
                   uint64_t line);
    // The line of each stated order, for messages.
    std::span<const uint32_t> order_lines() const { return order_lines_; }
    // Replaces names by transactions, and finds the version where only a deletion or the last
    // version of a transaction is stated. Fails on a name that no transaction has, or more than
    // one.
    Status resolve(History& h);

   private:
    // An entry that states a deletion, or the last version that its transaction installed.
    struct Unresolved {
      uint32_t order, entry;
      bool final;
    };
    Status find_txns(const History& h, std::vector<TxnId>& txns);
    static void resolve(const Unresolved& entry, History& h);

    History::ValueTable names_;
    std::vector<Unresolved> unresolved_;
    std::vector<uint32_t> order_lines_;  // indexed by order
  };

  History h_;
  StatedNames names_;
  // The numbers here of the batch's predicates; empty: they are the same.
  std::vector<PredicateId> predicate_of_;
  std::vector<uint32_t> aggregate_of_;
  std::vector<std::unordered_map<std::string, TxnId>> pending_;  // indexed by session, then by name
  std::optional<Error> initial_fault_;  // about the first key that was given two initial values
  Budget* budget_ = nullptr;
  bool replaced_ = false;
  bool null_is_empty_list_ = false;
};

}  // namespace assay
