/* The whole interface of the shared library from C11, as a stranger to the project would call it. */
#include <assay/assay_c.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int faults = 0;
#define EXPECT(condition)                                                   \
  do {                                                                      \
    if (!(condition)) {                                                     \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      ++faults;                                                             \
    }                                                                       \
  } while (0)
#define EXPECT_TEXT(text, expected) EXPECT(strcmp((text), (expected)) == 0)
#define EXPECT_OK(call) EXPECT((call) == ASSAY_OK)

/* The error has this status and says this. */
static void expect_error(assay_error* error, assay_status status, const char* part) {
  EXPECT(error != NULL);
  if (error == NULL) return;
  EXPECT(assay_error_status(error) == status);
  if (strstr(assay_error_message(error), part) == NULL) {
    fprintf(stderr, "expected '%s' in '%s'\n", part, assay_error_message(error));
    ++faults;
  }
  assay_error_free(error);
}

static assay_audit* check(assay_history* history, const char* level) {
  assay_options* options = assay_options_new();
  assay_audit* audit = NULL;
  if (level != NULL) EXPECT_OK(assay_options_level(options, level, NULL));
  EXPECT_OK(assay_check(history, options, &audit, NULL));
  assay_options_free(options);
  return audit;
}

static assay_outcome outcome(const assay_audit* audit, const char* level) {
  assay_outcome found = ASSAY_UNKNOWN;
  EXPECT_OK(assay_outcome_of(audit, level, &found, NULL));
  return found;
}

/* x = y = 0; two transactions read both, and each writes another one. */
static assay_history* write_skew(void) {
  assay_builder* b = assay_builder_new();
  assay_history* history = NULL;
  EXPECT_OK(assay_initial(b, assay_integer(0), NULL));
  for (int64_t session = 1; session <= 2; ++session) {
    EXPECT_OK(assay_begin(b, assay_integer(session), NULL));
    EXPECT_OK(assay_begin_time(b, 10, 10 + session, NULL));
    EXPECT_OK(assay_read(b, assay_text("x"), assay_integer(0), NULL));
    EXPECT_OK(assay_read(b, assay_text("y"), assay_integer(0), NULL));
    EXPECT_OK(assay_write(b, assay_text(session == 1 ? "x" : "y"), assay_integer(session), NULL));
    EXPECT_OK(assay_end_time(b, 20, 20 + session, NULL));
    EXPECT_OK(assay_commit(b, NULL));
  }
  EXPECT_OK(assay_builder_finish(b, &history, NULL));
  assay_builder_free(b);
  return history;
}

static void violations_are_explained_and_proved(void) {
  assay_history* history = write_skew();
  assay_audit* audit = check(history, NULL);
  assay_error* error = NULL;
  assay_bytes* bytes = NULL;
  size_t violated = 0;
  EXPECT(assay_history_transactions(history) == 2);
  EXPECT(assay_history_operations(history) == 6);
  EXPECT(assay_history_sessions(history) == 2);
  EXPECT(assay_history_keys(history) == 2);
  EXPECT(assay_verdict_count(audit) > 10);
  for (size_t i = 0; i < assay_verdict_count(audit); ++i) {
    if (assay_verdict_outcome(audit, i) != ASSAY_VIOLATED) continue;
    ++violated;
    EXPECT_TEXT(assay_verdict_anomaly(audit, i), "write-skew");
    EXPECT(strlen(assay_verdict_explanation(audit, i)) > 40);
    EXPECT_TEXT(assay_verdict_cause(audit, i), "");
    EXPECT(assay_verdict_hint(audit, i) != NULL);
  }
  EXPECT(violated >= 3);
  EXPECT(assay_verdict_level(audit, assay_verdict_count(audit)) == NULL);
  EXPECT(outcome(audit, "SNAPSHOT ISOLATION") == ASSAY_SATISFIED);
  EXPECT(outcome(audit, "serializable") == ASSAY_VIOLATED);

  EXPECT_OK(assay_report(audit, "json", &bytes, NULL));
  EXPECT(strstr(assay_bytes_data(bytes), "\"serializable\":{\"verdict\":\"violated\"") != NULL);
  EXPECT(assay_bytes_size(bytes) == strlen(assay_bytes_data(bytes)));
  assay_bytes_free(bytes);
  EXPECT(assay_report(audit, "tex", &bytes, &error) == ASSAY_USAGE);
  EXPECT(bytes == NULL);
  expect_error(error, ASSAY_USAGE, "unknown report 'tex'; expected one of text, json");

  /* The certificates hold for this history, not with another verdict and not for another history. */
  assay_history_free(history); /* the audit keeps it */
  EXPECT_OK(assay_certificates(audit, &bytes, NULL));
  assay_audit_free(audit);
  history = write_skew();
  EXPECT_OK(assay_verify(history, assay_bytes_data(bytes), assay_bytes_size(bytes), &error));
  EXPECT(error == NULL);
  {
    char* changed = malloc(assay_bytes_size(bytes) + 1);
    memcpy(changed, assay_bytes_data(bytes), assay_bytes_size(bytes) + 1);
    char* key = strstr(changed, "\"key\":\"x\""); /* of an edge; nobody but its writer writes y */
    EXPECT(key != NULL);
    if (key != NULL) key[7] = 'y';
    EXPECT(assay_verify(history, changed, assay_bytes_size(bytes), &error) == ASSAY_REFUSED);
    expect_error(error, ASSAY_REFUSED, "");
    free(changed);
  }
  EXPECT(assay_verify(history, "{}", 2, &error) == ASSAY_BAD_INPUT);
  expect_error(error, ASSAY_BAD_INPUT, "certificates");
  assay_bytes_free(bytes);
  assay_history_free(history);
}

