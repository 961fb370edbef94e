// Offers the verifier very many claims about small histories (claims.h) and compares what it
// accepts with the oracle. Takes minutes to hours; not part of the usual tests. Prints what
// bench/results/2026-11-29-long-runs.md records.
//
//   claims_check [CLAIMS [SEED]]     default 20000000 1
#include <cstdio>
#include <cstdlib>

#include "claims.h"

int main(int argc, char** argv) {
  const uint64_t wanted = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 20'000'000;
  assay::internal::Rng rng(argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1);
  assay::internal::Claims claims(rng, 1'500);
  uint64_t histories = 0;
  while (claims.total().offered < wanted) {
    if (claims.offer_all(assay::internal::claim_history(rng, histories++))) continue;
    std::printf("a false claim is accepted:\n%s\n", claims.lie().c_str());
    return 1;
  }
  const auto shown = [](uint64_t n) { return static_cast<unsigned long long>(n); };
  std::printf("%llu histories\n\n| claims | offered | accepted | judged by the oracle | false |\n",
              shown(histories));
  std::printf("|---|---|---|---|---|\n");
  for (const auto& [kind, counts] : claims.counts())
    std::printf("| %s | %llu | %llu | %llu | 0 |\n", kind.c_str(), shown(counts.offered),
                shown(counts.accepted), shown(counts.judged));
  return 0;
}
