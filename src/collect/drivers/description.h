// What a driver says about its database, for the history's header.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::internal::collect {

// Settings of the server that bear on isolation or durability, as it reports them.
using Settings = std::vector<std::pair<std::string, std::string>>;

// {"name":"PostgreSQL","version":"15.7","isolation":"serializable","settings":{"fsync":"on"}};
// without settings if there are none.
std::string describe_database(std::string_view name, std::string_view version,
                              std::string_view isolation, const Settings& settings);

}  // namespace assay::internal::collect
