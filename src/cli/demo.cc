#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "assay/format.h"
#include "base/wrap.h"
#include "cli/checking.h"
#include "cli/command.h"
#include "cli/console.h"
#include "cli/demo_histories.h"
#include "cli/flags.h"

namespace assay::internal::cli {
namespace {

struct DemoState {
  std::string name;
  bool all = false;
  bool history_only = false;
  Colour colour = Colour::automatic;
};

const DemoHistory* find_demo(std::string_view name) {
  for (const DemoHistory& d : demo_histories())
    if (anomaly_info(d.anomaly).name == name) return &d;
  return nullptr;
}

Exit list() {
  constexpr size_t kSummary = 31;  // column of the summary
  std::string out = "Anomalies, each with a small history that shows it: assay demo NAME\n\n";
  for (const DemoHistory& d : demo_histories()) {
    const AnomalyInfo& a = anomaly_info(d.anomaly);
    out += fmt::format("  {:<28} {}\n", a.name,
                       wrapped(a.summary, columns_of_stdout(), kSummary, kSummary));
  }
  return ended(print(out));
}

Exit show(const DemoHistory& demo, Colour colour) {
  const AnomalyInfo& a = anomaly_info(demo.anomaly);
  auto read = read_history_text(demo.text, std::string(a.name), {"hist"});
  if (!read.ok()) return fail(read.error());
  const Audit c = check_history(std::move(read->history), std::string(a.name), {});
  return ended(print_painted(fmt::format(
      "{}\n\n{}\n{}", wrapped(fmt::format("{}: {}", a.name, a.summary), columns_of_stdout()),
      demo.text,
      whole_report(start_text({colour_on_stdout(colour), columns_of_stdout()}), {&c, 1}))));
}

Exit run_demo(const DemoState& s) {
  if (s.all) {
    for (const DemoHistory& d : demo_histories()) {
      const Exit e = show(d, s.colour);
      if (e != Exit::satisfied) return e;
      if (const Status p = print("\n"); !p.ok()) return fail(p.error());
    }
    return Exit::satisfied;
  }
  if (s.name.empty()) return list();
  const DemoHistory* demo = find_demo(s.name);
  if (demo == nullptr)
    return fail(usage_error(fmt::format("unknown anomaly '{}'; 'assay demo' lists them", s.name)));
  if (!s.history_only) return show(*demo, s.colour);
  return ended(print(demo->text));
}

}  // namespace

Action add_demo(CLI::App& app) {
  auto s = std::make_shared<DemoState>();
  app.add_option("ANOMALY", s->name, "the anomaly to show; by default all are listed")
      ->type_name("");
  app.add_flag("--all", s->all, "show all of them");
  app.add_flag("--history", s->history_only, "print only the history, in .hist format");
  add_colour_flag(app, s->colour);
  return [s] { return run_demo(*s); };
}

}  // namespace assay::internal::cli
