// Whatever a client and a server say to each other: no crash, and nothing is kept for ever. Each
// piece of the input has a byte in front that says whose it is and how long.
#include <fcntl.h>

#include <algorithm>
#include <string>

#include "record/conversation.h"
#include "record/test_catalogue.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay::internal::record;
  static const int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
  Trace trace(fd);
  Rewriter rewriter(test_catalogue(), {1, 2});
  Surroundings around;
  around.trace = &trace;
  around.database = "d";
  around.now = [] { return 1; };
  around.rewriter = [&](const std::string&) -> Rewriter& { return rewriter; };
  around.definitions_changed = [] {};
  Conversation talk(1, around);
  bool goes_on = talk.from_client(std::string("\0\0\0\x10\0\3\0\0user\0d\0\0", 16));
  while (size > 0 && goes_on) {
    const size_t length = std::min<size_t>(data[0] >> 1, size - 1);
    const std::string_view bytes(reinterpret_cast<const char*>(data + 1), length);
    goes_on = (data[0] & 1) != 0 ? talk.from_server(bytes) : talk.from_client(bytes);
    data += length + 1;
    size -= length + 1;
    talk.to_client.clear();
    talk.to_server.clear();
  }
  talk.over();
  return trace.flush().ok() ? 0 : 1;
}