static void every_operation_is_kept(void) {
  assay_builder* b = assay_builder_new();
  assay_history* history = NULL;
  assay_bytes* text = NULL;
  const assay_value list[] = {assay_integer(1), assay_integer(2)};
  const assay_value keys[] = {assay_integer(5), assay_integer(6)};
  const assay_value values[] = {assay_text("five"), assay_text("six")};
  const assay_value orders[] = {assay_text("v"), assay_text("w")};
  char name[] = "first", key[] = "k";

  EXPECT_OK(assay_begin(b, assay_text("s"), NULL));
  EXPECT_OK(assay_name(b, name, NULL));
  EXPECT_OK(assay_start_timestamp(b, 3, NULL));
  EXPECT_OK(assay_commit_timestamp(b, 4, NULL));
  EXPECT_OK(assay_write(b, assay_text(key), assay_text("v"), NULL));
  memset(name, '#', sizeof name - 1); /* what went in was copied */
  memset(key, '#', sizeof key - 1);
  EXPECT_OK(assay_append(b, assay_text("l"), assay_integer(1), NULL));
  EXPECT_OK(assay_append(b, assay_text("l"), assay_integer(2), NULL));
  EXPECT_OK(assay_insert(b, assay_integer(5), assay_text("five"), 1, NULL));
  EXPECT_OK(assay_insert(b, assay_integer(6), assay_text("six"), 1, NULL));
  EXPECT_OK(assay_commit(b, NULL));
  EXPECT_OK(assay_begin(b, assay_text("s"), NULL));
  EXPECT_OK(assay_read_list(b, assay_text("l"), list, 2, NULL));
  EXPECT_OK(assay_range(b, assay_integer(5), assay_null(), keys, values, 2, NULL));
  EXPECT_OK(assay_compare_and_set(b, assay_text("k"), assay_text("v"), assay_text("w"), 1, NULL));
  EXPECT_OK(assay_delete(b, assay_integer(5), assay_text("gone"), NULL));
  EXPECT_OK(assay_unknown(b, NULL));
  EXPECT_OK(assay_begin(b, assay_text("t"), NULL));
  EXPECT_OK(assay_write(b, assay_text("k"), assay_text("never"), NULL));
  EXPECT_OK(assay_abort(b, NULL));
  EXPECT_OK(assay_known_order(b, assay_text("k"), orders, 2, NULL));
  EXPECT_OK(assay_builder_finish(b, &history, NULL));
  assay_builder_free(b);

  EXPECT_OK(assay_history_text(history, "assay", &text, NULL));
  {
    const char* expected[] = {"[\"w\",\"k\",\"v\"]", "\"first\"",       "\"start_ts\":3",    "\"commit_ts\":4",
                              "[\"append\",\"l\",1]", "[\"r\",\"l\",[1,2]]", "[\"insert\",5,\"five\",true]",
                              "\"status\":\"unknown\"", "\"status\":\"aborted\"", "\"order\""};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; ++i)
      if (strstr(assay_bytes_data(text), expected[i]) == NULL) {
        fprintf(stderr, "expected %s in\n%s\n", expected[i], assay_bytes_data(text));
        ++faults;
      }
  }
  /* What is written reads back as the same. */
  assay_history* again = NULL;
  assay_bytes* second = NULL;
  EXPECT_OK(assay_history_read_text(assay_bytes_data(text), assay_bytes_size(text), "again", NULL, &again, NULL));
  EXPECT_OK(assay_history_text(again, "assay", &second, NULL));
  EXPECT_TEXT(assay_bytes_data(text), assay_bytes_data(second));
  assay_bytes_free(text);
  assay_bytes_free(second);
  assay_history_free(history);
  assay_history_free(again);
}

