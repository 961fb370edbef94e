// What SQL can decide about a history, and why that is sound.
//
// A total order of events explains a history if each read finds the version that was installed last
// before it. Given the order as a column, that is one window for each key:
//
//   item  at  reads seen  writes written   installed last before it
//   x     10  no          yes    1
//   x     20  yes   1     yes    2         1: as seen
//   x     30  yes   1     no               2: an objection
//
// *Accepting.* Without an objection, the order is a certificate, whatever its origin. Levels with
// one event per transaction place it at serial_at; those with two place its reads at snapshot_at
// and its writes at commit_at, and forbid (the conflict rule) another write of the key between
// these two. At the same place snapshots come before commits. Transactions at one place are not
// ordered, so two of them are an objection if they share a key and one of them writes it. Session
// order is one window for each session. Real time needs no window: an event between its earliest
// and latest moment follows all that was over before it, and an order that agrees with real time
// can be placed in this way, each event at the latest begin among those up to it.
//
// *Rejecting* is not done in SQL: an objection says that this order is wrong, not that all are.
// `refute` finds transactions that a rule for one key condemns, `residue` those around the
// objections; `assay residue` decides both as projections of the history (lake/residue.h), so each
// read says whether all possible writers of its value are among them.
//
// *Cut.* An objection reaches from the version that should have been current to the reader. Windows
// that overlap are merged, and everything placed in a window belongs to it: what lies outside keeps
// its place before or after all of it.
//
// Joins are by key and value, or by name; none is by key alone, which would be quadratic in the
// writers of a hot key. Cost: a sort of the events of each key.
#include "lake/queries.h"

#include <fmt/format.h>

#include <vector>

namespace assay::internal::lake {
namespace {

constexpr PartInfo kParts[] = {
    {Part::table, "table", "the table that the other queries read"},
    {Part::facts, "facts", "the same table, from a table with a row for each operation"},
    {Part::accept, "accept", "objections to the order; if there are none, the level is satisfied"},
    {Part::refute, "refute", "transactions that violate the level by a rule for one key"},
    {Part::residue, "residue",
     "the transactions around what 'accept' returns, for 'assay residue'"},
    {Part::splice, "splice", "the table with the places that 'assay residue' wrote"},
};

struct Column {
  std::string_view name;
  enum class Type : uint8_t { name, integer, boolean, value } type;
};
constexpr Column kColumns[] = {{"txn", Column::Type::name},
                               {"session_id", Column::Type::value},
                               {"place", Column::Type::integer},
                               {"unknown", Column::Type::boolean},
                               {"began", Column::Type::integer},
                               {"began_by", Column::Type::integer},
                               {"ended_from", Column::Type::integer},
                               {"ended", Column::Type::integer},
                               {"serial_at", Column::Type::integer},
                               {"snapshot_at", Column::Type::integer},
                               {"commit_at", Column::Type::integer},
                               {"item", Column::Type::value},
                               {"reads", Column::Type::boolean},
                               {"seen", Column::Type::value},
                               {"writes", Column::Type::boolean},
                               {"written", Column::Type::value},
                               {"contradicts", Column::Type::boolean},
                               {"expected", Column::Type::value},
                               {"instead", Column::Type::value}};

// A proof needs only one of the condemned transactions; this many are enough.
constexpr int kMostRefuted = 1000;

class Writer {
 public:
  explicit Writer(const QueryOptions& options)
      : o_(options), level_(level_info(options.level)), split_(level_.events == EventModel::split) {
    reads_at_ = split_ ? "snapshot_at" : "serial_at";
    writes_at_ = split_ ? "commit_at" : "serial_at";
  }

  std::string table() const {
    std::string text = "CREATE TABLE " + o_.facts + " (";
    for (const Column& c : kColumns) {
      const std::string_view type = c.type == Column::Type::boolean ? o_.dialect->boolean
                                    : c.type == Column::Type::name  ? o_.dialect->text
                                                                    : o_.dialect->integer;
      text += fmt::format("{}\n  {} {}", &c == kColumns ? "" : ",", c.name, type);
    }
    return text + "\n)";
  }

