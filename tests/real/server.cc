#include "server.h"

#include <stdlib.h>
#include <sys/wait.h>

#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace assay {
namespace {

constexpr int kNotInstalled = 5;

std::string script() { return ASSAY_SOURCE_DIR "/dev/db"; }

}  // namespace

Server::Server(std::string name) : name_(std::move(name)) {
  FILE* out = popen((script() + " up " + name_).c_str(), "r");
  if (out == nullptr) throw std::runtime_error("cannot run dev/db");
  std::string last;
  char buffer[512];
  while (fgets(buffer, sizeof buffer, out) != nullptr) last = buffer;
  const int status = pclose(out);
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNotInstalled) return;
  if (status != 0) throw std::runtime_error("dev/db up " + name_ + " failed");
  std::istringstream words(last);
  for (std::string url; words >> url;) urls_.push_back(url);
}

Server::~Server() {
  if (!urls_.empty() && system((script() + " down " + name_).c_str()) != 0)
    fprintf(stderr, "dev/db down %s failed\n", name_.c_str());
}

}  // namespace assay
