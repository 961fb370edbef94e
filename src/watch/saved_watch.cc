#include "watch/saved_watch.h"

#include <fmt/format.h>

#include <utility>

#include "base/byte_stream.h"
#include "formats/txn_table.h"

namespace assay::internal::watch {
namespace {

void put_promises(StreamWriter& to, const WatchOptions& o) {
  to.text(level_info(o.level).name);
  to.integer(o.lateness);
  to.number(o.sessions);
  to.integer(o.settle);
}

Error other(std::string_view what, const std::string& then, const std::string& now) {
  return bad_input(fmt::format("expected {} {} as before, and not {}", what, then, now));
}

std::string seconds(int64_t nanoseconds) {
  return fmt::format("{}s", static_cast<double>(nanoseconds) / 1e9);
}

Status take_promises(StreamReader& from, const WatchOptions& o) {
  const std::string level(from.text());
  const int64_t lateness = from.integer();
  const uint64_t sessions = from.number();
  const int64_t settle = from.integer();
  if (!from.ok()) return bad_input("it ends too early");
  if (level != level_info(o.level).name)
    return other("--level", level, std::string(level_info(o.level).name));
  if (lateness != o.lateness) return other("--lateness", seconds(lateness), seconds(o.lateness));
  if (sessions != o.sessions)
    return other("--sessions", std::to_string(sessions), std::to_string(o.sessions));
  if (settle != o.settle) return other("--settle", seconds(settle), seconds(o.settle));
  return Ok{};
}

}  // namespace

Result<std::string> save_watch(const WatchParts& parts) {
  StreamWriter body, all;
  formats::TxnTableWriter txns;
  put_promises(body, parts.options);
  body.flag(parts.chunks != nullptr);
  if (parts.chunks != nullptr) parts.chunks->save(body);
  parts.watcher.save(body, txns);
  body.flag(parts.chain != nullptr);
  if (parts.chain != nullptr)
    if (Status s = parts.chain->save(body, txns); !s.ok()) return s.error();
  if (Status s = txns.write(all); !s.ok()) return s.error();
  all.text(body.bytes());
  return all.bytes();
}

Status load_watch(std::string_view saved, const WatchParts& parts) {
  StreamReader all(saved);
  const Result<formats::TxnTable> txns = formats::TxnTable::read(all);
  if (!txns.ok()) return txns.error();
  StreamReader body(all.text());
  if (!all.ok() || !all.at_end()) return bad_input("it ends in the middle");
  if (Status s = take_promises(body, parts.options); !s.ok()) return s;
  if (body.flag() != (parts.chunks != nullptr))
    return bad_input("it was saved for a file, but standard input is watched; expected the file");
  if (parts.chunks != nullptr)
    if (Status s = parts.chunks->load(body); !s.ok()) return s;
  if (Status s = parts.watcher.load(body, *txns); !s.ok()) return s;
  if (body.flag() != (parts.chain != nullptr))
    return bad_input("expected --certificate if and only if there was a chain before");
  if (parts.chain != nullptr)
    if (Status s = parts.chain->load(body, *txns); !s.ok()) return s;
  if (!body.ok() || !body.at_end()) return bad_input("the saved state is invalid");
  return Ok{};
}

}  // namespace assay::internal::watch