static void errors_say_what_where_and_what_was_expected(void) {
  const char* broken = "{\"assay\":1}\n{\"s\":1,\"ops\":[[\"r\"]]}\n";
  assay_error* error = NULL;
  assay_history* history = NULL;
  assay_options* options = assay_options_new();
  EXPECT(assay_history_read_text(broken, strlen(broken), "broken", NULL, &history, &error) == ASSAY_BAD_INPUT);
  EXPECT(history == NULL);
  EXPECT_TEXT(assay_error_file(error), "broken");
  EXPECT(assay_error_line(error) == 2);
  EXPECT(assay_error_column(error) > 0);
  expect_error(error, ASSAY_BAD_INPUT, "broken:2:");
  EXPECT(assay_history_read("no/such/file", NULL, &history, &error) == ASSAY_IO);
  expect_error(error, ASSAY_IO, "no/such/file");
  EXPECT(assay_history_read("no/such/file", NULL, &history, NULL) == ASSAY_IO);
  EXPECT(assay_options_level(options, "serialisable", &error) == ASSAY_USAGE);
  expect_error(error, ASSAY_USAGE, "unknown level 'serialisable'; expected one of pl-1, ");
  EXPECT(assay_options_format(options, "word", &error) == ASSAY_USAGE);
  expect_error(error, ASSAY_USAGE, "unknown format 'word'");
  EXPECT_OK(assay_options_format(options, "hist", &error));
  EXPECT(error == NULL);
  EXPECT(assay_history_read_text(broken, strlen(broken), "broken", options, &history, &error) == ASSAY_BAD_INPUT);
  expect_error(error, ASSAY_BAD_INPUT, "broken:1");
  assay_options_free(options);
}

static void calls_out_of_place_are_refused(void) {
  assay_error* error = NULL;
  assay_history* history = NULL;
  assay_builder* b = assay_builder_new();
  const assay_value odd = {9, 0, NULL, 0};
  EXPECT(assay_write(b, assay_text("x"), assay_integer(1), &error) == ASSAY_USAGE);
  expect_error(error, ASSAY_USAGE, "no transaction has begun; expected assay_begin before");
  EXPECT(assay_commit(b, &error) == ASSAY_USAGE);
  expect_error(error, ASSAY_USAGE, "no transaction has begun");
  EXPECT(assay_begin(b, assay_null(), &error) == ASSAY_USAGE);
  expect_error(error, ASSAY_USAGE, "expected a number or text");
  EXPECT_OK(assay_begin(b, assay_integer(1), NULL));
  EXPECT(assay_begin(b, assay_integer(1), &error) == ASSAY_USAGE);
  expect_error(error, ASSAY_USAGE, "expected assay_commit, assay_abort or assay_unknown before");
  EXPECT(assay_read(b, assay_text("x"), odd, &error) == ASSAY_USAGE);
  expect_error(error, ASSAY_USAGE, "a value of type 9");
  EXPECT(assay_initial(b, assay_integer(0), &error) == ASSAY_USAGE);
  expect_error(error, ASSAY_USAGE, "before the first one");
  EXPECT(assay_builder_finish(b, &history, &error) == ASSAY_USAGE);
  EXPECT(history == NULL);
  expect_error(error, ASSAY_USAGE, "a transaction has begun");

  /* A transaction that cannot be leaves those before it as they were. */
  EXPECT_OK(assay_begin(b, assay_integer(1), NULL));
  EXPECT_OK(assay_write(b, assay_integer(7), assay_integer(1), NULL));
  EXPECT_OK(assay_commit(b, NULL));
  EXPECT_OK(assay_begin(b, assay_integer(1), NULL));
  EXPECT_OK(assay_write(b, assay_null(), assay_integer(1), NULL));
  EXPECT(assay_commit(b, &error) == ASSAY_BAD_INPUT);
  expect_error(error, ASSAY_BAD_INPUT, "a key must be an integer or a string");
  EXPECT_OK(assay_builder_finish(b, &history, NULL));
  EXPECT(assay_history_transactions(history) == 1);
  assay_history_free(history);
  assay_builder_free(b);
}

