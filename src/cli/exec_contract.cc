#include "collect/exec_contract.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/json.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/flags.h"
#include "collect/url.h"

namespace assay::internal::cli {
namespace {

using collect::ContractResult;
using collect::Kept;

struct ExecTestState {
  collect::ContractOptions options;
  bool json = false;
};

std::string contract_line(const ContractResult& result) {
  switch (result.kept) {
    case Kept::yes:
      return fmt::format("{}: ok\n", result.name);
    case Kept::skipped:
      return fmt::format("{}: skipped: {}\n", result.name, result.why);
    case Kept::no:
      break;
  }
  return fmt::format("{}: failed: {}\n", result.name, result.why);
}

Json contract_json(const ContractResult& result) {
  constexpr const char* kWords[] = {"ok", "skipped", "failed"};
  Json j = {{"name", result.name}, {"result", kWords[static_cast<size_t>(result.kept)]}};
  if (result.kept != Kept::yes) j["why"] = result.why;
  return j;
}

Exit exec_test(ExecTestState& s) {
  if (!collect::holds_a_command(s.options.url)) s.options.url = "exec:" + s.options.url;
  bool broken = false;
  Json checks = Json::array();
  Status printed = Ok{};
  const Status tried = check_exec_contract(s.options, [&](const ContractResult& result) {
    broken = broken || result.kept == Kept::no;
    if (s.json)
      checks.push_back(contract_json(result));
    else
      printed = print(collect::redacted(contract_line(result)));
    return printed.ok();
  });
  if (!tried.ok()) return fail(tried.error());
  if (s.json) {
    const Json all = {
        {"schema", 1}, {"database", collect::redacted(s.options.url)}, {"checks", checks}};
    printed = print(all.dump() + "\n");
  }
  if (!printed.ok()) return fail(printed.error());
  return broken ? Exit::violated : Exit::satisfied;
}

}  // namespace

Action add_exec_test(CLI::App& app) {
  auto s = std::make_shared<ExecTestState>();
  app.add_option("COMMAND", s->options.url,
                 "the command that starts the program, or its URL (exec:COMMAND, exec+unix:PATH, "
                 "exec+unix:PATH COMMAND)")
      ->required()
      ->type_name("");
  app.add_option("--isolation", s->options.isolation, "the isolation that hello requests")
      ->type_name("NAME");
  add_statement_timeout(app, s->options.timeout);
  app.add_flag("--json", s->json, "one line of JSON");
  return [s] { return exec_test(*s); };
}

}  // namespace assay::internal::cli
