// Writes a model of a real shape with random weights. The speed of an engine
// does not depend on their values; what they generate is noise.
//
//   write_model --shape tinyllama-1.1b --type Q4_K_M [--layers N] OUT.gguf
//
// Prints JSON: "file_bytes", and what the limits of a machine are computed
// from: "bytes_per_token" (of matrices that decoding one token reads),
// "weights_per_token" (their elements) and "output_weights" (of these, those
// that turn the last state into logits).

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/error.h"
#include "files/gguf/writer.h"
#include "mix.h"
#include "random_weights.h"
#include "shapes.h"
#include "vocabulary.h"

namespace rc::bench {
namespace {

class ModelWriter {
 public:
  ModelWriter(const Shape& shape, const Mix& mix) : shape_(shape), mix_(mix) {}

  void write(const std::string& path) {
    add_metadata();
    add_vocabulary(shape_, &writer_);
    add_matrix("token_embd.weight", Role::kEmbedding, 0,
               {shape_.tokens, shape_.width}, 1.0f);
    for (int64_t layer = 0; layer < shape_.layers; ++layer) add_layer(layer);
    add_vector("output_norm.weight", shape_.width, 1.0f, 0.1f);
    if (!shape_.tied) {
      add_matrix("output.weight", Role::kOutput, 0,
                 {shape_.tokens, shape_.width}, deviation(shape_.width));
    }
    writer_.write_file(path);
  }

  void describe() const {
    std::printf("{\"shape\": \"%s\", \"type\": \"%s\", \"layers\": %" PRId64
                ", \"file_bytes\": %" PRIu64
                ", \"bytes_per_token\": %.0f, \"weights_per_token\": %.0f"
                ", \"output_weights\": %" PRId64 "}\n",
                shape_.name, mix_.name, shape_.layers, writer_.size(),
                bytes_per_token_, weights_per_token_,
                shape_.tokens * shape_.width);
  }

 private:
  // Products with rows of this deviation keep the size of their input.
  static float deviation(int64_t columns) {
    return 1.0f / std::sqrt(static_cast<float>(columns));
  }

  void add_metadata() {
    const std::string prefix = std::string(shape_.architecture) + ".";
    const auto add = [&](const char* key, int64_t value) {
      writer_.add(prefix + key, static_cast<uint32_t>(value));
    };
    writer_.add("general.architecture", shape_.architecture);
    writer_.add("general.type", "model");
    writer_.add("general.name",
                std::string("random weights, shape ") + shape_.name);
    writer_.add("general.file_type", mix_.file_type);
    writer_.add("general.quantization_version", uint32_t{2});
    add("block_count", shape_.layers);
    add("context_length", shape_.context_length);
    add("embedding_length", shape_.width);
    add("feed_forward_length", shape_.feed_forward);
    add("attention.head_count", shape_.heads);
    add("attention.head_count_kv", shape_.kv_heads);
    add("vocab_size", shape_.tokens);
    if (shape_.write_sizes) {
      add("attention.key_length", shape_.head_size);
      add("attention.value_length", shape_.head_size);
    }
    if (std::string_view(shape_.architecture) == "llama") {
      add("rope.dimension_count", shape_.head_size);
    }
    if (shape_.experts > 0) {
      add("expert_count", shape_.experts);
      add("expert_used_count", shape_.experts_used);
    }
    writer_.add(prefix + "attention.layer_norm_rms_epsilon",
                shape_.norm_epsilon);
    writer_.add(prefix + "rope.freq_base", shape_.rope_base);
  }

  void add_layer(int64_t layer) {
    const std::string block = "blk." + std::to_string(layer) + ".";
    const int64_t width = shape_.width;
    const int64_t query = shape_.heads * shape_.head_size;
    const int64_t key = shape_.kv_heads * shape_.head_size;
    add_vector(block + "attn_norm.weight", width, 1.0f, 0.1f);
    add_matrix(block + "attn_q.weight", Role::kQuery, layer, {query, width},
               deviation(width));
    add_matrix(block + "attn_k.weight", Role::kKey, layer, {key, width},
               deviation(width));
    add_matrix(block + "attn_v.weight", Role::kValue, layer, {key, width},
               deviation(width));
    if (shape_.qkv_biases) {
      add_vector(block + "attn_q.bias", query, 0.0f, 0.1f);
      add_vector(block + "attn_k.bias", key, 0.0f, 0.1f);
      add_vector(block + "attn_v.bias", key, 0.0f, 0.1f);
    }
    if (shape_.qk_norms) {
      add_vector(block + "attn_q_norm.weight", shape_.head_size, 1.0f, 0.1f);
      add_vector(block + "attn_k_norm.weight", shape_.head_size, 1.0f, 0.1f);
    }
    add_matrix(block + "attn_output.weight", Role::kAttentionOutput, layer,
               {width, query}, deviation(query));
    add_vector(block + "ffn_norm.weight", width, 1.0f, 0.1f);
    add_feed_forward(layer, block);
  }