  std::string facts() const {
    return fmt::format(R"(WITH own AS (
  SELECT o.*,
         sum(CASE WHEN kind <> 'r' THEN 1 ELSE 0 END)
           OVER (PARTITION BY txn, item ORDER BY seq ROWS UNBOUNDED PRECEDING) AS written_before,
         sum(CASE WHEN kind <> 'r' THEN 1 ELSE 0 END) OVER (PARTITION BY txn, item) AS written_in_all
  FROM {0} o
  WHERE status IS NULL OR status <> 'aborted'
), judged AS (
  SELECT w.*,
         first_value(CASE WHEN kind <> 'd' THEN val END) OVER (PARTITION BY txn, item, written_before ORDER BY seq
                                ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS expected
  FROM own w
), first_fault AS (
  SELECT j.*, min(CASE WHEN kind = 'r' AND val IS DISTINCT FROM expected THEN seq END) OVER (PARTITION BY txn, item) AS fault
  FROM judged j
), effects AS (
  SELECT txn, item,
         min(session_id) AS session_id, min(place) AS place,
         max(CASE WHEN status = 'unknown' THEN 1 ELSE 0 END) = 1 AS unknown,
         min(began) AS began, max(ended) AS ended,
         max(CASE WHEN kind = 'r' AND written_before = 0 THEN 1 ELSE 0 END) = 1 AS reads,
         max(CASE WHEN kind = 'r' AND written_before = 0 THEN val END) AS seen,
         max(written_in_all) > 0 AS writes,
         max(CASE WHEN kind = 'w' AND written_before = written_in_all THEN val END) AS written,
         count(fault) > 0 AS contradicts,
         max(CASE WHEN seq = fault THEN expected END) AS expected, max(CASE WHEN seq = fault THEN val END) AS instead
  FROM first_fault
  GROUP BY txn, item
), first_read AS (
  SELECT w.txn, min(r.began) AS snapshot, min(r.ended) AS serial
  FROM effects w JOIN effects r ON r.item = w.item AND r.seen = w.written AND r.txn <> w.txn
  WHERE w.unknown AND w.writes AND r.reads
  GROUP BY w.txn
), deleting AS (
  SELECT DISTINCT txn FROM effects WHERE unknown AND writes AND written IS NULL
)
SELECT e.txn, e.session_id, e.place, e.unknown, e.began, e.began AS began_by,
       CASE WHEN NOT e.unknown THEN e.ended END AS ended_from, CASE WHEN NOT e.unknown THEN e.ended END AS ended,
       CASE WHEN NOT e.unknown THEN e.ended ELSE greatest(e.began, coalesce(f.serial - 1, e.began)) END AS serial_at,
       e.began AS snapshot_at,
       CASE WHEN NOT e.unknown THEN e.ended ELSE greatest(e.began, coalesce(f.snapshot - 1, e.began)) END AS commit_at,
       e.item, e.reads, e.seen, e.writes, e.written, e.contradicts, e.expected, e.instead
FROM effects e LEFT JOIN first_read f ON f.txn = e.txn LEFT JOIN deleting d ON d.txn = e.txn
WHERE NOT e.unknown OR f.txn IS NOT NULL OR d.txn IS NOT NULL)",
                       o_.operations);
  }

  std::string accept() const {
    return "WITH " + judged() + "\nSELECT txn, item, why, seen, found FROM (" + objections() +
           "\n) objections\nORDER BY pos, txn, item";
  }

