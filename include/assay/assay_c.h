/* assay for C, and for every language that can call C. Link with -lassay (pkg-config assay);
   libassay.so.0 may gain functions and constants;
   none changes or is removed.

     assay_error* error = NULL;
     assay_history* history = NULL;
     assay_audit* audit = NULL;
     if (assay_history_read("run.jsonl", NULL, &history, &error) != ASSAY_OK ||
         assay_check(history, NULL, &audit, &error) != ASSAY_OK) {
       fprintf(stderr, "%s\n", assay_error_message(error));
       return 1;
     }
     for (size_t i = 0; i < assay_verdict_count(audit); ++i)
       printf("%s %s\n", assay_verdict_level(audit, i),
              assay_outcome_name(assay_verdict_outcome(audit, i)));

   Errors. A function that can fail returns an assay_status. With `error` not null, *error becomes
   null if the function succeeds; otherwise it becomes what went wrong, to be freed by the caller.
   No C++ exception leaves the library.

   Ownership. The caller frees each handle it gets with the function for its type; freeing null
   does nothing. Arguments are copied. A `const char*` that is returned ends with a zero byte, is
   UTF-8 if the history is, and lives as long as the handle that it came from. An audit keeps its
   history alive: either may be freed first.

   Threads. Different handles may be used by different threads at once. Histories, audits, errors
   and bytes may be shared by threads: calls on one history and its audits wait for each other.
   Options, builders and watches are for one thread at a time. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define ASSAY_API __attribute__((visibility("default")))
#else
#define ASSAY_API
#endif

/* The number of the interface that this header declares, and that of the linked library: an
 * interface includes all interfaces with lower numbers. */
#define ASSAY_C_VERSION 2
ASSAY_API int assay_c_version(void);
/* The version of the program and of the library, "0.1.0". */
ASSAY_API const char* assay_version(void);

/* ---- errors */

typedef enum assay_status {
  ASSAY_OK = 0,
  ASSAY_BAD_INPUT = 1, /* the input is not as it has to be */
  ASSAY_IO = 2,        /* a file could not be read or written */
  ASSAY_USAGE =
      3, /* there is no such level, format or report, or the call is not allowed at this point */
  ASSAY_BUDGET = 4,  /* a limit was reached while the history was read */
  ASSAY_REFUSED = 5, /* the verifier does not accept a certificate */
  ASSAY_NO_MEMORY = 6,
  ASSAY_INTERNAL = 7 /* a fault of the library */
} assay_status;

typedef struct assay_error assay_error;

ASSAY_API assay_status assay_error_status(const assay_error* error);
/* "file:line:column: what is wrong and what was expected", without the parts that are not known. */
ASSAY_API const char* assay_error_message(const assay_error* error);
/* The parts of the message; "" and 0 for those that are not known. */
ASSAY_API const char* assay_error_file(const assay_error* error);
ASSAY_API uint64_t assay_error_line(const assay_error* error);
ASSAY_API uint64_t assay_error_column(const assay_error* error);
ASSAY_API void assay_error_free(assay_error* error);

/* ---- bytes: reports, certificates, histories as text. A zero byte follows them. */

typedef struct assay_bytes assay_bytes;

ASSAY_API const char* assay_bytes_data(const assay_bytes* bytes);
ASSAY_API size_t assay_bytes_size(const assay_bytes* bytes);
ASSAY_API void assay_bytes_free(assay_bytes* bytes);

/* ---- levels: every one by its name, weaker before stronger; last "mixed", each transaction at the
 * level that it declares */

ASSAY_API size_t assay_level_count(void);
ASSAY_API const char* assay_level_name(size_t i);    /* null beyond the last */
ASSAY_API const char* assay_level_summary(size_t i); /* one line */
/* The name of the level with this name or alias, or with this name in SQL, in upper or lower case.
 * Null if there is none. */
ASSAY_API const char* assay_level_called(const char* name);

/* ---- options for reading and checking. Null stands for the options of assay_options_new. */

typedef struct assay_options assay_options;

/* Null if there is no memory. */
ASSAY_API assay_options* assay_options_new(void);
ASSAY_API void assay_options_free(assay_options* options);
/* Decides this level, or the levels of a group ("all", "adya", "session-guarantees"), in addition
   to those named before. The names are those of the command line: names, aliases, and the names in
   SQL. If no level is named, the default levels are decided. */
ASSAY_API assay_status assay_options_level(assay_options* options, const char* name,
                                           assay_error** error);
