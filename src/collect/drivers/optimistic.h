// Transactions over stores of keys and texts that have no sessions of their own: reads remember
// what they saw, writes wait in the client, and the commit asks the store to do all of it if
// nothing that was read has changed.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "collect/driver.h"

namespace assay::internal::collect {

class OptimisticSession : public DriverSession {
 public:
  CallResult begin() override;
  CallResult call(const Request& request, Reply& reply) override;
  // Every kind except ranges.
  static bool can_do(OpKind kind) { return kind != OpKind::range; }

 protected:
  using Text = std::optional<std::string>;  // nullopt: the key is absent

  // Fetches what the store holds; remembered for the commit. Called once per key and transaction.
  virtual CallResult fetch(const std::string& key, Text& text) = 0;
  // What the transaction will write, by key.
  const std::map<std::string, Text>& writes() const { return writes_; }

 private:
  CallResult look_up(const std::string& key, Text& text);

  std::map<std::string, Text> seen_;
  std::map<std::string, Text> writes_;
};

}  // namespace assay::internal::collect
