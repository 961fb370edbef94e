// The public functions for reading and writing: find the format, open the source or the target, run
// the format.
#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/json.h"
#include "base/parallel.h"
#include "formats/registry.h"
#include "formats/unique_values.h"
#include "history/merge.h"

namespace assay::internal::formats {
namespace {

namespace fs = std::filesystem;

Result<Source> open_source(const std::string& path, Budget* budget) {
  std::error_code ec;
  if (path == "-" || !fs::is_directory(path, ec)) {
    auto input = Input::open(path, budget);
    if (!input.ok()) return input.error();
    std::string name = input->name();
    return Source{std::move(name), {}, std::move(*input), budget};
  }
  Source source{path, {}, {}, budget};
  for (fs::directory_iterator it(path, ec), end; !ec && it != end; it.increment(ec))
    source.files.push_back(it->path().filename().string());
  if (ec) return io_error("cannot list the directory: " + ec.message(), path);
  std::sort(source.files.begin(), source.files.end());
  return source;
}

// Says what a directory that is not a history contains, and what would be a history.
std::string no_history_in(const Source& source) {
  constexpr size_t kMostNamed = 3;
  std::string what = "the directory is empty";
  if (!source.files.empty()) {
    what = "the directory holds " + std::to_string(source.files.size()) + " entries (";
    for (size_t i = 0; i < std::min(source.files.size(), kMostNamed); ++i)
      what += (i > 0 ? ", " : "") + source.files[i];
    what += source.files.size() > kMostNamed ? ", …), none of them a history" : "), no history";
  }
  return what +
         "; expected files of histories, or the logs of one: J<n>.log or Jep<n>.log (Viper), "
         "T<n>.log (Cobra)";
}

Result<const Format*> choose(Source& source, const ReadOptions& options) {
  if (!options.from.empty()) {
    const Format* format = find_format(options.from);
    if (!format)
      return usage_error("unknown format '" + options.from + "', expected one of " +
                         format_names());
    if (source.is_directory() && !format->is_directory()) {
      return usage_error("is a directory; format '" + options.from + "' is a single file")
          .in(source.name);
    }
    if (!source.is_directory() && format->is_directory()) {
      return usage_error("is a file; format '" + options.from + "' is a directory").in(source.name);
    }
    return format;
  }
  const Format* format = detect(source);
  if (!format) {
    return bad_input(source.is_directory()
                         ? no_history_in(source)
                         : "the format is not recognised; name it with --from, one of " +
                               format_names())
        .in(source.name);
  }
  return format;
}

// Sets the initial value that the user knows, unless the history states another.
Status assume_initial(ReadResult& result, const ReadOptions& options, const std::string& name) {
  if (!options.initial) return Ok{};
  History& h = result.history;
  if (!h.initial().is_null() && h.initial() != *options.initial) {
    return bad_input("states the initial value " + h.initial().to_string() + ", expected " +
                     options.initial->to_string())
        .in(name);
  }
  h.set_initial(*options.initial);
  return Ok{};
}

Result<ReadResult> read(Source source, const ReadOptions& options) {
  source.threads = options.threads == 0 ? core_count() : options.threads;
  if (source.input) {
    source.input->allow_cut_off(true);
    if (auto s = source.input->fill(kHeadBytes); !s.ok()) return s.error();
    // Done before detection, which looks at the first bytes. A binary file whose format is named
    // may begin with the same ones.
    if (options.from != "dbcop")
      if (auto s = source.input->skip_byte_order_mark(); !s.ok()) return s.error();
    auto empty = source.input->at_end();
    if (!empty.ok()) return empty.error();
    if (*empty && options.from.empty()) {
      return bad_input(source.input->cut_off() ? "the compressed data is cut off"
                                               : "the file is empty, expected a history")
          .in(source.name);
    }
  }
  auto format = choose(source, options);
  if (!format.ok()) return format.error();
  if (source.input) source.input->allow_cut_off((*format)->appended);
  ReadResult result;
  result.format = (*format)->name;
  auto history = (*format)->read(source, result.notes);
  if (!history.ok()) {
    Error e = history.error();
    // Whatever the reader reports, this is why it ended.
    if (options.budget != nullptr && options.budget->cause()) e = budget_error(*options.budget);
    if (e.file.empty()) e.file = source.name;
    return e;
  }
  if (source.input && source.input->cut_off())
    result.notes.push_back({source.input->line(), "the compressed data is cut off here"});
  result.history = std::move(*history);
  if (auto s = assume_initial(result, options, source.name); !s.ok()) return s.error();
  if (options.order_share < 1) result.history.keep_stated_orders(options.order_share);
  if (options.unique_values) {
    if (auto s = check_unique_values(result.history, source.name); !s.ok()) return s.error();
  }
  return result;
}

// A file without operations would satisfy every level.
Status check_kept(const History& history, const Losses& losses, std::string_view format) {
  if (history.op_count() == 0 || !losses.nothing_kept()) return Ok{};
  std::string what;
  for (const Loss& l : losses.list())
    what += (what.empty() ? "" : "; ") + l.what + " (" + std::to_string(l.count) + ")";
  return bad_input("format '" + std::string(format) + "' holds none of the " +
                   std::to_string(history.op_count()) + " operations: " + what);
}

// Removes a file in which nothing is left; a device or a pipe stays.
Status keep(const History& history, const Losses& losses, std::string_view format,
            const std::string& path) {
  Status kept = check_kept(history, losses, format);
  std::error_code ec;
  if (!kept.ok() && path != "-" && fs::is_regular_file(path, ec)) fs::remove(path, ec);
  return kept;
}

// The run that the header names; empty if it names none.
std::string run_of(const History& history) {
  const auto meta = Json::parse(history.meta());
  if (!meta.is_object() || !meta.contains("run") || !meta["run"].is_string()) return {};
  return meta["run"].text();
}

// Checks that the files come from several processes of one run.
Status check_one_run(std::span<const HistoryPart> parts) {
  std::string run;
  for (const HistoryPart& part : parts) {
    std::string of_part = run_of(*part.history);
    if (of_part.empty()) continue;
    if (run.empty())
      run = std::move(of_part);
    else if (of_part != run) {
      return bad_input("is of run '" + of_part + "', and files before it are of run '" + run +
                       "'; expected one run")
          .in(std::string(part.name));
    }
  }
  return Ok{};
}

Result<const Format*> writable(std::string_view name) {
  const Format* format = find_format(name);
  if (!format)
    return usage_error("unknown format '" + std::string(name) + "', expected one of " +
                       format_names());
  if (!format->writes())
    return usage_error("format '" + std::string(name) + "' can be read but not written");
  return format;
}

// Whether the file can be read as a history. An empty file is a history that was lost: reading it
// says so.
bool looks_like_history(const std::string& path, const ReadOptions& options) {
  auto source = open_source(path, options.budget);
  if (!source.ok()) return true;
  if (source->input) {
    if (!source->input->fill(kHeadBytes).ok()) return true;
    const auto empty = source->input->at_end();
    if (!empty.ok() || *empty) return true;
  }
  return choose(*source, options).ok();
}

// Histories below `folder`, by name.
Status walk(const std::string& folder, const ReadOptions& options, HistoryPaths& found) {
  std::vector<std::string> open = {folder};  // folders to look at, the next one last
  while (!open.empty()) {
    const std::string at = std::move(open.back());
    open.pop_back();
    auto source = open_source(at, options.budget);
    if (!source.ok()) return source.error();
    std::vector<std::string> folders;
    for (const std::string& name : source->files) {
      if (name.starts_with('.')) continue;
      const std::string path = (fs::path(at) / name).string();
      std::error_code ec;
      const bool directory = fs::is_directory(path, ec) && !fs::is_symlink(path, ec);
      if (!directory && !fs::is_regular_file(path, ec)) continue;
      if (looks_like_history(path, options))
        found.paths.push_back(path);
      else if (directory)
        folders.push_back(path);
      else
        ++found.skipped;
    }
    open.insert(open.end(), folders.rbegin(), folders.rend());
  }
  return Ok{};
}

}  // namespace
}  // namespace assay::internal::formats

