// How fast histories are read, interning included. Inputs are generated from a seed:
//
//   general  12 operations a transaction, 16 sessions, integer keys and values, 50 % reads
//   strings  the same with keys of 8 characters
//   lists    appends and whole-list reads
//
// The text is in memory, so the disk does not count; everything else that read_history does, does,
// on one thread.
#include <benchmark/benchmark.h>

#include <random>
#include <string>

#include "assay/format.h"

namespace {

enum class Workload { general, strings, lists };

assay::ValueView key_of(Workload workload, uint64_t k, std::string& buffer) {
  if (workload != Workload::strings) return assay::ValueView::of(static_cast<int64_t>(k));
  buffer = "key" + std::to_string(10000 + k);
  return assay::ValueView::of(std::string_view(buffer));
}

assay::History generate(Workload workload, int txns, bool times) {
  constexpr uint64_t kKeys = 10000;
  constexpr int kOps = 12;
  std::mt19937_64 rng(42);
  std::vector<std::vector<assay::ValueView>> lists(kKeys);
  std::vector<int64_t> last(kKeys, 0);
  assay::HistoryBuilder b;
  int64_t next_value = 1;
  for (int t = 0; t < txns; ++t) {
    assay::TxnHeader header;
    header.session = assay::ValueView::of(int64_t{t % 16});
    if (times) {
      header.begin = assay::Interval::point(int64_t{1'700'000'000'000'000'000} + t * 1000);
      header.end = assay::Interval::point(int64_t{1'700'000'000'000'000'000} + t * 1000 + 900);
    }
    b.begin_txn(header);
    std::string buffers[kOps];
    for (std::string& buffer : buffers) {
      uint64_t k = rng() % kKeys;
      assay::ValueView key = key_of(workload, k, buffer);
      bool read = rng() % 2 == 0;
      if (workload == Workload::lists) {
        if (read) {
          b.add(assay::Op::read_list(key, lists[k]));
        } else {
          lists[k].push_back(assay::ValueView::of(next_value));
          b.add(assay::Op::append(key, assay::ValueView::of(next_value++)));
        }
      } else if (read) {
        b.add(assay::Op::read(
            key, last[k] == 0 ? assay::ValueView::null() : assay::ValueView::of(last[k])));
      } else {
        last[k] = next_value;
        b.add(assay::Op::write(key, assay::ValueView::of(next_value++)));
      }
    }
    (void)b.end_txn();
  }
  return std::move(*std::move(b).finish());
}

void read(benchmark::State& state, const char* format, Workload workload) {
  const int txns = workload == Workload::lists ? 50'000 : 200'000;
  const bool times = std::string_view(format) == "assay";
  std::string text;
  if (!assay::write_history_text(generate(workload, txns, times), format, text).ok()) {
    state.SkipWithError("cannot write");
    return;
  }
  for (auto _ : state) {
    auto result = assay::read_history_text(text, "memory", {.from = format, .threads = 1});
    if (!result.ok()) state.SkipWithError(result.error().to_string().c_str());
    benchmark::DoNotOptimize(result);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
  state.counters["MB"] = static_cast<double>(text.size()) / 1e6;
}

}  // namespace

BENCHMARK_CAPTURE(read, assay_general, "assay", Workload::general)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, assay_strings, "assay", Workload::strings)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, assay_lists, "assay", Workload::lists)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, hist_general, "hist", Workload::general)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, dbcop_general, "dbcop", Workload::general)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, polysi_general, "polysi", Workload::general)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, jepsen_general, "jepsen", Workload::general)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, jepsen_lists, "jepsen", Workload::lists)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, elle_json_lists, "elle-json", Workload::lists)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, timekiller_general, "timekiller", Workload::general)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(read, dbcop_json_general, "dbcop-json", Workload::general)
    ->Unit(benchmark::kMillisecond);
