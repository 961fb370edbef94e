/* The library in a C program: what it finds out about a history, and why. Every verdict has been verified.

     cc main.c $(pkg-config --cflags --libs assay) -o consumer && ./consumer run.jsonl
*/
#include <assay/assay_c.h>
#include <stdio.h>

static int fail(assay_error* error) {
  fprintf(stderr, "%s\n", assay_error_message(error));
  assay_error_free(error);
  return 3;
}

int main(int argc, char** argv) {
  assay_error* error = NULL;
  assay_history* history = NULL;
  assay_audit* audit = NULL;
  if (assay_history_read(argc > 1 ? argv[1] : "-", NULL, &history, &error) != ASSAY_OK) return fail(error);
  if (assay_check(history, NULL, &audit, &error) != ASSAY_OK) return fail(error);
  for (size_t i = 0; i < assay_verdict_count(audit); ++i) {
    printf("%s %s\n", assay_verdict_level(audit, i), assay_outcome_name(assay_verdict_outcome(audit, i)));
    if (assay_verdict_outcome(audit, i) == ASSAY_VIOLATED)
      printf("  %s: %s\n", assay_verdict_anomaly(audit, i), assay_verdict_explanation(audit, i));
  }
  assay_audit_free(audit);
  assay_history_free(history);
  return 0;
}
