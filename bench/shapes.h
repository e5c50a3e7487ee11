// Shapes of published models, for files with random weights.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rc::bench {

enum class Vocabulary { kSentencePiece, kByteLevelBpe };

struct Shape {
  const char* name;
  const char* architecture;
  int64_t context_length;
  int64_t width;
  int64_t layers;
  int64_t heads;
  int64_t kv_heads;
  int64_t head_size;
  int64_t feed_forward;  // of one expert, if there are any
  int64_t experts;       // 0: dense
  int64_t experts_used;
  float rope_base;
  float norm_epsilon;
  bool tied;         // the embedding table is the output weight too
  bool qkv_biases;   // as Qwen 2 has
  bool qk_norms;     // as Qwen 3 has
  bool write_sizes;  // key_length and value_length are not width / heads
  Vocabulary vocabulary;
  const char* pre_tokenizer;
  int64_t tokens;
  int64_t control_tokens;  // of these, at the end of a byte-level vocabulary
};

std::span<const Shape> shapes();

// nullptr if there is none of that name.
const Shape* find_shape(std::string_view name);

}  // namespace rc::bench