namespace assay {

namespace formats = internal::formats;

Result<HistoryPaths> find_histories(const std::string& path, const ReadOptions& options) {
  HistoryPaths found;
  std::error_code ec;
  const formats::Format* named = formats::find_format(options.from);
  if (path == "-" || !std::filesystem::is_directory(path, ec) || (named && named->is_directory())) {
    found.paths.push_back(path);
    return found;
  }
  auto source = formats::open_source(path, options.budget);
  if (!source.ok()) return source.error();
  if (!named && formats::detect(*source)) {
    found.paths.push_back(path);
    return found;
  }
  if (auto s = formats::walk(path, options, found); !s.ok()) return s.error();
  if (found.paths.empty()) {
    return bad_input(formats::no_history_in(*source)).in(path);
  }
  return found;
}

Result<ReadResult> read_together(std::span<const std::string> paths, const ReadOptions& options) {
  if (paths.size() == 1) return read_history(paths[0], options);
  std::vector<ReadResult> read;
  for (const std::string& path : paths) {
    auto one = read_history(path, options);
    if (!one.ok()) return one.error();
    read.push_back(std::move(*one));
  }
  std::vector<internal::HistoryPart> parts;
  ReadResult all;
  for (size_t i = 0; i < paths.size(); ++i) {
    parts.push_back({&read[i].history, paths[i]});
    for (ReadNote& n : read[i].notes) all.notes.push_back({n.line, paths[i] + ": " + n.message});
    if (i == 0) all.format = read[i].format;
    if (read[i].format != all.format) all.format = "several";
  }
  if (Status s = formats::check_one_run(parts); !s.ok()) return s.error();
  auto history = internal::merge_histories(parts);
  if (!history.ok()) return history.error();
  all.history = std::move(*history);
  if (options.unique_values) {
    if (Status s = formats::check_unique_values(all.history, {}); !s.ok()) return s.error();
  }
  return all;
}

Result<ReadResult> read_history(const std::string& path, const ReadOptions& options) {
  auto source = formats::open_source(path, options.budget);
  if (!source.ok()) return source.error();
  return formats::read(std::move(*source), options);
}

Result<ReadResult> read_history_text(std::string_view text, const std::string& name,
                                     const ReadOptions& options) {
  auto input = formats::Input::memory(text, name, options.budget);
  if (!input.ok()) return input.error();
  return formats::read(formats::Source{name, {}, std::move(*input), options.budget}, options);
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
    if (auto s = formats::check_kept(history, losses, format_name); !s.ok()) return s.error();
    return losses.list();
  }
  auto out = formats::Output::open(path);
  if (!out.ok()) return out.error();
  (*format)->write(history, *out, losses);
  if (auto s = out->close(); !s.ok()) return s.error();
  if (auto s = formats::keep(history, losses, format_name, path); !s.ok()) return s.error();
  return losses.list();
}

