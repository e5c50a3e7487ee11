#include "model/rope_weights.h"

#include <utility>

#include "base/error.h"
#include "model/rope.h"
#include "model/rotation.h"
#include "tensor/dtype.h"

namespace rc::model {
namespace {

// Divisors of the rotary frequencies; empty if the file has none. Where layers
// that see all rotate half of a head, files have as many as for whole heads.
std::vector<float> read_rope_factors(const gguf::File& file, const char* name,
                                     const Architecture& architecture,
                                     const HyperParameters& hyper) {
  const gguf::Tensor* tensor = file.find_tensor(name);
  if (tensor == nullptr) return {};
  const int64_t pairs = hyper.ropes[0].dimensions / 2;
  const int64_t count =
      architecture.rotary.half_without_window ? 2 * pairs : pairs;
  if (tensor->dtype != RC_DTYPE_F32 ||
      tensor->shape != std::vector<int64_t>{count}) {
    fail(RC_E_FORMAT, file.name(), ": tensor ", name, " must be F32 [", count,
         "], one factor per pair of rotary dimensions");
  }
  std::vector<float> factors(static_cast<size_t>(pairs));
  decode_row(tensor->dtype, file.read(*tensor).data(), factors.data(), pairs);
  for (const float factor : factors) {
    // So large they stand for pairs that do not turn.
    if (!(factor >= 1e-6f && factor <= 1e30f)) {
      fail(RC_E_FORMAT, file.name(), ": tensor ", name, " holds ", factor,
           ", but factors must be 1e-6 to 1e30");
    }
  }
  return factors;
}

}  // namespace

std::string rope_weight_name(size_t number) {
  return number == 0 ? "(rotary frequencies)"
                     : cat("(rotary frequencies ", number, ")");
}

int64_t short_context(const gguf::File& file, const Architecture& architecture,
                      const HyperParameters& hyper, const CacheLayout& layout) {
  if (!architecture.rotary.long_factors || hyper.ropes.empty() ||
      file.find_tensor(architecture.names.long_rope_factors) == nullptr) {
    return 0;
  }
  const int64_t original = hyper.ropes[0].original_context;
  return layout.pages_per_sequence * layout.page_size > original ? original : 0;
}

std::vector<float> make_ropes(const gguf::File& file,
                              const Architecture& architecture,
                              const HyperParameters& hyper, MadeWeights& made) {
  const TensorNames& names = architecture.names;
  const std::vector<RopeParameters>& ropes = hyper.ropes;
  std::vector<float> scales;
  for (size_t i = 0; i < ropes.size(); ++i) {
    std::vector<float> factors;
    if (i == 0 && architecture.rotary.factors != Presence::kNever) {
      factors =
          read_rope_factors(file, names.rope_factors, architecture, hyper);
    }
    if (i == 0 && architecture.rotary.long_factors) {
      factors = read_rope_factors(file, names.short_rope_factors, architecture,
                                  hyper);
      const auto longer =
          read_rope_factors(file, names.long_rope_factors, architecture, hyper);
      if (factors.empty() != longer.empty()) {
        fail(RC_E_FORMAT, file.name(), ": it has only one of the tensors ",
             names.short_rope_factors, " and ", names.long_rope_factors);
      }
      if (!longer.empty()) {
        made.emplace(kLongRopeWeight, make_rope(ropes[i], longer).frequencies);
        made.emplace(kRotationChoiceWeight,
                     std::vector<float>{1.0f, 0.0f, 0.0f, 1.0f});
      }
    }
    Rope rope = make_rope(ropes[i], factors);
    scales.push_back(rope.scale);
    made.emplace(rope_weight_name(i), std::move(rope.frequencies));
  }
  return scales;
}

}  // namespace rc::model
