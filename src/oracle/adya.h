// Adya's levels: PL-1 to PL-3.
//
// A history satisfies one of them if some version order that agrees with the stated orders leaves
// no forbidden cycle of dependencies:
//
//   pl-1     write dependencies (G0); see dirty_version_order_exists
//   pl-2     write and read dependencies (G1c), and reads of aborted or intermediate versions (G1a,
//            G1b)
//   pl-cs    G1, and a transaction that overwrites another version of a key than it read by name
//            (G-cursor)
//   pl-2+    G1, and cycles with exactly one anti-dependency (G-single)
//   pl-2.99  G1, and cycles with an anti-dependency of a read of the key (G2-item)
//   pl-3     G1, and cycles with anti-dependencies (G2)
//
// { r(x,null) w(x,1) } | { r(x,null) w(x,2) }: whichever version comes first, its writer overwrote
// the version that the other read, and is overwritten by the other in turn. pl-2 holds, pl-cs does
// not.
//
// Every version order is tried, and every dependency is written down. Definitions: Adya 1999, and
// the table of Clark et al.
#pragma once

#include "assay/certificate.h"
#include "assay/level.h"
#include "oracle/reads_from.h"

namespace assay::internal::oracle {

// Which version orders count. any: all that agree with the stated orders. known: in addition, the
// history must determine the place of each version that was read relative to every other; otherwise
// `satisfied` means only that some order would be allowed.
enum class Orders : uint8_t { any, known };

// Whether there is such a version order if exactly `effective` took effect. unknown: too many to
// try.
Outcome version_order_exists(const History& h, const Footprints& small, LevelId level, Orders known,
                             TxnSet effective);

// The same for pl-1, where transactions may see aborted or overwritten writes: a read needs only
// some writer, and lists show the order of the transactions that took effect.
Outcome dirty_version_order_exists(const History& h, const Footprints& small, Orders known,
                                   TxnSet effective);

}  // namespace assay::internal::oracle
