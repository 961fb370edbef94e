#include "predict/txn_meta.h"

#include <algorithm>

namespace assay::internal::predict {
namespace {

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& text : list) texts.push_back(text.text());
  return texts;
}

}  // namespace

TxnMeta meta_of(std::string_view meta_text) {
  TxnMeta found;
  if (meta_text.empty()) return found;
  const Json meta = Json::parse(meta_text);
  if (!meta.is_object()) return found;
  // "leave (on-call.sql:7)" is the program leave.
  const std::string ran = meta.text("ran");
  found.program = meta.text("program", ran.substr(0, ran.find(" (")));
  found.defines = meta["defines"].is_true();
  found.isolation = meta.text("isolation");
  const Json& missing = meta["unrecorded"];
  found.reads = texts_of(missing["reads"]);
  found.changes = texts_of(missing["changes"]);
  found.why = texts_of(missing["why"]);
  for (const Json& s : meta["sql"])
    found.statements.push_back(
        {s.text("text"), s.value("values"), s["sent"].integer(), s.text("place")});
  return found;
}

const SentStatement* statement_at(const TxnMeta& found, Interval sent) {
  if (!sent.known()) return nullptr;
  const auto at = std::ranges::find(found.statements, sent.request, &SentStatement::sent);
  return at == found.statements.end() ? nullptr : &*at;
}

}  // namespace assay::internal::predict
