#include "base/client_library.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <string>

namespace assay::internal {
namespace {

constexpr ClientLibrary kThere{"libz.so.1", "zlib1g"};
constexpr ClientLibrary kMissing{"libno-such-client.so.9", "libno-such-client9"};

TEST(ClientLibrary, FunctionsOfALoadedOneCanBeCalled) {
  ASSERT_TRUE(load_client(kThere).ok());
  const auto version = reinterpret_cast<const char* (*)()>(client_function(kThere, "zlibVersion"));
  EXPECT_EQ(std::string(version()).substr(0, 2), "1.");
}

TEST(ClientLibrary, AMissingOneIsNamedWithItsPackage) {
  const Status s = load_client(kMissing);
  ASSERT_FALSE(s.ok());
  EXPECT_EQ(s.error().kind, ErrorKind::io);
  EXPECT_NE(s.error().message.find("libno-such-client.so.9"), std::string::npos);
  EXPECT_NE(s.error().message.find("apt install libno-such-client9"), std::string::npos);
}

TEST(ClientLibrary, OneThatIsNoLibraryOfTheSystemsHasAVariable) {
  constexpr ClientLibrary kNamed{"libno-such-client.so.9", "a-package", "ASSAY_TEST_CLIENT"};
  const Status s = load_client(kNamed);
  ASSERT_FALSE(s.ok());
  EXPECT_NE(s.error().message.find("npm's a-package has it; expected ASSAY_TEST_CLIENT to say "
                                   "where it is"),
            std::string::npos)
      << s.error().message;
  setenv("ASSAY_TEST_CLIENT", "libz.so.1", 1);
  EXPECT_TRUE(load_client(kNamed).ok());
  unsetenv("ASSAY_TEST_CLIENT");
}

TEST(ClientLibraryDeathTest, AMissingFunctionIsNamed) {
  EXPECT_DEATH(client_function(kThere, "no_such_function"), "no no_such_function in libz.so.1");
}

}  // namespace
}  // namespace assay::internal
