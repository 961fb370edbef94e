// Whatever the bytes: neither reader nor verifier crashes, and what was read is written back
// unchanged. The history is fixed and has an operation of every kind, so that ids in the
// certificate refer to something.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "assay/format.h"
#include "assay/verify.h"
#include "certify/graph.h"
#include "certify/predictions.h"
#include "certify/robustness_verifier.h"
#include "certify/schedule_verifier.h"

namespace {

assay::History read(std::string_view text) {
  auto read = assay::read_history_text(text, "fuzz", {.from = "hist"});
  if (!read.ok()) std::abort();
  return std::move(read->history);
}

assay::History& history() {
  static assay::History h = read(
      "s1: @[0,5] { w(x,1) w(y,1) } @[6,9] { r(x,1) r(y,2) a(l,1) } @[10,_] { w(x,9) }?\n"
      "s2: @[1,4] { w(x,2) w(y,2) } @[5,8] { r(x,2) r(l,[1]) } @[20,21] { r(x,9) r(z,null) }\n"
      "s3: @[2,3] { w(z,1) }! @[7,9] { d(z,t) cas(x,2,3) ins(v,1) range(v..z,[v=1,x=3,y=2]) }\n"
      "order x: 1 2\n");
  return h;
}

// A history without lists, for which predictions are possible.
const assay::History& without_lists() {
  static const assay::History h = read(
      "s1: { w(x,1) w(y,1) } { r(x,1) r(y,2) } { w(x,9) }?\n"
      "s2: { w(x,2) w(y,2) } { r(x,2) p(value > 1,[x=2,y=2]) }\n"
      "s3: { w(z,1) }! { d(z,t) cas(x,2,3) ins(v,1) range(v..z,[v=1,x=3,y=2]) }\n");
  return h;
}

// A history of which executions at weak levels are predicted.
const assay::History& of_single_keys() {
  static const assay::History h = read(
      "s1: { w(x,1) r(y,null) } { r(z,3) w(y,2) }\n"
      "s2: { w(z,3) r(x,1) } { r(y,2) d(x,t) }\n");
  return h;
}
constexpr std::string_view kExecutions = "\"executions\"";
const assay::History& about(std::string_view text) {
  return text.find(kExecutions) == text.npos ? history() : of_single_keys();
}

// The same for predictions.
int try_predictions(std::string_view text) {
  using namespace assay::internal::certify;
  const assay::History& history = about(text);
  const auto file = read_predictions(text, history, "fuzz");
  if (!file.ok()) return 0;
  for (const Schedule& schedule : file->schedules) (void)verify_schedule(schedule, history);
  for (const WeakExecution& execution : file->executions)
    (void)verify_weak_execution(execution, history);
  for (const Robustness& claim : file->holds)
    if (const auto verifier = RobustnessVerifier::of(without_lists()); verifier.ok())
      (void)verifier->verify(claim);
  const std::string written = write_predictions(*file, history);
  const auto again = read_predictions(written, history, "again");
  if (!again.ok() || write_predictions(*again, history) != written) std::abort();
  return 0;
}

// The same for dependency graphs.
int try_graph(std::string_view text) {
  using namespace assay::internal::certify;
  history().define_level(nullptr);
  if (const auto graph = read_graph(text, history(), "fuzz"); graph.ok())
    (void)verify_graph(*graph, history());
  return 0;
}

}  // namespace

// The hash need not be guessed: $ stands for it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  if (const size_t at = text.find('$'); at != std::string::npos)
    text.replace(at, 1, about(text).content_hash());
  if (assay::internal::certify::holds_predictions(text)) return try_predictions(text);
  if (assay::internal::certify::holds_graph(text)) return try_graph(text);
  const auto file = assay::read_certificates(text, history(), "fuzz");
  if (!file.ok()) return 0;
  history().define_level(file->defined_level);
  for (const assay::Certificate& c : file->certificates) (void)assay::verify(c, history());
  const std::string written = assay::write_certificates(*file, history());
  const auto again = assay::read_certificates(written, history(), "again");
  if (!again.ok() || assay::write_certificates(*again, history()) != written) {
    std::fprintf(stderr, "%s\n", written.c_str());
    std::abort();
  }
  return 0;
}
