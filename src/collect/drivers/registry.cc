#include "collect/drivers/registry.h"

#include <algorithm>
#include <vector>

#include "collect/client_library.h"
#include "collect/url.h"

namespace assay::internal::collect {
namespace {

const DriverInfo* find_driver(std::string_view scheme) {
  for (const DriverInfo& info : all_drivers())
    if (info.scheme == scheme || (!scheme.empty() && info.alias == scheme)) return &info;
  return nullptr;
}

std::string lower_case(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

template <class Range, class Name>
std::string list(const Range& range, Name name) {
  std::string result;
  for (const auto& item : range) result += (result.empty() ? "" : ", ") + std::string(name(item));
  return result;
}

}  // namespace

std::span<const DriverInfo> all_drivers() {
  static const DriverInfo drivers[] = {
      kSqlite,     kSimulated, kExec, kDuckdb,
#ifdef ASSAY_POSTGRESQL
      kPostgresql, kH2,
#endif
#ifdef ASSAY_MYSQL
      kMysql,
#endif
#ifdef ASSAY_CURL
      kEtcd,
#endif
#ifdef ASSAY_REDIS
      kRedis,
#endif
  };
  return drivers;
}

std::span<const MissingDriver> missing_drivers() {
  static const std::vector<MissingDriver> missing = {
#ifndef ASSAY_POSTGRESQL
      {"postgresql", "libpq-dev"},      {"h2", "libpq-dev"},
#endif
#ifndef ASSAY_MYSQL
      {"mysql", "libmariadb-dev"},
#endif
#ifndef ASSAY_CURL
      {"etcd", "libcurl4-openssl-dev"},
#endif
#ifndef ASSAY_REDIS
      {"redis", "libhiredis-dev"},
#endif
  };
  return missing;
}

Result<std::unique_ptr<Driver>> open_driver(const DriverOptions& options) {
  const std::string scheme = options.url.substr(0, options.url.find(':'));
  const DriverInfo* info = find_driver(scheme);
  if (info == nullptr || scheme.size() == options.url.size())
    return usage_error("no driver for the database '" + scheme + "'; URLs look like " +
                       list(all_drivers(), [](const DriverInfo& d) { return d.example; }));
  if (info->client != nullptr)
    if (Status s = load_client(*info->client); !s.ok()) return s.error();
  if (Status s = check_login(options.url); !s.ok()) return s.error();
  const auto known = info->isolations;
  DriverOptions chosen = options;
  if (chosen.isolation.empty() && !known.empty()) chosen.isolation = known.front().name;
  const std::string asked = lower_case(chosen.isolation);
  const auto it = std::find_if(known.begin(), known.end(),
                               [&](const IsolationName& i) { return i.name == asked; });
  if (!known.empty() && it == known.end())
    return usage_error(scheme + " has no isolation '" + options.isolation + "'; it has " +
                       list(known, [](const IsolationName& i) { return i.name; }));
  if (it != known.end()) chosen.isolation = it->name;
  return info->open(chosen);
}

}  // namespace assay::internal::collect
