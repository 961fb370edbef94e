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

// Detects compression by the first bytes of a file.
Compression detect_compression(std::string_view head);
// The compression that the ending of a path stands for.
Compression compression_of_path(std::string_view path);

// `head` is what has already been read from `source`.
std::unique_ptr<ByteSource> decompress(Compression kind, std::unique_ptr<ByteSource> source,
                                       std::string head);
std::unique_ptr<ByteSink> compress(Compression kind, std::unique_ptr<ByteSink> sink);
// Appends all of `text` as a separate frame (zstd) or member (gzip): it can be read without later
// ones.
Status compress_frame(Compression kind, std::string_view text, std::string& to);

}  // namespace assay::internal::formats
