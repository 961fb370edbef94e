// The library in a program of one's own: what assay::audit() finds out about a history. Every
// verdict has been verified.
#include <assay/assay.h>

#include <iostream>
#include <string>

namespace {
int fail(const std::string& message) {
  std::cerr << message << "\n";
  return 3;
}
}  // namespace

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "-";
  const assay::Audit audit = assay::audit(path);
  if (audit.error) return fail(audit.error->to_string());
  for (const assay::Verdict& verdict : audit.result.verdicts)
    std::cout << assay::level_info(verdict.level).name << " "
              << assay::outcome_name(verdict.outcome) << "\n";
  for (const assay::Explanation& e : audit.explanations)
    std::cout << assay::anomaly_info(e.anomaly).name << ": " << e.sentences.front() << "\n";
}