static void options_take_effect(const char* serializable) {
  assay_options* options = assay_options_new();
  assay_history* history = NULL;
  assay_audit* audit = NULL;
  EXPECT_OK(assay_options_level(options, "serializable", NULL));
  EXPECT_OK(assay_options_level(options, "session-guarantees", NULL));
  assay_options_threads(options, 1);
  assay_options_memory(options, (uint64_t)4 << 30);
  EXPECT_OK(assay_history_read(serializable, options, &history, NULL));
  EXPECT_OK(assay_check(history, options, &audit, NULL));
  EXPECT(assay_verdict_count(audit) == 5);
  EXPECT(outcome(audit, "serializable") == ASSAY_SATISFIED);
  EXPECT(assay_outcome_of(audit, "causal", &(assay_outcome){ASSAY_UNKNOWN}, NULL) == ASSAY_USAGE);
  assay_audit_free(audit);

  assay_options_time(options, 1e-9);
  EXPECT_OK(assay_check(history, options, &audit, NULL));
  EXPECT(outcome(audit, "serializable") == ASSAY_UNKNOWN);
  for (size_t i = 0; i < assay_verdict_count(audit); ++i) {
    EXPECT_TEXT(assay_verdict_cause(audit, i), "time");
    EXPECT(strstr(assay_verdict_reason(audit, i), "time limit") != NULL);
  }
  assay_audit_free(audit);
  assay_history_free(history);

  /* Nothing was read: nothing can be said, unless somebody wants it. */
  EXPECT_OK(assay_history_read_text("{\"assay\":1}\n", 12, "empty", NULL, &history, NULL));
  audit = check(history, "serializable");
  EXPECT(outcome(audit, "serializable") == ASSAY_UNKNOWN);
  assay_audit_free(audit);
  assay_options_free(options);
  options = assay_options_new();
  assay_options_allow_empty(options, 1);
  EXPECT_OK(assay_check(history, options, &audit, NULL));
  EXPECT(outcome(audit, "serializable") == ASSAY_SATISFIED);
  assay_audit_free(audit);
  assay_history_free(history);
  assay_options_free(options);
}