Result<std::vector<Loss>> write_history_text(const History& history, std::string_view format_name,
                                             std::string& text) {
  auto format = formats::writable(format_name);
  if (!format.ok()) return format.error();
  if (!(*format)->write)
    return usage_error("format '" + std::string(format_name) +
                       "' is written as a directory, not as text");
  formats::Losses losses;
  formats::Output out = formats::Output::memory(text);
  (*format)->write(history, out, losses);
  if (auto s = out.close(); !s.ok()) return s.error();
  if (auto s = formats::check_kept(history, losses, format_name); !s.ok()) return s.error();
  return losses.list();
}

}  // namespace assay

namespace assay::internal::formats {

void Losses::add_annotations(const History& h) {
  add("known version orders", h.known_orders().size());
  add("sources of reads", h.stated_source_count());
  add("times of operations", h.op_time_count());
  add("events", h.events().size());
  if (!h.meta().empty()) add("metadata of the history");
  for (TxnId t = 0; t < h.txn_count(); ++t) {
    if (!h.snapshot(t).empty()) add("snapshots of transactions");
    if (!h.meta(t).empty()) add("metadata of transactions");
    if (h.declared_level(t)) add("levels of transactions");
  }
}

void Losses::add_names(const History& h) {
  for (TxnId t = 0; t < h.txn_count(); ++t)
    if (h.name(t) != h.session_name(h.session(t)).to_string() + "-" + std::to_string(h.position(t)))
      add("names of transactions");
}

void Losses::add_translated(const Operation& op) {
  if (op.kind == OpKind::remove) add("deletes, written as writes of their tombstones");
  if (op.kind == OpKind::range) add("range reads");
  if (op.kind != OpKind::cas && op.kind != OpKind::insert) return;
  const std::string what = op.kind == OpKind::cas ? "compare-and-sets" : "inserts";
  add(what + (op.effect ? ", written as a read and a write" : " without effect"));
}

std::vector<Loss> Losses::list() const {
  std::vector<Loss> list;
  for (const auto& [what, count] : counts_) list.push_back({what, count});
  return list;
}

}  // namespace assay::internal::formats
