#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <thread>

#include "assay/format.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "collect/client_library.h"
#include "collect/driver.h"

namespace assay::internal::cli {
namespace {

// The port on which a server on this machine listens by default.
struct DefaultPort {
  std::string_view scheme;
  uint16_t port;
};
constexpr DefaultPort kDefaultPorts[] = {
    {"postgresql", 5432}, {"mysql", 3306}, {"etcd", 2379}, {"redis", 6379}};

// Whether a server listens on the port. On loopback a refusal comes at once.
bool listens(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return false;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool connected =
      connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  close(fd);
  return connected;
}

// Returns what to install before the database can be driven; empty if nothing.
std::string missing_client(const collect::DriverInfo& driver) {
  if (driver.client == nullptr || load_client(*driver.client).ok()) return {};
  return fmt::format("  {:<12} not yet: {} is not installed; {}\n", "", driver.client->file,
                     where_to_get(*driver.client));
}

std::string drivers() {
  std::string out = "Databases that 'assay run' and 'assay probe' can drive:\n";
  for (const collect::DriverInfo& driver : collect::all_drivers())
    out += fmt::format("  {:<12} {}\n  {:<12} isolations: {}\n", driver.scheme, driver.example, "",
                       driver.isolations.empty()
                           ? "any"
                           : listed(names_of(driver.isolations, &collect::IsolationName::name))) +
           missing_client(driver);
  for (const collect::MissingDriver& driver : collect::missing_drivers())
    out += fmt::format("  {:<12} not in this build; it needs {} when it is configured\n",
                       driver.scheme, driver.package);
  return out;
}

std::string servers() {
  std::string out = "Servers on this machine's default ports:\n";
  for (const DefaultPort& server : kDefaultPorts)
    out += fmt::format("  {:<12} 127.0.0.1:{} {}\n", server.scheme, server.port,
                       listens(server.port) ? "answers" : "nothing answers");
  return out;
}

std::string bytes(uint64_t n) {
  return fmt::format("{:.1f} GiB", static_cast<double>(n) / (1 << 30));
}

// Returns the memory of the machine, or what a limit for the process leaves of it.
uint64_t memory_here() {
  const uint64_t all =
      static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return all;
  return std::min<uint64_t>(all, limit.rlim_cur);
}

std::string limits() {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  std::error_code ec;
  const auto space = std::filesystem::space(".", ec);
  std::string out = "Limits:\n";
  out += fmt::format("  {:<12} {}\n", "cores", std::thread::hardware_concurrency());
  out += fmt::format("  {:<12} {}; --memory sets a lower limit for a check\n", "memory",
                     bytes(memory_here()));
  out += fmt::format("  {:<12} {}, one for each session of a run and a few more\n", "open files",
                     files.rlim_cur);
  if (!ec)
    out += fmt::format("  {:<12} {} free here; 'run' writes the history before it is checked\n",
                       "disk", bytes(space.available));
  return out;
}

std::string formats() {
  size_t read = 0, written = 0;
  for (const FormatInfo& format : all_formats()) {
    read += format.reads;
    written += format.writes;
  }
  return fmt::format("{} formats are read and {} written; 'assay convert --list' names them.\n",
                     read, written);
}

}  // namespace

Action add_doctor(CLI::App&) {
  return [] {
    return ended(print("assay " ASSAY_VERSION "\n\n" + drivers() + "\n" + servers() + "\n" +
                       limits() + "\n" + formats()));
  };
}

}  // namespace assay::internal::cli
