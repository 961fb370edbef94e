#include "evidence/aof.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

namespace assay::internal::evidence {
namespace {

constexpr std::string_view kRedisTxnKey = "assay-txn";
constexpr std::string_view kRedisValues = "assay:kv/", kRedisLists = "assay:list/";
constexpr size_t kLongest = size_t{1} << 30;

// Reads a line of one letter and a number.
bool count(std::string_view& text, char letter, size_t& to, bool& broken) {
  const size_t end = text.find("\r\n");
  if (end == std::string_view::npos) return false;
  const auto [last, error] = std::from_chars(text.data() + 1, text.data() + end, to);
  broken = text[0] != letter || error != std::errc() || last != text.data() + end || to > kLongest;
  text.remove_prefix(end + 2);
  return !broken;
}

std::string upper_case(std::string text) {
  for (char& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

}  // namespace

bool Aof::command(std::string_view& text) {
  std::string_view at = text;
  if (at.starts_with('#')) {  // a note, such as a time
    const size_t end = at.find("\r\n");
    if (end == std::string_view::npos) return false;
    words_.clear();
    text.remove_prefix(end + 2);
    return true;
  }
  size_t words = 0;
  if (!count(at, '*', words, broken_)) return false;
  words_.clear();
  for (size_t i = 0; i < words; ++i) {
    size_t size = 0;
    if (!count(at, '$', size, broken_) || at.size() < size + 2) return false;
    words_.emplace_back(at.substr(0, size));
    at.remove_prefix(size + 2);
  }
  text = at;
  return true;
}

void Aof::set(const std::string& key, const std::string& value) {
  const std::string_view name = key;
  if (name == kRedisTxnKey) txn_.name = value;
  if (name == kEnd) end_ = value;
  if (name.starts_with(kRedisValues))
    rows_.put("assay_kv", key.substr(kRedisValues.size()), {{"v", value}}, txn_.changes);
  if (name.starts_with(kRedisLists))
    rows_.put("assay_list", key.substr(kRedisLists.size()), {{"v", value}}, txn_.changes);
}

void Aof::finish(const std::function<void(LoggedTxn)>& take) {
  open_ = false;
  LoggedTxn done = std::exchange(txn_, {});
  if (!done.changes.empty()) take(std::move(done));
}

void Aof::execute(const std::function<void(LoggedTxn)>& take) {
  if (words_.empty()) return;
  const std::string what = upper_case(words_[0]);
  if (what == "SELECT" && words_.size() > 1) selected_ = words_[1];
  if (selected_ != database_) return;
  if (!open_) txn_.position = fmt::format("byte {}", at_);
  if (what == "MULTI") open_ = true;
  if (what == "SET" && words_.size() > 2) set(words_[1], words_[2]);
  if (what == "DEL" || what == "UNLINK")
    for (size_t i = 1; i < words_.size(); ++i)
      if (words_[i].starts_with(kRedisValues))
        rows_.erase("assay_kv", words_[i].substr(kRedisValues.size()), txn_.changes);
  if (what == "EXEC" || !open_) finish(take);
}

bool Aof::feed(std::string_view bytes, const std::function<void(LoggedTxn)>& take) {
  rest_ += bytes;
  std::string_view text = rest_;
  for (size_t left = text.size(); left > 0 && command(text); left = text.size()) {
    execute(take);
    at_ += left - text.size();
  }
  rest_.erase(0, rest_.size() - text.size());
  return !broken_;
}

}  // namespace assay::internal::evidence
