// The library in a program of one's own: read a history, check every level, verify every
// certificate.
#include <assay/assay.h>

#include <cstdio>

int main(int argc, char** argv) {
  const auto read = assay::read_history(argc > 1 ? argv[1] : "-");
  if (!read.ok()) return std::fprintf(stderr, "%s\n", read.error().to_string().c_str()), 3;

  const assay::CheckResult result = assay::check(read->history, {});
  for (const assay::Verdict& v : result.verdicts) {
    std::printf("%s %s\n", assay::level_info(v.level).name.data(),
                assay::outcome_name(v.outcome).data());
    if (v.outcome == assay::Outcome::unknown) continue;
    const assay::Status proved = assay::verify(result.certificates[v.certificate], read->history);
    if (!proved.ok()) return std::fprintf(stderr, "%s\n", proved.error().to_string().c_str()), 1;
  }
}
