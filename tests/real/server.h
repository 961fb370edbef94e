// A server started by dev/db for the tests of one program, and stopped at its end.
#pragma once

#include <string>
#include <vector>

namespace assay {

class Server {
 public:
  // `name` as dev/db knows it.
  explicit Server(std::string name);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Empty if the server is not installed here.
  const std::vector<std::string>& urls() const { return urls_; }

 private:
  std::string name_;
  std::vector<std::string> urls_;
};

}  // namespace assay
