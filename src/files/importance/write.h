// Importance: how much the columns of a model's weights are used, as GGUF files
// of the type "imatrix" hold it (llama.cpp's layout since July 2025). For each
// tensor NAME there are
//
//   NAME.in_sum2  F32 [width], or [experts, width]: sums of squared inputs
//   NAME.counts   F32 [1], or [experts, 1]: of how many rows these are sums
//
// and in the metadata imatrix.datasets (names of the texts),
// imatrix.chunk_count and imatrix.chunk_size (tokens).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rc {

struct ImportanceOfTensor {
  std::string tensor;
  int64_t width = 0;
  int64_t experts = 0;        // 0: none
  std::vector<float> sums;    // [width], or [experts, width]
  std::vector<float> counts;  // [1], or [experts]
};

struct ImportanceData {
  std::vector<std::string> datasets;
  uint32_t chunk_count = 0;
  uint32_t chunk_size = 0;
  std::vector<ImportanceOfTensor> tensors;
};

// Writes the file under a temporary name and renames it; a file of that name is
// replaced when the new one is complete. Throws what gguf::Writer throws.
void write_importance(const ImportanceData& data, const std::string& path);

}  // namespace rc
