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
  float rope_attention_factor = 0.0f;  // 0: by the scaling's own formula

  int64_t sliding_window = 0;       // 0: none
  float attention_softcap = 0.0f;   // 0: none
  float final_softcap = 0.0f;       // 0: none
  int64_t experts = 0;              // 0: dense
  int64_t experts_used = 0;
  int64_t expert_feed_forward = 0;
};

// Reads and checks. Throws RC_E_FORMAT naming file, key, value and limit.
HyperParameters read_hyper_parameters(const gguf::File& file);

}  // namespace rc::model