/* Limits the time of reading and the time of checking, each by itself; 0: no limit. Beyond it
 * reading fails, and verdicts are unknown. */
ASSAY_API void assay_options_time(assay_options* options, double seconds);
/* Limits the resident memory of the process; 0: no limit. */
ASSAY_API void assay_options_memory(assay_options* options, uint64_t bytes);
/* 0: one thread per core, where that is worthwhile. */
ASSAY_API void assay_options_threads(assay_options* options, unsigned threads);
/* The amount by which the clocks of two sessions may differ. */
ASSAY_API void assay_options_clock_drift(assay_options* options, int64_t nanoseconds);
/* Reports satisfied, not unknown, if nothing was observed. */
ASSAY_API void assay_options_allow_empty(assay_options* options, int allow);
/* From interface 2. Also counts what transactions that did not commit saw, as if each were
   a committed reader: strict-serializable is then opacity, a name that assay_options_level takes,
   too. */
ASSAY_API void assay_options_aborted_reads(assay_options* options, int count);
/* From interface 2. Reports unknown, not satisfied, if no transactions that overlapped could have
   shown what the level rules out. */
ASSAY_API void assay_options_require_contention(assay_options* options, int require);
/* The format of the file, by its name ("jepsen"); detected if none is named. */
ASSAY_API assay_status assay_options_format(assay_options* options, const char* name,
                                            assay_error** error);
/* Rejects two writes of the same value to a key as bad input. */
ASSAY_API void assay_options_unique_values(assay_options* options, int unique);

/* ---- histories */

typedef struct assay_history assay_history;

/* `path` is a file, a folder (for formats that use one), or "-" for standard input; gzip and zstd
 * are decompressed. */
ASSAY_API assay_status assay_history_read(const char* path, const assay_options* options,
                                          assay_history** history, assay_error** error);
/* Reads a history from memory; `name` is used in messages. */
ASSAY_API assay_status assay_history_read_text(const char* data, size_t size, const char* name,
                                               const assay_options* options,
                                               assay_history** history, assay_error** error);
ASSAY_API void assay_history_free(assay_history* history);

ASSAY_API uint64_t assay_history_transactions(const assay_history* history);
ASSAY_API uint64_t assay_history_operations(const assay_history* history);
ASSAY_API uint64_t assay_history_sessions(const assay_history* history);
ASSAY_API uint64_t assay_history_keys(const assay_history* history);
/* What the reader tolerated and the user should know. */
ASSAY_API size_t assay_history_note_count(const assay_history* history);
ASSAY_API const char* assay_history_note(const assay_history* history,
                                         size_t i); /* null beyond the last */
/* The history as a file of a format ("assay", "hist"). What the format cannot hold is left out. */
ASSAY_API assay_status assay_history_text(const assay_history* history, const char* format,
                                          assay_bytes** text, assay_error** error);

/* ---- building a history: one transaction after another, the transactions of a session in the
   order in which the session ran them

     assay_builder* b = assay_builder_new();
     assay_begin(b, assay_integer(1), &error);
     assay_write(b, assay_text("x"), assay_integer(5), &error);
     assay_commit(b, &error);
     assay_builder_finish(b, &history, &error);
     assay_builder_free(b);
*/

/* A key, a value or the name of a session: nothing, a number or text, which may hold any bytes and
 * needs no zero byte. */
typedef enum assay_type { ASSAY_NULL = 0, ASSAY_INTEGER = 1, ASSAY_TEXT = 2 } assay_type;
typedef struct assay_value {
  int32_t type; /* an assay_type */
  int64_t integer;
  const char* text;
  size_t size; /* of the text in bytes */
} assay_value;

static inline assay_value assay_null(void) {
  assay_value v = {ASSAY_NULL, 0, NULL, 0};
  return v;
}
static inline assay_value assay_integer(int64_t integer) {
  assay_value v = {ASSAY_INTEGER, 0, NULL, 0};
  v.integer = integer;
  return v;
}
static inline assay_value assay_text(const char* text) { /* up to its zero byte */
  assay_value v = {ASSAY_TEXT, 0, NULL, 0};
  v.text = text;
  while (text[v.size] != 0) ++v.size;
  return v;
}

typedef struct assay_builder assay_builder;

/* Null if there is no memory. */
ASSAY_API assay_builder* assay_builder_new(void);
ASSAY_API void assay_builder_free(assay_builder* builder);
/* States what every key holds before anything is written; null if this is not called. To be called
 * before the first transaction. */
