// Servers started by dev/db for the tests of one program, at first use, and stopped at its end.
#pragma once

#include <string>
#include <vector>

namespace assay::internal {

// The URLs of the server that dev/db knows by this name; none if it cannot be had here, which is
// said.
const std::vector<std::string>& server(const std::string& name);

// A line to dev/db, such as "node mariadb kill 1". True if it succeeded.
bool dev_db(const std::string& arguments);

// The last line that dev/db prints then, without its end.
std::string dev_db_line(const std::string& arguments);

}  // namespace assay::internal
