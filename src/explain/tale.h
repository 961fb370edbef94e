// Sentences as rows of a table: of which anomaly, when a row applies, and what it says.
//
//   {Anomaly::phantom, always, "{asked_twice}\nIn between {writer} {did}."}
//
// The text is one sentence a line. A word in braces stands for what a function of the facts makes of it, and only the words of
// the row that applies are made: others may ask for what is not there.
#pragma once

#include <algorithm>
#include <cassert>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "assay/anomaly.h"

namespace assay::internal {

template <class Facts>
struct Tale {
  Anomaly anomaly;  // none: any
  bool (*applies)(const Facts&);
  std::string_view text;
};

template <class Facts>
struct Word {
  std::string_view name;
  std::string (*make)(const Facts&);
};

template <class Facts>
std::vector<std::string> filled(std::string_view text, std::span<const Word<Facts>> words,
                                const Facts& facts) {
  std::vector<std::string> sentences(1);
  while (!text.empty()) {
    const size_t plain = text.find_first_of("{\n");
    sentences.back() += text.substr(0, plain);
    if (plain == std::string_view::npos) break;
    const bool line = text[plain] == '\n';
    const size_t end = line ? plain : text.find('}', plain);
    if (line) {
      sentences.emplace_back();
    } else {
      const std::string_view name = text.substr(plain + 1, end - plain - 1);
      const auto word = std::ranges::find(words, name, &Word<Facts>::name);
      assert(word != words.end() && "a row uses words of its table");
      sentences.back() += word->make(facts);
    }
    text.remove_prefix(end + 1);
  }
  return sentences;
}

// By the first row that applies; the last one applies always.
template <class Facts>
std::vector<std::string> told_by(std::span<const Tale<Facts>> tales,
                                 std::span<const Word<Facts>> words, Anomaly anomaly,
                                 const Facts& facts) {
  for (const Tale<Facts>& tale : tales)
    if ((tale.anomaly == anomaly || tale.anomaly == Anomaly::none) && tale.applies(facts))
      return filled(tale.text, words, facts);
  return {};
}

template <class Facts>
bool always(const Facts&) {
  return true;
}

}  // namespace assay::internal
