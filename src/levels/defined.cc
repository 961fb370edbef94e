// The level of a file (formats/level_definition.cc): any row that engines and verifier can read,
// decided by the engine of its event model.
//
//   seen = ["s", "rs", "sr"]     s1: { w(x,1) } { w(y,1) }   s2: { r(y,1) } { r(x,null) }
//
// The second transaction of s2 has seen what its session read (rs), the second transaction of s1,
// but not what precedes that: this row allows the history. Nothing follows from verdicts on other
// levels, or for them, as rows are not compared; so each refutation that other levels share is
// looked for here once more.
//
// Cost: that of the engine.

#include <utility>

#include "levels/rules.h"

namespace assay::internal::rules {

bool is_defined(Case& c, const LevelInfo&) { return c.lattice.is_wanted(LevelId::defined); }

void decide_defined(Case& c, const LevelInfo&) {
  const LevelInfo& level = c.history.level(LevelId::defined);
  const auto bad = [&](const BadRead& read) {
    Certificate certificate;
    certificate.levels = {level.id};
    certificate.kind = Certificate::Kind::bad_read;
    certificate.bad_read = read;
    c.record(std::move(certificate));
  };
  if (!c.history.defined_level())
    return c.lattice.set_unknown(level.id, {UnknownCause::not_applicable,
                                            "it has no definition; expected --level FILE.toml"});
  if (!c.is_explainable()) return bad(c.problem.found.bad_read);
  if (level.repeatable && c.problem.found.non_repeatable.anomaly != Anomaly::none)
    return bad(c.problem.found.non_repeatable);
  if (level.events == EventModel::weak) return decide_weak(c, level);
  if (level.events == EventModel::adya) return decide_adya(c, level);
  if (c.timed_enough(level)) return decide_by_search(c, level);
  c.lattice.set_unknown(level.id, lacks_times());
  refute_without_time(c, level);
}

}  // namespace assay::internal::rules
