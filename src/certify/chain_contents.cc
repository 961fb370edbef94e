#include "certify/chain_contents.h"

#include <algorithm>
#include <utility>

#include "history/value_bytes.h"

namespace assay::internal::certify {
namespace {

void put(StreamWriter& to, const ChainContents::Version& v) {
  put_value(to, v.value.view());
  to.flag(v.removed);
}

ChainContents::Version take_version(StreamReader& from) {
  HeldValue value = take_value(from);
  const bool removed = from.flag();
  return {std::move(value), removed};
}

}  // namespace

bool ChainContents::Version::bears_out(const History& h, const Access& a) const {
  const auto shown = [&] {
    const ValueView seen = h.version_value(a.seen);
    return seen == value.view() || (removed && seen.is_null());
  };
  return accepts(a.accepts, shown, [&] { return removed || value.view().is_null(); });
}

// Look-ups from before a gap are void.
ChainContents::Content* ChainContents::find(Piece& piece, KeyId key) {
  if (piece.gaps != gaps_) {
    for (Piece::Key& k : piece.keys) k.content = nullptr;
    piece.gaps = gaps_;
  }
  Content*& content = piece.keys[key].content;
  if (content != nullptr) return content;
  auto it = contents_.find(piece.history->key(key));
  if (it != contents_.end()) content = &it.value();
  return content;
}

// After a gap the key may hold anything.
bool ChainContents::unwritten_explains(const History& h, const Access& seen) const {
  return gaps_ > 0 || Version{HeldValue(h.initial(seen.key))}.bears_out(h, seen);
}

// Among the versions that may have come last, keeps only the ones that explain the read.
bool ChainContents::explains(Piece& piece, const Access& seen) {
  const History& h = *piece.history;
  Content* const content = find(piece, seen.key);
  if (content == nullptr) return unwritten_explains(h, seen);
  content->looked = true;
  const auto bears_out = [&](const Version& v) { return v.bears_out(h, seen); };
  if (!content->rivals) return bears_out(content->last);
  std::vector<Version>& rivals = *content->rivals;
  if (!bears_out(content->last)) {
    const auto kept = std::ranges::find_if(rivals, bears_out);
    if (kept == rivals.end()) return false;
    content->last = std::move(*kept);
    rivals.erase(kept);
  }
  std::erase_if(rivals, [&](const Version& v) { return !bears_out(v); });
  if (rivals.empty()) content->rivals.reset();
  return true;
}

bool ChainContents::explains_for_good(Piece& piece, const Access& seen) {
  const Content* const content = find(piece, seen.key);
  if (content == nullptr) return unwritten_explains(*piece.history, seen);
  return !content->rivals && content->last.bears_out(*piece.history, seen);
}

void ChainContents::install(Piece& piece, uint64_t line, const Access& write) {
  const History& h = *piece.history;
  Version left = left_by(h, write);
  if (Content* const content = find(piece, write.key)) {
    *content = {std::move(left), line};
    return;
  }
  auto made = contents_.emplace(HeldValue(h.key(write.key)), Content{std::move(left), line}).first;
  piece.keys[write.key].content = &made.value();
}

void ChainContents::forget() {
  ++gaps_;
  contents_.clear();
}

void ChainContents::save(StreamWriter& to) const {
  to.number(contents_.size());
  for (const auto& [key, content] : contents_) {
    put_value(to, key.view());
    put(to, content.last);
    to.number(content.writer);
    to.flag(content.looked);
    to.number(content.rivals ? content.rivals->size() : 0);
    if (content.rivals)
      for (const Version& v : *content.rivals) put(to, v);
  }
}

void ChainContents::load(StreamReader& from) {
  for (size_t n = from.count(); n > 0; --n) {
    HeldValue key = take_value(from);
    Content content{take_version(from)};
    content.writer = from.number();
    content.looked = from.flag();
    for (size_t rivals = from.count(); rivals > 0; --rivals) {
      if (!content.rivals) content.rivals = std::make_unique<std::vector<Version>>();
      content.rivals->push_back(take_version(from));
    }
    contents_.emplace(std::move(key), std::move(content));
  }
}

void Excuses::add(const History& h, TxnId left_out) {
  for (const Access& a : accesses(h, left_out)) {
    if (!a.writes()) continue;
    Values& values = values_[HeldValue(h.key(a.key))];
    values.emplace(h.version_value(a.version));
    if (a.removes()) values.emplace(ValueView{});
  }
}

bool Excuses::excuse(const History& h, const Access& seen) const {
  const auto it = values_.find(h.key(seen.key));
  if (it == values_.end()) return false;
  return seen.accepts != Accepts::equals || it->second.contains(h.version_value(seen.seen));
}

void Excuses::save(StreamWriter& to) const {
  to.number(values_.size());
  for (const auto& [key, values] : values_) {
    put_value(to, key.view());
    to.number(values.size());
    for (const HeldValue& value : values) put_value(to, value.view());
  }
}

void Excuses::load(StreamReader& from) {
  for (size_t n = from.count(); n > 0; --n) {
    Values& values = values_[take_value(from)];
    for (size_t m = from.count(); m > 0; --m) values.insert(take_value(from));
  }
}

}  // namespace assay::internal::certify
