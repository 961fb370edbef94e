#include "history/mini_transactions.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace assay::internal {
namespace {

// One read; two reads; one read with one write, then with two; two reads with one write, then with
// two.
constexpr std::string_view kShapes[] = {
    "rx",       "rxrx",     "rxry",     "rxwx",     "rxwxwx",   "rxrxwx",   "rxrywx",
    "rxrywy",   "rxwxrx",   "rxwxry",   "rxrxwxwx", "rxwxrxwx", "rxwxwxrx", "rxrywxwx",
    "rxrywywy", "rxrywxwy", "rxrywywx", "rxwxrywy", "rxwxrywx", "rxwxwxry",
};

constexpr size_t kMostOperations = 4;

}  // namespace

std::span<const std::string_view> mini_shapes() { return kShapes; }

std::string_view mini_shape(const History& history, TxnId t) {
  const OpId first = history.first_op(t);
  const size_t operations = history.end_op(t) - first;
  if (operations == 0 || operations > kMostOperations) return {};
  const KeyId x = history.op(first).key;
  KeyId y = kNone;
  std::array<char, 2 * kMostOperations> letters{};
  for (size_t i = 0; i < operations; ++i) {
    const Operation op = history.op(first + static_cast<OpId>(i));
    if (op.kind != OpKind::read && op.kind != OpKind::write) return {};
    if (op.key != x && y == kNone) y = op.key;
    if (op.key != x && op.key != y) return {};
    letters[2 * i] = op.kind == OpKind::read ? 'r' : 'w';
    letters[2 * i + 1] = op.key == x ? 'x' : 'y';
  }
  const std::string_view shape(letters.data(), 2 * operations);
  const auto* known = std::find(std::begin(kShapes), std::end(kShapes), shape);
  return known == std::end(kShapes) ? std::string_view() : *known;
}

}  // namespace assay::internal