  void add_feed_forward(int64_t layer, const std::string& block) {
    const int64_t width = shape_.width;
    std::vector<int64_t> inward = {shape_.feed_forward, width};
    std::vector<int64_t> outward = {width, shape_.feed_forward};
    std::string kind = ".weight";
    if (shape_.experts > 0) {
      // Routers stay F32 in every mix.
      writer_.add_tensor(block + "ffn_gate_inp.weight", RC_DTYPE_F32,
                         std::vector<int64_t>{shape_.experts, width},
                         weights_.matrix(RC_DTYPE_F32, shape_.experts, width,
                                         deviation(width)));
      inward.insert(inward.begin(), shape_.experts);
      outward.insert(outward.begin(), shape_.experts);
      kind = "_exps.weight";
    }
    add_matrix(block + "ffn_gate" + kind, Role::kGate, layer, inward,
               deviation(width));
    add_matrix(block + "ffn_up" + kind, Role::kUp, layer, inward,
               deviation(width));
    add_matrix(block + "ffn_down" + kind, Role::kDown, layer, outward,
               deviation(shape_.feed_forward));
  }

  void add_matrix(const std::string& name, Role role, int64_t layer,
                  const std::vector<int64_t>& shape, float deviation) {
    const int64_t columns = shape.back();
    int64_t rows = 1;
    for (size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
    const DType dtype = matrix_type(mix_, shape_, role, layer, columns);
    // One row of the embedding table is nothing, unless it is the output too.
    if (role != Role::kEmbedding || shape_.tied) {
      const double used = shape.size() < 3
                              ? 1.0
                              : static_cast<double>(shape_.experts_used) /
                                    static_cast<double>(shape_.experts);
      bytes_per_token_ +=
          used * static_cast<double>(rows) *
          static_cast<double>(row_bytes(dtype, columns).value());
      weights_per_token_ += used * static_cast<double>(rows * columns);
    }
    writer_.add_tensor(name, dtype, shape,
                       weights_.matrix(dtype, rows, columns, deviation));
  }

  // F32 in every mix.
  void add_vector(const std::string& name, int64_t size, float mean,
                  float deviation) {
    std::vector<float> values(static_cast<size_t>(size));
    for (float& value : values) value = mean + deviation * random_.normal();
    writer_.add_tensor(
        name, RC_DTYPE_F32, std::vector<int64_t>{size},
        [values = std::move(values)](const gguf::Writer::Put& put) {
          put(std::as_bytes(std::span(values)));
        });
  }

  const Shape& shape_;
  const Mix& mix_;
  gguf::Writer writer_;
  RandomWeights weights_;
  Random random_{0};
  double bytes_per_token_ = 0;
  double weights_per_token_ = 0;
};

int usage() {
  std::fprintf(stderr,
               "usage: write_model --shape SHAPE --type TYPE [--layers N] "
               "OUT.gguf\nshapes:");
  for (const Shape& shape : shapes()) std::fprintf(stderr, " %s", shape.name);
  std::fprintf(stderr, "\ntypes:");
  for (const Mix& mix : mixes()) std::fprintf(stderr, " %s", mix.name);
  std::fprintf(stderr, "\n");
  return 2;
}

int run(int argc, char** argv) {
  const Shape* shape = nullptr;
  const Mix* mix = nullptr;
  const char* path = nullptr;
  int64_t layers = 0;
  for (int i = 1; i < argc; ++i) {
    const char* value = i + 1 < argc ? argv[i + 1] : "";
    if (std::strcmp(argv[i], "--shape") == 0) {
      shape = find_shape(value);
      ++i;
    } else if (std::strcmp(argv[i], "--type") == 0) {
      mix = find_mix(value);
      ++i;
    } else if (std::strcmp(argv[i], "--layers") == 0) {
      layers = std::atoll(value);
      if (layers <= 0) return usage();
      ++i;
    } else if (argv[i][0] == '-' || path != nullptr) {
      return usage();
    } else {
      path = argv[i];
    }
  }
  if (shape == nullptr || mix == nullptr || path == nullptr) return usage();
  Shape chosen = *shape;
  if (layers > 0) chosen.layers = layers;
  try {
    ModelWriter model(chosen, *mix);
    model.write(path);
    model.describe();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "write_model: %s\n", error.what());
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace rc::bench

int main(int argc, char** argv) { return rc::bench::run(argc, argv); }
