#include "model/metadata.h"

namespace rc::model {

std::optional<std::vector<int64_t>> Metadata::find_each(const char* name,
                                                        int64_t low,
                                                        int64_t high,
                                                        int64_t layers) const {
  const gguf::Entry* entry = file_.find(key(name));
  if (entry == nullptr || entry->type != gguf::ValueType::kArray) {
    const std::optional<int64_t> value = find(name, low, high);
    if (!value) return std::nullopt;
    return std::vector<int64_t>(static_cast<size_t>(layers), *value);
  }
  keys_.emplace_back(name);
  std::vector<int64_t> values = *file_.find_ints(key(name));
  if (values.size() == static_cast<size_t>(layers + guessing_layers_)) {
    values.resize(static_cast<size_t>(layers));
  }
  if (values.size() != static_cast<size_t>(layers)) {
    refuse(name, cat("an array of ", values.size()),
           cat("there are ", layers, " layers"));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] < low || values[i] > high) {
      refuse(name, cat(values[i], " in layer ", i),
             cat("must be ", low, " to ", high));
    }
  }
  return values;
}

std::vector<int64_t> Metadata::get_each(const char* name, int64_t low,
                                        int64_t high, int64_t layers) const {
  auto values = find_each(name, low, high, layers);
  if (values) return *std::move(values);
  return std::vector<int64_t>(static_cast<size_t>(layers),
                              file_.get_int(key(name)));
}

}  // namespace rc::model