static void what_was_seen_counts_where_it_is_asked_for(void) {
  /* b reads what a wrote and c has overwritten, and does not commit. */
  assay_history* history = NULL;
  assay_options* options = assay_options_new();
  assay_audit* audit = NULL;
  assay_bytes* bytes = NULL;
  const char* text = "s1: { w(x,1) w(y,1) }\ns1: { w(x,2) w(y,2) }\ns2: { r(x,1) r(y,2) }!\ns3: { r(x,2) }\n";
  EXPECT_OK(assay_history_read_text(text, strlen(text), "seen", NULL, &history, NULL));
  EXPECT_OK(assay_options_level(options, "session-serializable", NULL));
  EXPECT_OK(assay_check(history, options, &audit, NULL));
  EXPECT(outcome(audit, "session-serializable") == ASSAY_SATISFIED);
  assay_audit_free(audit);
  assay_options_aborted_reads(options, 1);
  EXPECT_OK(assay_check(history, options, &audit, NULL));
  EXPECT(outcome(audit, "session-serializable") == ASSAY_VIOLATED);
  EXPECT(assay_history_transactions(history) == 4); /* it is as it was */
  EXPECT_OK(assay_report(audit, "text", &bytes, NULL));
  assay_bytes_free(bytes);
  EXPECT_OK(assay_certificates(audit, &bytes, NULL));
  EXPECT_OK(assay_verify(history, assay_bytes_data(bytes), assay_bytes_size(bytes), NULL));
  assay_bytes_free(bytes);
  assay_audit_free(audit);
  assay_options_free(options);

  options = assay_options_new();
  EXPECT_OK(assay_options_level(options, "Opacity", NULL));
  EXPECT_OK(assay_check(history, options, &audit, NULL));
  EXPECT(assay_verdict_count(audit) == 1);
  EXPECT_TEXT(assay_verdict_level(audit, 0), "strict-serializable");
  assay_audit_free(audit);
  assay_options_free(options);

  /* No two transactions of different sessions met. */
  options = assay_options_new();
  assay_history_free(history);
  text = "s1: { w(x,1) r(x,1) }\ns2: { w(y,1) r(y,1) }\ns2: { r(y,1) }\n";
  EXPECT_OK(assay_history_read_text(text, strlen(text), "apart", NULL, &history, NULL));
  EXPECT_OK(assay_options_level(options, "serializable", NULL));
  assay_options_require_contention(options, 1);
  EXPECT_OK(assay_check(history, options, &audit, NULL));
  EXPECT(outcome(audit, "serializable") == ASSAY_UNKNOWN);
  EXPECT_TEXT(assay_verdict_cause(audit, 0), "uncontended");
  assay_audit_free(audit);
  assay_history_free(history);
  assay_options_free(options);
}

static void transactions_declare_levels(void) {
  assay_builder* b = assay_builder_new();
  assay_history* history = NULL;
  assay_error* error = NULL;
  /* A lost update, of two that asked for no more than read committed, or for serializable. */
  for (int strong = 0; strong < 2; ++strong) {
    EXPECT_OK(assay_initial(b, assay_integer(0), NULL));
    for (int64_t session = 1; session <= 2; ++session) {
      EXPECT_OK(assay_begin(b, assay_integer(session), NULL));
      EXPECT_OK(assay_declared_level(b, strong ? "serializable" : "read-committed", NULL));
      EXPECT_OK(assay_read(b, assay_text("x"), assay_integer(0), NULL));
      EXPECT_OK(assay_write(b, assay_text("x"), assay_integer(session), NULL));
      EXPECT_OK(assay_commit(b, NULL));
    }
    EXPECT_OK(assay_builder_finish(b, &history, NULL));
    assay_audit* audit = check(history, "mixed");
    EXPECT(outcome(audit, "mixed") == (strong ? ASSAY_VIOLATED : ASSAY_SATISFIED));
    assay_audit_free(audit);
    assay_history_free(history);
  }
  EXPECT(assay_declared_level(b, "serializable", &error) == ASSAY_USAGE);
  expect_error(error, ASSAY_USAGE, "no transaction has begun");
  EXPECT_OK(assay_begin(b, assay_integer(1), NULL));
  EXPECT(assay_declared_level(b, "mixed", &error) == ASSAY_USAGE);
  expect_error(error, ASSAY_USAGE, "that a transaction can declare");
  assay_builder_free(b);
}

/* A piece of one transaction. */
static assay_history* piece(int64_t session, int64_t at, int reads, int64_t value) {
  assay_builder* b = assay_builder_new();
  assay_history* history = NULL;
  EXPECT_OK(assay_begin(b, assay_integer(session), NULL));
  EXPECT_OK(assay_begin_time(b, at, at, NULL));
  EXPECT_OK(assay_end_time(b, at + 10, at + 10, NULL));
  EXPECT_OK((reads ? assay_read : assay_write)(b, assay_text("x"), assay_integer(value), NULL));
  EXPECT_OK(assay_commit(b, NULL));
  EXPECT_OK(assay_builder_finish(b, &history, NULL));
  assay_builder_free(b);
  return history;
}

