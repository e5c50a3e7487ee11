#include "model/xielu_parameters.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"

namespace rc::model {
namespace {

// ln(1 + exp(x)): what is learned is its argument.
double softplus(double x) {
  return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
}

// Of each layer: the numbers of a key that is not of one architecture.
std::vector<float> read_each(const gguf::File& file, const char* key,
                             int64_t layers) {
  constexpr float kMost = 1e3f;
  const gguf::Entry* entry = file.find(key);
  std::vector<float> values;
  if (entry != nullptr && entry->type == gguf::ValueType::kArray) {
    values = *file.find_floats(key);
  } else {
    values.assign(static_cast<size_t>(layers),
                  static_cast<float>(file.get_float(key)));
  }
  if (values.size() != static_cast<size_t>(layers)) {
    fail(RC_E_FORMAT, file.name(), ": ", key, " is an array of ", values.size(),
         ", but there are ", layers, " layers");
  }
  for (const float value : values) {
    if (!(std::abs(value) <= kMost)) {
      fail(RC_E_FORMAT, file.name(), ": ", key, " holds ", value,
           ", but must be ", -kMost, " to ", kMost);
    }
  }
  return values;
}

}  // namespace

void read_xielu(const gguf::File& file, HyperParameters& hyper) {
  const auto read = [&](const char* key) {
    return read_each(file, key, hyper.layer_count());
  };
  const std::vector<float> alpha_p = read("xielu.alpha_p");
  const std::vector<float> alpha_n = read("xielu.alpha_n");
  const std::vector<float> beta = read("xielu.beta");
  const std::vector<float> epsilon = read("xielu.eps");
  for (size_t i = 0; i < hyper.layers.size(); ++i) {
    hyper.layers[i].xielu = {static_cast<float>(softplus(alpha_p[i])),
                             static_cast<float>(beta[i] + softplus(alpha_n[i])),
                             beta[i], epsilon[i]};
  }
}

}  // namespace rc::model