  std::string residue() const {
    return "WITH " + judged() + ",\n" + windows() + ",\n" +
           fmt::format(R"(members AS ({1}
  UNION DISTINCT
  SELECT f.txn, w.window_id, w.window_from, w.window_to
  FROM objections o JOIN {0} f ON f.item = o.item AND f.written = o.seen AND f.writes AND f.unknown AND f.{2} IS NULL
  JOIN windows w ON o.pos >= w.window_from AND o.pos <= w.window_to
  UNION DISTINCT
  SELECT o.txn, w.window_id, w.window_from, w.window_to
  FROM objections o JOIN needed n ON n.txn = o.txn AND n.item = o.item AND n.pos = o.pos
  JOIN windows w ON n.written_before >= w.window_from AND n.written_before <= w.window_to
))",
                       o_.facts, standing_in_windows(), writes_at_) +
           with_members();
  }

  std::string refute() const {
    std::string found = fmt::format(R"(SELECT f.txn AS one, f.txn AS two, f.txn AS three
  FROM {0} f LEFT JOIN {0} w ON w.item = f.item AND w.writes AND w.written = f.seen
  WHERE f.reads AND f.seen IS NOT NULL AND w.txn IS NULL{1})",
                                    o_.facts, not_initial("f.seen"));
    if (level_.write_conflict || !split_) found += lost_updates();
    if (level_.real_time != RealTime::none) found += against_time();
    return fmt::format(R"(WITH {0}rules AS (
  {1}
), numbered AS (
  SELECT one, two, three, row_number() OVER (ORDER BY one, two, three) AS window_id FROM rules
), members AS (
  SELECT DISTINCT txn, window_id, CAST(NULL AS {2}) AS window_from, CAST(NULL AS {2}) AS window_to
  FROM (SELECT one AS txn, window_id FROM numbered UNION ALL SELECT two, window_id FROM numbered
        UNION ALL SELECT three, window_id FROM numbered) named
  WHERE window_id <= {3}
))",
                       level_.real_time != RealTime::none ? judged() + ",\n" : "", found,
                       o_.dialect->integer, kMostRefuted) +
           with_members();
  }

  std::string splice() const {
    std::string text = "SELECT ";
    for (const Column& c : kColumns) {
      const bool placed =
          split_ ? c.name == "snapshot_at" || c.name == "commit_at" : c.name == "serial_at";
      text += fmt::format(fmt::runtime(placed ? "{0}CASE WHEN p.no_effect THEN NULL ELSE "
                                                "coalesce(CAST(p.{1} AS {2}), f.{1}) END AS {1}"
                                              : "{0}f.{1}"),
                          &c == kColumns ? "" : ", ", c.name, o_.dialect->integer);
    }
    return text + fmt::format("\nFROM {} f LEFT JOIN {} p ON p.txn = f.txn", o_.facts, o_.placed);
  }

 private:
  // Each event of a key (pos, val; of a write from_pos, the place of its transaction's reads) with
  // the last version installed before it (found).
  std::string judged() const {
    if (o_.dialect->last_known == LastKnown::missing) return events() + grouped();
    return in_rows() ? single_events() : events() + last_known();
  }

  // Reads and writes as separate rows, in the order in which those at one place happen.
  std::string events() const {
    return fmt::format(R"(events AS (
  SELECT txn, item, {1} AS pos, FALSE AS is_write, seen AS val, {1} AS from_pos FROM {0} WHERE reads AND {1} IS NOT NULL
  UNION ALL
  SELECT txn, item, {2}, TRUE, written, {1} FROM {0} WHERE writes AND {2} IS NOT NULL
),
)",
                       o_.facts, reads_at_, writes_at_);
  }

  // Whether the rows of the table are the events, each a read and a write at once.
  bool in_rows() const { return !split_ && o_.dialect->last_known != LastKnown::missing; }

  std::string frame(std::string_view order) const {
    return fmt::format(
        "OVER (PARTITION BY item ORDER BY {} ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)",
        order);
  }
  std::string last_value(std::string_view value, const std::string& over) const {
    return o_.dialect->last_known == LastKnown::inside
               ? fmt::format("last_value({} IGNORE NULLS) {}", value, over)
               : fmt::format("last_value({}) IGNORE NULLS {}", value, over);
  }

  // The version current before a row: the last value written, the initial one, or nothing after a
  // deletion.
  std::string current(const std::string& value, const std::string& writes, const std::string& at,
                      const std::string& over) const {
    std::string last = last_value(fmt::format("CASE WHEN {} THEN {} END", writes, value), over);
    if (!o_.initial.empty()) last = fmt::format("coalesce({}, {})", last, o_.initial);
    if (!o_.deletions) return last;
    const auto latest = [&](std::string_view is) {
      return fmt::format("max(CASE WHEN {} AND {} {} THEN {} END) {}", writes, value, is, at, over);
    };
    const std::string deleted = latest("IS NULL"), written = latest("IS NOT NULL");
    return fmt::format("CASE WHEN {0} > coalesce({1}, {0} - 1) THEN NULL ELSE {2} END", deleted,
                       written, last);
  }

  std::string last_known() const {
    const std::string over = frame("pos, is_write");
    return fmt::format(R"(judged AS (
  SELECT e.item, e.pos, e.is_write, e.from_pos, e.val,
         {0} AS found,
         max(CASE WHEN e.is_write THEN e.pos END) {1} AS installed_at
  FROM events e
))",
                       current("e.val", "e.is_write", "e.pos", over), over);
  }

  // The events if each transaction is one event: the rows of the table.
  std::string single_events() const {
    const std::string order = "OVER (PARTITION BY item ORDER BY serial_at)";
    return fmt::format(R"(judged AS (
  SELECT item, serial_at AS pos, reads, writes, seen AS val,
         {} AS found,
         lag(serial_at) {} AS previous_at,
         lag(writes) {} AS previous_writes
  FROM {} WHERE serial_at IS NOT NULL
))",
                       current("written", "writes", "serial_at", frame("serial_at")), order, order,
                       o_.facts);
  }

  // Without IGNORE NULLS: reads are in one group with the write that they follow.
  std::string grouped() const {
    return fmt::format(R"(counted AS (
  SELECT e.*,
         sum(CASE WHEN is_write THEN 1 ELSE 0 END)
           OVER (PARTITION BY item ORDER BY pos, is_write, txn ROWS UNBOUNDED PRECEDING) AS install
  FROM events e
), judged AS (
  SELECT c.txn, c.item, c.pos, c.is_write, c.from_pos, c.val,
         CASE WHEN install = 0 THEN {0} ELSE first_value(val) OVER
           (PARTITION BY item, install ORDER BY pos, CASE WHEN is_write THEN 0 ELSE 1 END, txn) END AS found,
         max(CASE WHEN is_write THEN pos END)
           OVER (PARTITION BY item ORDER BY pos, is_write, txn ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS installed_at,
         lag(pos) OVER (PARTITION BY item ORDER BY pos, is_write, txn) AS previous_at,
         lag(is_write) OVER (PARTITION BY item ORDER BY pos, is_write, txn) AS previous_writes,
         lag(txn) OVER (PARTITION BY item ORDER BY pos, is_write, txn) AS previous_txn
  FROM counted c
))",
                       o_.initial.empty() ? "NULL" : o_.initial);
  }

  // The rows of `judged` that object, and what they object to.
  std::string objecting() const {
    if (in_rows())
      return "(reads AND val IS DISTINCT FROM found) OR (previous_at = pos AND (writes OR "
             "previous_writes))";
    std::string text = "(NOT is_write AND val IS DISTINCT FROM found)";
    if (split_ && level_.write_conflict)
      return text + " OR (is_write AND installed_at >= from_pos)";
    if (split_) return text + " OR (is_write AND installed_at = pos)";
    return text +
           " OR (previous_at = pos AND previous_txn <> txn AND (is_write OR previous_writes))";
  }

  // txn, item, why, seen, found, and the places between which the objecting event may have to move:
  // pos, from_pos, to_pos
  std::string objections() const {
    const auto joined = [&](std::string_view why, std::string_view which, std::string_view f_is,
                            std::string_view at, std::string_view from, std::string_view to) {
      return fmt::format(R"(
  SELECT f.txn, f.item, {0} AS why, f.seen, j.found, j.pos, {1} AS from_pos, {2} AS to_pos
  FROM (SELECT * FROM judged WHERE {3}) j JOIN {4} f ON f.item = j.item AND f.{5} = j.pos AND {6})",
                         why, from, to, which, o_.facts, at, f_is);
    };
    std::string text;
    if (in_rows()) {
      text = joined(
          "CASE WHEN f.reads AND j.val IS DISTINCT FROM j.found THEN 'version' ELSE 'tie' END",
          objecting(), "f.reads IS NOT DISTINCT FROM j.reads", "serial_at", "j.pos", "j.pos");
    } else {
      const bool real_time = split_ && level_.real_time != RealTime::none;
      text = joined("'version'", "NOT is_write AND (" + objecting() + ")",
                    "f.reads AND f.seen IS NOT DISTINCT FROM j.val", reads_at_, "j.pos",
                    real_time ? "greatest(j.pos, coalesce(f.began_by, j.pos))" : "j.pos") +
             "\n  UNION ALL" +
             joined(split_ && level_.write_conflict ? "'conflict'" : "'tie'",
                    "is_write AND (" + objecting() + ")", "f.writes", writes_at_, "j.from_pos",
                    "j.pos");
    }
    const std::string own =
        fmt::format("{0} AS pos, {1} AS from_pos, {0} AS to_pos", writes_at_, reads_at_);
    const auto each = [&](std::string_view why, const std::string& condition) {
      text +=
          fmt::format("\n  UNION ALL\n  SELECT txn, item, '{}', seen, NULL, {}\n  FROM {} WHERE {}",
                      why, own, o_.facts, condition);
    };
    each("contradicts", "contradicts AND NOT (" + left_out() + ")");
    each("no place",
         "NOT (" + left_out() + ") AND (" +
             (split_ ? "snapshot_at IS NULL OR commit_at IS NULL OR snapshot_at > commit_at"
                     : "serial_at IS NULL") +
             ")");
    // Such a row cannot be joined with others, so no other check would object to it.
    each("no name", std::string("txn IS NULL OR item IS NULL") +
                        (level_.session_order ? " OR session_id IS NULL OR place IS NULL" : ""));
    if (!o_.deletions) each("deletion: ask with --deletions", "writes AND written IS NULL");
    if (level_.real_time != RealTime::none)
      each("time", "NOT (" + left_out() + ") AND NOT coalesce(" + within_times() + ", FALSE)");
    if (level_.session_order) text += sessions();
    return text;
  }

  // A transaction of unknown outcome that the order omits. A read of its write is an objection,
  // since the write is not installed.
  std::string left_out() const {
    return fmt::format("coalesce(unknown, FALSE) AND {} IS NULL", writes_at_);
  }

  // Whether the events of a row lie within the times between which they happened. An unknown
  // outcome has no end.
  std::string within_times() const {
    if (!split_) return "serial_at >= began AND (coalesce(unknown, FALSE) OR serial_at <= ended)";
    const std::string commit =
        "commit_at >= began AND (coalesce(unknown, FALSE) OR (commit_at >= ended_from AND "
        "commit_at <= ended))";
    if (level_.real_time == RealTime::into_commits) return "snapshot_at <= began_by AND " + commit;
    return "snapshot_at >= began AND snapshot_at <= began_by AND " + commit;
  }

  // Checks that a session's transactions come one after the other; one of unknown outcome has no
  // successor.
  std::string sessions() const {
    return fmt::format(R"(
  UNION ALL
  SELECT f.txn, f.item, 'session', f.seen, NULL, s.pos, s.pos, s.passed
  FROM (SELECT session_id, place, pos, first_txn, last_txn,
               max(CASE WHEN NOT unknown THEN last_pos END)
                 OVER (PARTITION BY session_id ORDER BY place ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS passed
        FROM (SELECT session_id, place, min({1}) AS pos, max({2}) AS last_pos,
                     max(CASE WHEN unknown THEN 1 ELSE 0 END) = 1 AS unknown,
                     min(txn) AS first_txn, max(txn) AS last_txn
              FROM {0} GROUP BY session_id, place) txns) s
  JOIN {0} f ON f.session_id = s.session_id AND f.place = s.place
  WHERE s.passed >= s.pos OR s.first_txn <> s.last_txn)",
                       o_.facts, reads_at_, writes_at_);
  }

  // From objections to intervals of places; overlapping ones become one. An interval includes the
  // writer of the read value, the writer found and the objecting reader. If both writers come
  // before the reader, less is enough: either the reader and the writer that it found trade places,
  // or the two writers do, whichever are closer together. In the second case the reader stays after
  // the window.
  std::string windows() const {
    return fmt::format(R"(objections AS ({0}
), installed AS (
  SELECT o.txn, o.item, o.pos, max(w.{2}) AS found_at
  FROM objections o JOIN {1} w ON w.item = o.item AND w.writes AND w.written = o.found AND w.{2} <= o.pos
  WHERE o.why = 'version'
  GROUP BY o.txn, o.item, o.pos
), needed AS (
  SELECT o.txn, o.item, o.pos,
         max(CASE WHEN w.{2} <= o.pos THEN w.{2} END) AS written_before, min(CASE WHEN w.{2} > o.pos THEN w.{2} END) AS written_after
  FROM objections o JOIN {1} w ON w.item = o.item AND w.writes AND w.written = o.seen
  WHERE o.why = 'version'
  GROUP BY o.txn, o.item, o.pos
), first_install AS (
  SELECT item, min({2}) AS pos FROM {1} WHERE writes AND item IN (SELECT item FROM objections WHERE seen IS NULL) GROUP BY item
), reach AS (
  SELECT CASE WHEN f.found_at > n.written_before AND o.pos - f.found_at <= f.found_at - n.written_before THEN least(f.found_at, coalesce(o.from_pos, o.pos))
              ELSE least(o.pos, coalesce(o.from_pos, o.pos), coalesce(n.written_before, CASE WHEN n.written_after IS NULL THEN i.pos END, o.pos))
         END - {3} AS low,
         CASE WHEN f.found_at > n.written_before AND o.pos - f.found_at > f.found_at - n.written_before THEN f.found_at
              ELSE greatest(o.pos, coalesce(o.to_pos, o.pos), CASE WHEN n.written_before IS NULL THEN coalesce(n.written_after, o.pos) ELSE o.pos END)
         END + {3} AS high
  FROM objections o
  LEFT JOIN needed n ON n.txn = o.txn AND n.item = o.item AND n.pos = o.pos
  LEFT JOIN installed f ON f.txn = o.txn AND f.item = o.item AND f.pos = o.pos
  LEFT JOIN first_install i ON i.item = o.item AND o.seen IS NULL AND o.why = 'version'
), windows AS (
  SELECT window_id, min(low) AS window_from, max(high) AS window_to
  FROM (SELECT low, high, sum(CASE WHEN low <= reached THEN 0 ELSE 1 END) OVER (ORDER BY low, high ROWS UNBOUNDED PRECEDING) AS window_id
        FROM (SELECT low, high, max(high) OVER (ORDER BY low, high ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS reached
              FROM reach) apart) numbered
  GROUP BY window_id
))",
                       objections(), o_.facts, writes_at_, o_.margin);
  }

  // The transactions with an event between the ends of a window. There is a join for each kind of
  // event: engines can join efficiently by one range, but compare every pair if there are two.
  std::string standing_in_windows() const {
    std::string found;
    for (const std::string_view at : split_ ? std::vector<std::string_view>{writes_at_, reads_at_}
                                            : std::vector<std::string_view>{writes_at_})
      found += fmt::format(R"({0}
  SELECT f.txn, w.window_id, w.window_from, w.window_to
  FROM {1} f JOIN windows w ON f.{2} >= w.window_from AND f.{2} <= w.window_to)",
                           found.empty() ? "" : "\n  UNION DISTINCT", o_.facts, at);
    return found;
  }

  // The rows of `members`, and for each read whether a transaction outside may have written its
  // value.
  std::string with_members() const {
    return fmt::format(R"(,
picked AS (
  SELECT f.*, m.window_id, m.window_from, m.window_to FROM members m JOIN {0} f ON f.txn = m.txn
), needs AS (
  SELECT DISTINCT item, seen FROM picked WHERE reads
), inside AS (
  SELECT DISTINCT txn FROM members
), elsewhere AS (
  SELECT f.item, f.written FROM {0} f JOIN needs n ON n.item = f.item AND n.seen = f.written
  LEFT JOIN inside i ON i.txn = f.txn WHERE f.writes AND i.txn IS NULL GROUP BY f.item, f.written
), deleted_elsewhere AS (
  SELECT f.item FROM {0} f JOIN needs n ON n.item = f.item AND n.seen IS NULL
  LEFT JOIN inside i ON i.txn = f.txn WHERE f.writes AND f.written IS NULL AND i.txn IS NULL GROUP BY f.item
)
SELECT p.*, (p.reads AND (e.item IS NOT NULL OR (p.seen IS NULL AND d.item IS NOT NULL))) AS explained_outside
FROM picked p
LEFT JOIN elsewhere e ON e.item = p.item AND e.written = p.seen
LEFT JOIN deleted_elsewhere d ON d.item = p.item
ORDER BY window_id, session_id, place, item)",
                       o_.facts);
  }

  std::string not_initial(std::string_view value) const {
    return o_.initial.empty() ? "" : fmt::format(" AND {} <> {}", value, o_.initial);
  }

  // Two transactions that read the same version of a key and both overwrote it. The version must be
  // one: written once, or the absence of a key that was never deleted.
  std::string lost_updates() const {
    return fmt::format(R"(
  UNION ALL
  SELECT u.one, u.two, coalesce(w.txn, u.one)
  FROM (SELECT item, seen, min(txn) AS one, max(txn) AS two FROM {0}
        WHERE reads AND writes AND seen IS NOT NULL{1} GROUP BY item, seen HAVING count(*) > 1) u
  JOIN (SELECT item, written, min(txn) AS txn FROM {0} WHERE writes GROUP BY item, written HAVING count(*) = 1) w
    ON w.item = u.item AND w.written = u.seen)",
                       o_.facts, not_initial("seen"));
  }

  // A read of a version whose writer was over before its overwriter began, which was over before
  // the reader began; and a read of a version whose writer began after the reader's end.
  std::string against_time() const {
    return fmt::format(R"(
  UNION ALL
  SELECT f.txn, w.txn, l.txn
  FROM (SELECT * FROM judged WHERE {2} AND val IS DISTINCT FROM found) j
  JOIN {0} f ON f.item = j.item AND f.reads AND f.{1} = j.pos AND f.seen = j.val
  JOIN {0} w ON w.item = f.item AND w.writes AND w.written = f.seen
  JOIN {0} l ON l.item = f.item AND l.writes AND l.written = j.found
  WHERE (w.ended < l.began AND l.ended < f.began) OR w.began > f.ended)",
                       o_.facts, reads_at_, in_rows() ? "reads" : "NOT is_write");
  }

  const QueryOptions& o_;
  const LevelInfo& level_;
  bool split_;
  std::string_view reads_at_, writes_at_;
};

}  // namespace

std::span<const PartInfo> all_parts() { return kParts; }

std::optional<std::string> obstacle(LevelId id) {
  const LevelInfo& level = level_info(id);
  if (level.single_operations)
    return "ask for strict-serializable, which is the same if each transaction is one operation";
  if (level.events == EventModel::single || level.events == EventModel::split) return std::nullopt;
  return "no query decides it: an order that is accepted at prefix or serializable and above "
         "implies the weaker levels; for the rest, use assay check";
}

std::string query(Part part, const QueryOptions& options) {
  const Writer w(options);
  switch (part) {
    case Part::table:
      return w.table();
    case Part::facts:
      return w.facts();
    case Part::accept:
      return w.accept();
    case Part::refute:
      return w.refute();
    case Part::residue:
      return w.residue();
    case Part::splice:
      return w.splice();
  }
  return {};
}

}  // namespace assay::internal::lake
