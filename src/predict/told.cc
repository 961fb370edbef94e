#include "predict/told.h"

#include <algorithm>

namespace assay::internal::predict {
namespace {

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& text : list) texts.push_back(text.text());
  return texts;
}

}  // namespace

Told told_of(std::string_view meta_text) {
  Told told;
  if (meta_text.empty()) return told;
  const Json meta = Json::parse(meta_text);
  if (!meta.is_object()) return told;
  // "leave (on-call.sql:7)" is the program leave.
  const std::string ran = meta.text("ran");
  told.program = meta.text("program", ran.substr(0, ran.find(" (")));
  told.defines = meta["defines"].is_true();
  told.isolation = meta.text("isolation");
  const Json& missing = meta["unrecorded"];
  told.reads = texts_of(missing["reads"]);
  told.changes = texts_of(missing["changes"]);
  told.why = texts_of(missing["why"]);
  for (const Json& s : meta["sql"])
    told.statements.push_back(
        {s.text("text"), s.value("values"), s["sent"].integer(), s.text("place")});
  return told;
}

const SentStatement* statement_at(const Told& told, Interval sent) {
  if (!sent.known()) return nullptr;
  const auto at = std::ranges::find(told.statements, sent.request, &SentStatement::sent);
  return at == told.statements.end() ? nullptr : &*at;
}

}  // namespace assay::internal::predict
