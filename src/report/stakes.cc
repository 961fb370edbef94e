#include "report/stakes.h"

#include <fmt/format.h>

#include <algorithm>

#include "audit/candidates.h"
#include "report/summary.h"

namespace assay::internal {
namespace {

std::string conflicts_in_words(const Stakes& s, uint64_t transactions) {
  const std::string among =
      s.looked_at < transactions
          ? fmt::format("among the first {} transactions, ", grouped(s.looked_at))
          : std::string();
  if (s.conflicts() == 0)
    return fmt::format("At stake: {}no two transactions {} shared a key that one of them wrote.",
                       among, s.timed ? "that overlapped in time" : "of different sessions");
  std::string kinds;
  for (const auto& [count, name] : {std::pair(s.write_write, "write-write"),
                                    {s.write_read, "write-read"},
                                    {s.read_write, "read-write"}})
    if (count > 0) kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", grouped(count), name);
  return fmt::format("At stake: {}{} of transactions that {}: {}.", among,
                     counted(s.conflicts(), "conflict", "conflicts"),
                     s.timed ? "overlapped in time" : "may have overlapped (not all have times)",
                     kinds);
}

}  // namespace

std::vector<std::string> stakes_in_sentences(const Audit& c) {
  if (!c.stakes) return {};
  const auto matters = [&](Anomaly a) {
    return std::ranges::any_of(c.result.verdicts, [&](const Verdict& v) {
      return v.outcome == Outcome::satisfied && rules_out(v.level, a);
    });
  };
  std::string overlapping, apart, none;
  bool any = false;
  for (const Anomaly a : anomalies_with_candidates()) {
    if (!matters(a)) continue;
    any = true;
    if (a == Anomaly::g0 || a == Anomaly::g1c) continue;  // for readers of JSON
    const auto i = static_cast<size_t>(a);
    std::string& list = c.stakes->could_show_overlapping[i] ? overlapping
                        : c.stakes->could_show[i]           ? apart
                                                            : none;
    list += fmt::format("{}{}", list.empty() ? "" : ", ", anomaly_info(a).name);
  }
  if (!any) return {};
  std::vector<std::string> sentences = {conflicts_in_words(*c.stakes, c.history.txn_count())};
  if (!overlapping.empty()) sentences.push_back("It could have shown " + overlapping + ".");
  if (!apart.empty())
    sentences.push_back(
        "Only a stale read, of transactions that did not overlap, could have shown " + apart + ".");
  const bool all = c.stakes->looked_at >= c.history.txn_count();
  if (!none.empty())
    sentences.push_back(all ? "There is no candidate for " + none +
                                  ", so it says nothing about these."
                            : "Among these there is no candidate for " + none + ".");
  return sentences;
}

}  // namespace assay::internal
