// A chain of certificates in a file that grows during a watch.
#pragma once

#include <cstdint>
#include <string>

#include "assay/result.h"
#include "watch/verified_chain.h"

namespace assay::internal::cli {

class GrowingChain : public watch::ChainSink {
 public:
  explicit GrowingChain(std::string path) : path_(std::move(path)) {}
  GrowingChain(const GrowingChain&) = delete;
  GrowingChain& operator=(const GrowingChain&) = delete;
  ~GrowingChain() override;

  // Continues after the first `size` bytes of the file; the rest is removed.
  Status open(uint64_t size);
  // The line is in the file when write() returns.
  Status write(const std::string& line) override;
  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }

 private:
  Error failure() const;

  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

}  // namespace assay::internal::cli