ASSAY_API assay_status assay_initial(assay_builder* builder, assay_value value,
                                     assay_error** error);

/* Begins a transaction, to be ended with assay_commit, assay_abort or assay_unknown before the next
 * one begins. */
ASSAY_API assay_status assay_begin(assay_builder* builder, assay_value session,
                                   assay_error** error);

/* Further facts about the transaction. Times are nanoseconds on one clock: it began, or ended, at
   some moment from `request` to `response`; both are the same if the moment is known. */
ASSAY_API assay_status assay_name(assay_builder* builder, const char* name, assay_error** error);
ASSAY_API assay_status assay_begin_time(assay_builder* builder, int64_t request, int64_t response,
                                        assay_error** error);
ASSAY_API assay_status assay_end_time(assay_builder* builder, int64_t request, int64_t response,
                                      assay_error** error);
/* From interface 2. The name of the level that the transaction asked for; "mixed" requires of the
   transaction what this level requires. */
ASSAY_API assay_status assay_declared_level(assay_builder* builder, const char* level,
                                            assay_error** error);
/* The database's own logical times. */
ASSAY_API assay_status assay_start_timestamp(assay_builder* builder, int64_t timestamp,
                                             assay_error** error);
ASSAY_API assay_status assay_commit_timestamp(assay_builder* builder, int64_t timestamp,
                                              assay_error** error);

/* The operations of the transaction, in its order. A key that was absent reads as null. */
ASSAY_API assay_status assay_read(assay_builder* builder, assay_value key, assay_value value,
                                  assay_error** error);
ASSAY_API assay_status assay_write(assay_builder* builder, assay_value key, assay_value value,
                                   assay_error** error);
/* `tombstone` is a value that names this deletion and that nothing else writes. */
ASSAY_API assay_status assay_delete(assay_builder* builder, assay_value key, assay_value tombstone,
                                    assay_error** error);
ASSAY_API assay_status assay_append(assay_builder* builder, assay_value key, assay_value element,
                                    assay_error** error);
ASSAY_API assay_status assay_read_list(assay_builder* builder, assay_value key,
                                       const assay_value* elements, size_t count,
                                       assay_error** error);
/* The keys present from `low` to `high` were exactly these, with these values. Both bounds are
 * included; null is no bound. */
ASSAY_API assay_status assay_range(assay_builder* builder, assay_value low, assay_value high,
                                   const assay_value* keys, const assay_value* values, size_t count,
                                   assay_error** error);
/* `written`: whether the key held the expected value and the new one was written. */
ASSAY_API assay_status assay_compare_and_set(assay_builder* builder, assay_value key,
                                             assay_value expected, assay_value value, int written,
                                             assay_error** error);
/* `written`: whether the key was absent and the value was written. */
ASSAY_API assay_status assay_insert(assay_builder* builder, assay_value key, assay_value value,
                                    int written, assay_error** error);

/* Ends the transaction: it was acknowledged; it certainly had no effect; or its outcome is unknown,
 * as after a lost connection. */
ASSAY_API assay_status assay_commit(assay_builder* builder, assay_error** error);
ASSAY_API assay_status assay_abort(assay_builder* builder, assay_error** error);
ASSAY_API assay_status assay_unknown(assay_builder* builder, assay_error** error);

/* To be called between transactions. These values of `key` were installed in this order, perhaps
 * with others in between. */
ASSAY_API assay_status assay_known_order(assay_builder* builder, assay_value key,
                                         const assay_value* values, size_t count,
                                         assay_error** error);

/* Makes a history of the transactions so far. The builder is empty afterwards, whether this
 * succeeds or fails. */
ASSAY_API assay_status assay_builder_finish(assay_builder* builder, assay_history** history,
                                            assay_error** error);

/* ---- checking: decides, verifies and explains. No verdict is returned that the independent
 * verifier has not accepted. */

typedef struct assay_audit assay_audit;

typedef enum assay_outcome {
  ASSAY_SATISFIED = 0,
  ASSAY_VIOLATED = 1,
  ASSAY_UNKNOWN = 2
} assay_outcome;
/* "satisfied", "violated", "unknown". */
ASSAY_API const char* assay_outcome_name(assay_outcome outcome);

ASSAY_API assay_status assay_check(assay_history* history, const assay_options* options,
                                   assay_audit** audit, assay_error** error);
ASSAY_API void assay_audit_free(assay_audit* audit);

/* The verdicts, weaker levels before stronger ones. Texts are "" if there is nothing to say, and
 * null beyond the last verdict. */
