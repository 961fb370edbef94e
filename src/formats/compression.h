// gzip and zstd, as byte sources and sinks that wrap others.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "assay/result.h"
#include "formats/input.h"
#include "formats/output.h"

namespace assay::internal::formats {

enum class Compression : uint8_t { none, gzip, zstd };

// By the first bytes of a file.
Compression detect_compression(std::string_view head);
// By the ending of a path.
Compression compression_of_path(std::string_view path);

// `head` is what has been read of `source` already.
std::unique_ptr<ByteSource> decompress(Compression kind, std::unique_ptr<ByteSource> source,
                                       std::string head);
std::unique_ptr<ByteSink> compress(Compression kind, std::unique_ptr<ByteSink> sink);
// Appends all of `text` as a separate frame (zstd) or member (gzip): it can be read without later
// ones.
Status compress_frame(Compression kind, std::string_view text, std::string& to);

}  // namespace assay::internal::formats
