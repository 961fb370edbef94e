#include "oracle/reads_from.h"

#include <algorithm>

namespace assay::internal::oracle {
namespace {

constexpr uint64_t kMaxAttributions = 20'000;

struct Source {
  int writer;
  std::vector<std::pair<int, int>> write_order;
};

struct Choice {
  ReadsFrom read;
  std::vector<Source> sources;
};

class Attributor {
 public:
  Attributor(const Footprints& small, TxnSet effective,
             const std::function<bool(const Attribution&)>& accept)
      : small_(small), effective_(effective), accept_(accept) {}

  bool run(Granularity granularity) {
    for (int t = 0; t < static_cast<int>(small_.txns.size()); ++t) {
      if (!contains(effective_, t)) continue;
      const Footprint& f = small_.txns[t];
      if (!f.contradiction.empty()) return false;
      if (granularity == Granularity::operation) {
        for (const Observation& o : f.observations) add(t, o.step, o.need);
      } else {
        for (const Need& need : f.needs) add(t, 0, need);
      }
    }
    for (const auto& [a, b] : small_.known_order) {
      if (contains(effective_, a) && contains(effective_, b)) {
        attribution_.write_order.emplace_back(a, b);
      }
    }
    // Without this, all combinations of earlier reads would be tried, and none counted.
    const auto has_no_source = [](const Choice& choice) { return choice.sources.empty(); };
    return std::none_of(choices_.begin(), choices_.end(), has_no_source) && choose(0);
  }
  bool exhausted() const { return tried_ > kMaxAttributions; }

 private:
  void add(int reader, uint32_t step, const Need& need) {
    Choice& choice = choices_.emplace_back();
    choice.read = {reader, step, need.key, kInitial};
    if (small_.keys[need.key].is_list) {
      add_list(choice, need);
      return;
    }
    if (need.accept & only(0)) choice.sources.push_back({kInitial, {}});
    for (int w = 0; w < static_cast<int>(small_.txns.size()); ++w) {
      if (w == reader || !contains(effective_, w)) continue;
      const Install* put = small_.txns[w].install(need.key);
      if (put != nullptr && (need.accept & only(put->next[0]))) choice.sources.push_back({w, {}});
    }
  }

  // Adds all ways to cut the list into what whole transactions appended.
  void add_list(Choice& choice, const Need& need) {
    const KeyStates& list = small_.keys[need.key];
    for (State s = 0; s < static_cast<State>(list.element.size()); ++s) {
      if (need.accept != only(s)) continue;
      std::vector<VersionId> elements;
      for (State at = s; at != 0; at = list.parent[at]) elements.push_back(list.element[at]);
      std::reverse(elements.begin(), elements.end());
      std::vector<int> writers;
      cut(choice, elements, 0, writers);
    }
  }

  // The recursion is as deep as there are transactions.
  void cut(Choice& choice, const std::vector<VersionId>& elements, size_t from,
           std::vector<int>& writers) {
    if (from == elements.size()) {
      choice.sources.push_back(source(choice.read, writers));
      return;
    }
    for (int w = 0; w < static_cast<int>(small_.txns.size()); ++w) {
      if (w == choice.read.reader || !contains(effective_, w)) continue;
      if (std::count(writers.begin(), writers.end(), w) != 0) continue;
      const Install* put = small_.txns[w].install(choice.read.key);
      if (put == nullptr || put->elements.size() > elements.size() - from) continue;
      if (!std::equal(put->elements.begin(), put->elements.end(), elements.begin() + from))
        continue;
      writers.push_back(w);
      cut(choice, elements, from + put->elements.size(), writers);
      writers.pop_back();
    }
  }

  Source source(const ReadsFrom& read, const std::vector<int>& writers) const {
    Source result{writers.empty() ? kInitial : writers.back(), {}};
    for (size_t i = 1; i < writers.size(); ++i) {
      result.write_order.emplace_back(writers[i - 1], writers[i]);
    }
    for (int w = 0; w < static_cast<int>(small_.txns.size()); ++w) {
      if (!contains(effective_, w) || small_.txns[w].install(read.key) == nullptr) continue;
      if (std::count(writers.begin(), writers.end(), w) != 0) continue;
      result.write_order.emplace_back(result.writer, w);
    }
    return result;
  }

  // The recursion is as deep as there are reads.
  bool choose(size_t index) {
    if (index == choices_.size()) return ++tried_ <= kMaxAttributions && accept_(attribution_);
    const Choice& choice = choices_[index];
    const size_t known = attribution_.write_order.size();
    for (const Source& source : choice.sources) {
      attribution_.reads.push_back(choice.read);
      attribution_.reads.back().writer = source.writer;
      attribution_.write_order.insert(attribution_.write_order.end(), source.write_order.begin(),
                                      source.write_order.end());
      const bool accepted = choose(index + 1);
      attribution_.reads.pop_back();
      attribution_.write_order.resize(known);
      if (accepted) return true;
      if (exhausted()) return false;
    }
    return false;
  }

  const Footprints& small_;
  const TxnSet effective_;
  const std::function<bool(const Attribution&)>& accept_;
  std::vector<Choice> choices_;
  Attribution attribution_;
  uint64_t tried_ = 0;
};

}  // namespace

bool any_attribution(const Footprints& small, TxnSet effective, Granularity granularity,
                     const std::function<bool(const Attribution&)>& accept, bool* exhausted) {
  Attributor attributor(small, effective, accept);
  const bool accepted = attributor.run(granularity);
  if (!accepted && attributor.exhausted()) *exhausted = true;
  return accepted;
}

}  // namespace assay::internal::oracle
