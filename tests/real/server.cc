#include "server.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <map>
#include <sstream>

#include "places.h"

namespace assay::internal {
namespace {

constexpr int kNotHere = 5;

std::map<std::string, std::vector<std::string>> servers;

class StopServers : public testing::Environment {
 public:
  void TearDown() override {
    for (const auto& [name, urls] : servers) EXPECT_TRUE(urls.empty() || dev_db("down " + name));
  }
};
[[maybe_unused]] const auto* const kStopServers =
    testing::AddGlobalTestEnvironment(new StopServers);

// And the status of dev/db.
std::pair<std::string, int> last_line(const std::string& arguments) {
  FILE* out = popen((std::string(places::kSource) + "/dev/db " + arguments).c_str(), "r");
  if (out == nullptr) return {"", -1};
  std::string last;
  char buffer[4096];
  while (fgets(buffer, sizeof buffer, out) != nullptr) last = buffer;
  return {last.substr(0, last.find('\n')), pclose(out)};
}

std::vector<std::string> start(const std::string& name) {
  // What takes minutes to build is tested where someone has built it.
  setenv("ASSAY_DB_BUILD", "0", 0);
  const auto [last, status] = last_line("up " + name);
  std::vector<std::string> urls;
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotHere) {
    printf("dev/db cannot have '%s' here\n", name.c_str());
    return urls;
  }
  if (status != 0) {
    ADD_FAILURE() << "dev/db up " << name;
    dev_db("down " + name);
    return urls;
  }
  std::istringstream words(last);
  for (std::string word; words >> word;) {
    // A command has several words.
    if (!urls.empty() && urls.back().starts_with("exec:") && !word.starts_with("exec:"))
      urls.back() += ' ' + word;
    else
      urls.push_back(word);
  }
  return urls;
}

}  // namespace

bool dev_db(const std::string& arguments) {
  return system((std::string(places::kSource) + "/dev/db " + arguments).c_str()) == 0;
}

std::string dev_db_line(const std::string& arguments) { return last_line(arguments).first; }

const std::vector<std::string>& server(const std::string& name) {
  const auto [it, first] = servers.try_emplace(name);
  if (first) it->second = start(name);
  return it->second;
}

}  // namespace assay::internal
