#include "corpus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "assay/format.h"
#include "places.h"

namespace assay::internal {
namespace {

class CommentReader {
 public:
  explicit CommentReader(CorpusFile& file) : file_(file) {}

  void line(const std::string& text) {
    std::istringstream words(text);
    std::string hash, what;
    words >> hash >> what;
    if (hash != "#") return;
    if (what == "verdicts:") verdicts(words);
    if (what == "anomaly:") anomaly(words);
    if (what == "boundary:") {
      std::string violated, satisfied;
      words >> violated >> satisfied;
      file_.boundary = {level(violated), level(satisfied)};
    }
  }

 private:
  LevelId level(const std::string& name) {
    const auto found = find_level(name);
    if (!found) file_.mistakes.push_back("no level is named " + name);
    return found.value_or(LevelId::read_committed);
  }
  void verdicts(std::istringstream& words) {
    for (std::string word; words >> word;) {
      const size_t sign = word.find('=');
      const std::string value = sign == std::string::npos ? "" : word.substr(sign + 1);
      if (value != "+" && value != "-") file_.mistakes.push_back(word + " is no verdict");
      file_.verdicts.emplace_back(level(word.substr(0, sign)),
                                  value == "+" ? Outcome::satisfied : Outcome::violated);
    }
  }
  void anomaly(std::istringstream& words) {
    std::string name;
    words >> name;
    file_.anomaly = find_anomaly(name);
    if (!file_.anomaly) file_.mistakes.push_back("no anomaly is named " + name);
  }

  CorpusFile& file_;
};

}  // namespace

std::vector<CorpusFile> corpus_files(const std::string& folder) {
  std::vector<CorpusFile> files;
  const std::filesystem::path root = std::filesystem::path(places::kSource) / "tests" / folder;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".hist") continue;
    CorpusFile file;
    file.path = entry.path().string();
    file.name = entry.path().stem().string();
    file.directory = entry.path().parent_path().filename().string();
    CommentReader reader(file);
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) reader.line(line);
    if (file.verdicts.empty()) file.mistakes.push_back("no verdicts");
    files.push_back(std::move(file));
  }
  std::sort(files.begin(), files.end(),
            [](const CorpusFile& a, const CorpusFile& b) { return a.path < b.path; });
  return files;
}

History read_corpus_file(const CorpusFile& file) {
  auto read = read_history(file.path, {.from = "hist"});
  if (!read.ok()) {
    ADD_FAILURE() << read.error().to_string();
    return {};
  }
  return std::move(read->history);
}

void PrintTo(const CorpusFile& file, std::ostream* out) { *out << file.path; }

std::string test_name(const CorpusFile& file) {
  std::string name = file.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !std::isalnum(c); }, '_');
  return name;
}

}  // namespace assay::internal
