#include "files/quantize/weights.h"

#include "base/error.h"
#include "base/quote.h"

namespace rc::quantize {
namespace {

// The weight of columns that were never used, as a share of the mean: not 0, as
// another text may use them.
constexpr double kUnused = 1e-5;

void lift_zeros(std::span<float> row) {
  double total = 0;
  for (const float value : row) total += static_cast<double>(value);
  const double mean = total / static_cast<double>(row.size());
  for (float& value : row) {
    // Weights matter by their ratios only.
    value =
        mean > 0
            ? static_cast<float>(static_cast<double>(value) / mean + kUnused)
            : 1.0f;
  }
}

}  // namespace

Weights::Weights(const importance::Importance& importance,
                 const gguf::File& file) {
  for (const gguf::Tensor& tensor : file.tensors()) {
    const auto found = importance.values.find(tensor.name);
    if (found == importance.values.end() || tensor.shape.size() < 2) continue;
    const auto columns = static_cast<uint64_t>(tensor.shape.back());
    uint64_t experts = 1;
    for (size_t i = 0; i + 2 < tensor.shape.size(); ++i) {
      experts *= static_cast<uint64_t>(tensor.shape[i]);
    }
    const size_t size = found->second.size();
    if (size != columns && size != experts * columns) {
      fail(RC_E_FORMAT, importance.file, ": the importance of ",
           quote(tensor.name), " has ", size, " values; the tensor in ",
           file.name(), " has ", columns, " columns and ", experts,
           " experts: it is of another model");
    }
    std::vector<float> values = found->second;
    for (size_t first = 0; first < size; first += columns) {
      lift_zeros(std::span(values).subspan(first, columns));
    }
    values_.emplace(tensor.name, std::move(values));
  }
  if (values_.empty()) {
    fail(RC_E_FORMAT, importance.file,
         ": it has the importance of no tensor of ", file.name(),
         ": it is of another model");
  }
}

std::span<const float> Weights::of(std::string_view tensor) const {
  const auto found = values_.find(tensor);
  if (found == values_.end()) return {};
  return found->second;
}

}  // namespace rc::quantize
