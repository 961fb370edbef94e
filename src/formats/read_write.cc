// The public way in and out: find the format, open the source or the target, run it.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "formats/registry.h"

namespace assay {
namespace formats {
namespace {

namespace fs = std::filesystem;

Result<Source> open_source(const std::string& path) {
  std::error_code ec;
  if (path == "-" || !fs::is_directory(path, ec)) {
    auto input = Input::open(path);
    if (!input.ok()) return input.error();
    std::string name = input->name();
    return Source{std::move(name), {}, std::move(*input), nullptr};
  }
  Source source{path, {}, {}, nullptr};
  for (fs::directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec))
    source.files.push_back(it->path().filename().string());
  if (ec) return io_error("cannot list the directory: " + ec.message(), path);
  std::sort(source.files.begin(), source.files.end());
  return source;
}

Result<const Format*> choose(Source& source, const ReadOptions& options) {
  if (!options.from.empty()) {
    const Format* format = find_format(options.from);
    if (!format)
      return usage_error("no format is called '" + options.from + "', expected one of " +
                         format_names());
    if (source.is_directory() && !format->info.directory) {
      Error e = usage_error("is a directory; format '" + options.from + "' is a single file");
      e.file = source.name;
      return e;
    }
    if (!source.is_directory() && format->info.directory) {
      Error e = usage_error("is a file; format '" + options.from + "' is a directory");
      e.file = source.name;
      return e;
    }
    return format;
  }
  const Format* format = detect(source);
  if (!format) {
    Error e = bad_input("the format is not recognised; name it, one of " + format_names());
    e.file = source.name;
    return e;
  }
  return format;
}

Result<ReadResult> read(Source source, const ReadOptions& options) {
  source.budget = options.budget;
  if (source.input) {
    source.input->limit(options.budget);
    source.input->allow_cut_off(true);
    if (auto s = source.input->fill(kHeadBytes); !s.ok()) return s.error();
    auto empty = source.input->at_end();
    if (!empty.ok()) return empty.error();
    if (*empty && options.from.empty()) {
      Error e = bad_input(source.input->cut_off() ? "the compressed data is cut off"
                                                  : "the file is empty, expected a history");
      e.file = source.name;
      return e;
    }
  }
  auto format = choose(source, options);
  if (!format.ok()) return format.error();
  if (source.input) source.input->allow_cut_off((*format)->appended);
  ReadResult result;
  result.format = (*format)->info.name;
  auto history = (*format)->read(source, result.notes);
  if (!history.ok()) {
    Error e = history.error();
    if (e.file.empty()) e.file = source.name;
    return e;
  }
  if (source.input && source.input->cut_off())
    result.notes.push_back({source.input->line(), "the compressed data is cut off here"});
  result.history = std::move(*history);
  return result;
}

Result<const Format*> writable(std::string_view name) {
  const Format* format = find_format(name);
  if (!format)
    return usage_error("no format is called '" + std::string(name) + "', expected one of " +
                       format_names());
  if (!format->info.writes)
    return usage_error("format '" + std::string(name) + "' can be read but not written");
  return format;
}

}  // namespace
}  // namespace formats

Result<ReadResult> read_history(const std::string& path, const ReadOptions& options) {
  auto source = formats::open_source(path);
  if (!source.ok()) return source.error();
  return formats::read(std::move(*source), options);
}

Result<ReadResult> read_history_text(std::string_view text, const std::string& name,
                                     const ReadOptions& options) {
  auto input = formats::Input::memory(text, name);
  if (!input.ok()) return input.error();
  return formats::read(formats::Source{name, {}, std::move(*input), nullptr}, options);
}

Result<std::vector<Loss>> write_history(const History& history, const std::string& path,
                                        std::string_view format_name) {
  auto format = formats::writable(format_name);
  if (!format.ok()) return format.error();
  formats::Losses losses;
  if ((*format)->write_directory) {
    if (path == "-")
      return usage_error("format '" + std::string(format_name) +
                         "' is a directory and cannot be written to standard output");
    if (auto s = (*format)->write_directory(history, path, losses); !s.ok()) return s.error();
    return losses.list();
  }
  auto out = formats::Output::open(path);
  if (!out.ok()) return out.error();
  (*format)->write(history, *out, losses);
  if (auto s = out->close(); !s.ok()) return s.error();
  return losses.list();
}

Result<std::vector<Loss>> write_history_text(const History& history, std::string_view format_name,
                                             std::string& text) {
  auto format = formats::writable(format_name);
  if (!format.ok()) return format.error();
  if (!(*format)->write)
    return usage_error("format '" + std::string(format_name) + "' is a directory, not a text");
  formats::Losses losses;
  formats::Output out = formats::Output::memory(text);
  (*format)->write(history, out, losses);
  if (auto s = out.close(); !s.ok()) return s.error();
  return losses.list();
}

}  // namespace assay

namespace assay::formats {

std::vector<Loss> Losses::list() const {
  std::vector<Loss> list;
  for (const auto& [what, count] : counts_) list.push_back({what, count});
  return list;
}

}  // namespace assay::formats