static void a_history_that_does_not_end_is_watched(void) {
  assay_options* options = assay_options_new();
  assay_watch* watch = NULL;
  assay_audit* audit = NULL;
  assay_error* error = NULL;
  EXPECT_OK(assay_options_level(options, "serializable", NULL));
  EXPECT(assay_watch_new(options, &watch, &error) == ASSAY_USAGE);
  EXPECT(watch == NULL);
  expect_error(error, ASSAY_USAGE, "serializable cannot be watched");
  assay_options_free(options);

  options = assay_options_new();
  assay_options_sessions(options, 2);
  assay_options_lateness(options, 20);
  EXPECT_OK(assay_watch_new(options, &watch, NULL));
  const int64_t values[] = {1, 2, 2, 1};
  for (int i = 0; i < 4; ++i) {
    assay_history* next = piece(i % 2 + 1, 100 * i, i >= 2, values[i]);
    if (i == 0) {
      audit = check(next, "causal");
      EXPECT(assay_watch_add(watch, next, &error) == ASSAY_USAGE);
      expect_error(error, ASSAY_USAGE, "an audit holds this history");
      assay_audit_free(audit);
    }
    EXPECT_OK(assay_watch_add(watch, next, NULL));
    EXPECT(assay_history_transactions(next) == 0);
    assay_history_free(next);
    if (i == 3) break;
    EXPECT_OK(assay_watch_alarm(watch, &audit, NULL));
    EXPECT(audit == NULL);
  }
  EXPECT(assay_watch_reported(watch) == 4);
  EXPECT_OK(assay_watch_finish(watch, NULL));
  EXPECT(assay_watch_decided(watch) == 4);
  EXPECT(assay_watch_undecided(watch) == 0);
  EXPECT_TEXT(assay_watch_undecided_reason(watch), "");
  /* The third contradicts the fourth, and without the third the fourth contradicts the others. */
  for (int alarms = 0; alarms < 2; ++alarms) {
    assay_bytes* bytes = NULL;
    EXPECT_OK(assay_watch_alarm(watch, &audit, NULL));
    EXPECT(audit != NULL);
    if (audit == NULL) break;
    EXPECT(outcome(audit, "strict-serializable") == ASSAY_VIOLATED);
    EXPECT(strlen(assay_verdict_explanation(audit, 0)) > 20);
    EXPECT_OK(assay_certificates(audit, &bytes, NULL));
    EXPECT(assay_bytes_size(bytes) > 50);
    assay_bytes_free(bytes);
    EXPECT_OK(assay_report(audit, "json", &bytes, NULL));
    assay_bytes_free(bytes);
    assay_audit_free(audit);
  }
  EXPECT_OK(assay_watch_alarm(watch, &audit, NULL));
  EXPECT(audit == NULL);
  {
    assay_history* late = piece(1, 900, 0, 9);
    EXPECT(assay_watch_add(watch, late, &error) == ASSAY_USAGE);
    expect_error(error, ASSAY_USAGE, "finished");
    assay_history_free(late);
  }
  assay_watch_free(watch);

  /* With a horizon, at another level. */
  EXPECT_OK(assay_options_level(options, "causal", NULL));
  assay_options_horizon(options, 3);
  EXPECT_OK(assay_watch_new(options, &watch, NULL));
  assay_watch_free(watch);
  assay_options_free(options);
  assay_watch_free(NULL);
}

int main(int argc, char** argv) {
  if (argc != 2) return 4;
  EXPECT(assay_c_version() == ASSAY_C_VERSION);
  EXPECT(strchr(assay_version(), '.') != NULL);
  EXPECT(assay_level_count() == 26);
  EXPECT_TEXT(assay_level_name(0), "pl-1");
  EXPECT(strlen(assay_level_summary(23)) > 10);
  EXPECT_TEXT(assay_level_called("SNAPSHOT ISOLATION"), "session-si");
  EXPECT(assay_level_called("snap") == NULL);
  EXPECT(assay_level_name(26) == NULL && assay_level_summary(26) == NULL);
  violations_are_explained_and_proved();
  every_operation_is_kept();
  errors_say_what_where_and_what_was_expected();
  calls_out_of_place_are_refused();
  options_take_effect(argv[1]);
  what_was_seen_counts_where_it_is_asked_for();
  transactions_declare_levels();
  a_history_that_does_not_end_is_watched();
  assay_error_free(NULL);
  assay_bytes_free(NULL);
  assay_history_free(NULL);
  assay_audit_free(NULL);
  printf("%d faults\n", faults);
  return faults == 0 ? 0 : 1;
}
