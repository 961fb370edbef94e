// The files for those who are on call name flags and metrics that there are.
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string>

#include "pages.h"
#include "places.h"
#include "workplace.h"

namespace assay::internal::docs {
namespace {

namespace fs = std::filesystem;

std::string file(const char* name) {
  return read_file(fs::path(places::kSource) / "examples" / "on-call" / name);
}

std::set<std::string> words(const std::string& text, const std::regex& pattern) {
  std::set<std::string> all;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), pattern);
       it != std::sregex_iterator(); ++it)
    all.insert(it->str());
  return all;
}

std::set<std::string> metrics_in(const std::string& text) {
  static const std::regex kMetric("\\bassay_[a-z_]+\\b");
  return words(text, kMetric);
}

TEST(DocsOnCall, MetricsAreWritten) {
  const Workplace workplace;
  workplace.run(
      "assay generate --level strict-serializable --sessions 2 --txns 20 | assay watch --sessions "
      "2 "
      "--metrics assay.prom");
  const std::set<std::string> written = metrics_in(read_file(workplace.folder() / "assay.prom"));
  ASSERT_FALSE(written.empty());
  const nlohmann::json dashboard = nlohmann::json::parse(file("dashboard.json"));
  std::set<std::string> drawn;
  for (const auto& panel : dashboard.at("panels"))
    for (const auto& target : panel.at("targets"))
      drawn.merge(metrics_in(target.at("expr").get<std::string>()));
  EXPECT_EQ(drawn, written);
  for (const std::string& name : metrics_in(file("alerts.yml")))
    EXPECT_TRUE(written.contains(name)) << name;
  EXPECT_TRUE(metrics_in(file("alerts.yml")).contains("assay_alarms_total"));
}

TEST(DocsOnCall, TheServiceUsesFlagsOfWatch) {
  const Workplace workplace;
  const std::string help = workplace.run("assay watch --help-all");
  const std::string unit = file("assay-watch.service");
  const std::string command = unit.substr(unit.find("ExecStart=/usr/bin/assay"));
  static const std::regex kFlag("--[a-z][a-z-]*");
  const std::set<std::string> flags =
      words(command.substr(0, command.find("SuccessExitStatus")), kFlag);
  EXPECT_GE(flags.size(), 4u);
  for (const std::string& flag : flags) EXPECT_NE(help.find(flag), std::string::npos) << flag;
}

}  // namespace
}  // namespace assay::internal::docs
