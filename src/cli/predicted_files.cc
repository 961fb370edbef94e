#include "cli/predicted_files.h"

#include <array>
#include <filesystem>

#include "assay/format.h"
#include "cli/console.h"

namespace assay::internal::cli {

namespace fs = std::filesystem;

Result<std::string> PredictedFiles::certificate(const std::string& name,
                                                const certify::Predictions& predictions,
                                                const History& recorded) const {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed) return io_error(failed.message(), folder);
  const std::string file = (fs::path(folder) / (name + ".cert.json")).string();
  if (Status spared = spare_inputs(std::array{file}, inputs); !spared.ok()) return spared.error();
  const Status written = write_file(file, certify::write_predictions(predictions, recorded));
  return written.ok() ? Result<std::string>(file) : written.error();
}

Result<std::string> PredictedFiles::history(const std::string& name,
                                            const History& predicted) const {
  const std::string file = (fs::path(folder) / (name + ".jsonl")).string();
  if (Status spared = spare_inputs(std::array{file}, inputs); !spared.ok()) return spared.error();
  const auto lost = write_history(predicted, file, "assay");
  return lost.ok() ? Result<std::string>(file) : lost.error();
}

}  // namespace assay::internal::cli
