// Plays a predicted execution on a database with the statements of the application.
#pragma once

#include <string>
#include <vector>

#include "assay/history.h"
#include "assay/result.h"
#include "certify/schedule.h"

namespace assay::internal::cli {

// The result of playing.
struct Played {
  enum class Came : uint8_t {
    violated,      // the observations have no serial order, as predicted
    serializable,  // it ran to its end, and they have one
    unseen,        // serializable as far as observed, but some reads were not
    refused,       // the database refused a statement, or made it wait
    otherwise,     // a statement changed other rows than in the run: the application may then act
                   // otherwise
    unplayable     // the history does not say enough to play it
  };
  Came came = Came::unplayable;
  std::string words;     // a clause: the reason, or the anomaly
  std::string database;  // "PostgreSQL 15.18"
};
std::string_view word_of(Played::Came came);

struct PlayTarget {
  std::string database;  // its URL
  std::string
      setup;  // a file of SQL that creates the tables; empty: they are copied from the database
};

// Plays the schedule in a separate schema of the database (docs/playing.md), with copies of its
// tables in which each row in the history is as it was when the schedule begins. `predicted`: the
// schedule as a history. Fails if no schedule can be played there.
Result<Played> play_schedule(const certify::Schedule& schedule, const History& recorded,
                             const History& predicted, const PlayTarget& target);

}  // namespace assay::internal::cli
