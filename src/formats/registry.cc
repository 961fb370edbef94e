#include "formats/registry.h"

namespace assay::internal::formats {

// In the order of detection: a format with an unmistakable beginning precedes a lenient one.
// clang-format off
constexpr const Format* kRegistry[] = {
    &kJsonTrace,
    &kS2,
    &kAssayJsonl,
    &kDbcop,
    &kCobra,
    &kViper,
    &kViperEdn,
    &kTimekiller,
    &kEtcd,
    &kElleJson,
    &kJepsen,
    &kJepsenLog,
    &kDbcopJson,
    &kDbcopText,
    &kPolysi,
    &kAwdit,
    &kVeristrong,
    &kFacts,
    &kCsv,
    &kHist,
};
// clang-format on

std::span<const Format* const> registry() { return kRegistry; }

const Format* find_format(std::string_view name) {
  for (const Format* f : registry())
    if (f->name == name) return f;
  return nullptr;
}

std::string format_names() {
  std::string names;
  for (const Format* f : registry()) {
    if (!names.empty()) names += ", ";
    names += f->name;
  }
  return names;
}

const Format* detect(const Source& source) {
  for (const Format* f : registry())
    if (f->detect(source)) return f;
  return nullptr;
}

}  // namespace assay::internal::formats

namespace assay {

std::span<const FormatInfo> all_formats() {
  static const std::vector<FormatInfo> infos = [] {
    std::vector<FormatInfo> list;
    for (const internal::formats::Format* f : internal::formats::registry())
      list.push_back({f->name, f->summary, true, f->writes(), f->is_directory()});
    return list;
  }();
  return infos;
}

}  // namespace assay
