// The numbers of a model, read from the metadata of its file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gguf/file.h"

namespace rc::model {

enum class RopeScaling { kNone, kLinear, kYarn, kLlama3 };

struct HyperParameters {
  std::string architecture;  // "llama"
  std::string name;          // general.name, or ""
  int64_t vocabulary = 0;
  int64_t context_length = 0;  // that the model was trained for
  int64_t width = 0;           // embedding length
  int64_t layers = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
  int64_t key_size = 0;    // of one head
  int64_t value_size = 0;  // of one head
  int64_t feed_forward = 0;
  float norm_epsilon = 0;

  int64_t rope_dimensions = 0;
  float rope_base = 10000.0f;
  RopeScaling rope_scaling = RopeScaling::kNone;
  float rope_factor = 1.0f;
  int64_t rope_original_context = 0;
  float yarn_beta_fast = 32.0f;
  float yarn_beta_slow = 1.0f;
  float yarn_extrapolation = 1.0f;  // share of the unscaled angles where kept
  bool whole_yarn_pairs = true;
  float rope_low_frequency = 1.0f;  // of llama3, in turns per original context
  float rope_high_frequency = 4.0f;
  // Multiplies cosine and sine, in addition to the factor of yarn's own
  // formula.
  float rope_attention_factor = 1.0f;

  int64_t sliding_window = 0;      // 0: none
  float attention_softcap = 0.0f;  // 0: none
  float final_softcap = 0.0f;      // 0: none
  int64_t experts = 0;             // 0: dense
  int64_t experts_used = 0;
  int64_t expert_feed_forward = 0;

  // The keys that were looked for, without the architecture's name.
  std::vector<std::string> keys;
};

struct Architecture;

// Reads and checks: every number is in a range in which products of any four of
// them, and of their caches' sizes, fit 63 bits. Throws RC_E_FORMAT naming
// file, key, value and limit; RC_E_UNSUPPORTED for what no backend computes.
HyperParameters read_hyper_parameters(const gguf::File& file,
                                      const Architecture& architecture);

}  // namespace rc::model