ASSAY_API size_t assay_verdict_count(const assay_audit* audit);
ASSAY_API const char* assay_verdict_level(const assay_audit* audit, size_t i);
ASSAY_API assay_outcome assay_verdict_outcome(const assay_audit* audit,
                                              size_t i); /* ASSAY_UNKNOWN beyond the last */
/* Why a verdict is unknown: a word ("time", "lacks-times") and a sentence. */
ASSAY_API const char* assay_verdict_cause(const assay_audit* audit, size_t i);
ASSAY_API const char* assay_verdict_reason(const assay_audit* audit, size_t i);
/* A violation: its name ("write-skew"), the sentences that explain it, and causes outside of the
   database to rule out first. */
ASSAY_API const char* assay_verdict_anomaly(const assay_audit* audit, size_t i);
ASSAY_API const char* assay_verdict_explanation(const assay_audit* audit, size_t i);
ASSAY_API const char* assay_verdict_hint(const assay_audit* audit, size_t i);
/* The outcome of the level with this name. */
ASSAY_API assay_status assay_outcome_of(const assay_audit* audit, const char* level,
                                        assay_outcome* outcome, assay_error** error);

/* The whole audit as "json" (docs/schemas/check.schema.json), "text", "html", "junit", "markdown",
 * "sarif", "github", "dot" or "svg". */
ASSAY_API assay_status assay_report(const assay_audit* audit, const char* kind,
                                    assay_bytes** report, assay_error** error);

/* The certificates of the verdicts, as `assay check --certificate` writes them. */
ASSAY_API assay_status assay_certificates(const assay_audit* audit, assay_bytes** certificates,
                                          assay_error** error);
/* Has the independent verifier check certificates from outside: ASSAY_OK if it accepts
   each of them for this history, ASSAY_REFUSED if it does not, ASSAY_BAD_INPUT if this is not a
   certificate file of this history or holds no certificate. */
ASSAY_API assay_status assay_verify(assay_history* history, const char* certificates, size_t size,
                                    assay_error** error);

/* ---- watching: a history without end, decided while it arrives (docs/watching.md). From
   interface 2.

     assay_watch_new(options, &watch, &error);        a level of real time, or with a horizon
     assay_watch_add(watch, piece, &error);           again and again
     while (assay_watch_alarm(watch, &audit, &error) == ASSAY_OK && audit != NULL) …
     assay_watch_finish(watch, &error);               and the alarms of the rest
*/

typedef struct assay_watch assay_watch;

/* The next three are options of a watch. The number of sessions; 0: not known. Once each of them
 * has reported, the watch does not wait for the lateness. */
ASSAY_API void assay_options_sessions(assay_options* options, uint32_t sessions);
/* The longest time from the begin of a transaction until it is reported; by default ten seconds. */
ASSAY_API void assay_options_lateness(assay_options* options, int64_t nanoseconds);
/* Every run of this many consecutive transactions must satisfy the level by itself; 0: the whole
 * history must.
 */
ASSAY_API void assay_options_horizon(assay_options* options, size_t transactions);

ASSAY_API assay_status assay_watch_new(const assay_options* options, assay_watch** watch,
                                       assay_error** error);
ASSAY_API void assay_watch_free(assay_watch* watch);
/* Adds the transactions that were reported next. The watch takes them over: the history is empty
   afterwards. ASSAY_USAGE if an audit still holds it. */
ASSAY_API assay_status assay_watch_add(assay_watch* watch, assay_history* history,
                                       assay_error** error);
/* To be called when there are no more transactions. */
ASSAY_API assay_status assay_watch_finish(assay_watch* watch, assay_error** error);
/* The oldest violation that this has not returned yet, with its certificate, as an audit of the
   transactions that show it; null if there is none. */
ASSAY_API assay_status assay_watch_alarm(assay_watch* watch, assay_audit** audit,
                                         assay_error** error);
/* The number of transactions that were reported, and of those that are decided; the number of
   stretches that could not be decided, and the last reason why, "" if there is none. Undecided
   transactions count as neither satisfied nor violated. */
ASSAY_API uint64_t assay_watch_reported(const assay_watch* watch);
ASSAY_API uint64_t assay_watch_decided(const assay_watch* watch);
ASSAY_API uint64_t assay_watch_undecided(const assay_watch* watch);
ASSAY_API const char* assay_watch_undecided_reason(const assay_watch* watch);

#ifdef __cplusplus
} /* extern "C" */
#endif
