#include "model/hyper_parameters.h"

#include <limits>
#include <optional>

#include "base/error.h"
#include "base/quote.h"
#include "model/architecture.h"

namespace rc::model {
namespace {

// Far above every known model; small enough that sizes can be multiplied.
constexpr int64_t kMaxVocabulary = int64_t{1} << 24;
constexpr int64_t kMaxContext = int64_t{1} << 30;
constexpr int64_t kMaxWidth = int64_t{1} << 20;
constexpr int64_t kMaxFeedForward = int64_t{1} << 22;
constexpr int64_t kMaxLayers = 4096;
constexpr int64_t kMaxHeads = 4096;
constexpr int64_t kMaxHeadSize = 4096;
constexpr int64_t kMaxExperts = 4096;
constexpr double kMaxFactor = 1e6;

// Metadata of one architecture: keys without its name, values with limits.
class Metadata {
 public:
  // Adds each name that is looked for to `keys`, which must outlive this.
  Metadata(const gguf::File& file, std::string_view architecture,
           std::vector<std::string>& keys)
      : file_(file), architecture_(architecture), keys_(keys) {}

  std::string key(const char* name) const {
    return cat(architecture_, ".", name);
  }

  std::optional<int64_t> find(const char* name, int64_t low,
                              int64_t high) const {
    keys_.emplace_back(name);
    const std::optional<int64_t> value = file_.find_int(key(name));
    if (value && (*value < low || *value > high)) {
      refuse(name, *value, cat("must be ", low, " to ", high));
    }
    return value;
  }

  int64_t get(const char* name, int64_t low, int64_t high) const {
    const std::optional<int64_t> value = find(name, low, high);
    return value ? *value : file_.get_int(key(name));
  }

  // The comparisons are such that NaN is refused.
  std::optional<float> find_number(const char* name, double low,
                                   double high) const {
    keys_.emplace_back(name);
    const std::optional<double> value = file_.find_float(key(name));
    if (value && !(*value >= low && *value <= high)) {
      refuse(name, *value, cat("must be ", low, " to ", high));
    }
    if (!value) return std::nullopt;
    return static_cast<float>(*value);
  }

  float get_number(const char* name, double low, double high) const {
    const std::optional<float> value = find_number(name, low, high);
    return value ? *value : static_cast<float>(file_.get_float(key(name)));
  }

  // Where 0 in a file stands for its absence.
  std::optional<float> find_positive(const char* name, double low,
                                     double high) const {
    const std::optional<double> value = file_.find_float(key(name));
    keys_.emplace_back(name);
    if (value == 0.0) return std::nullopt;
    return find_number(name, low, high);
  }

  template <class Value>
  [[noreturn]] void refuse(const char* name, const Value& value,
                           const std::string& limit) const {
    fail(RC_E_FORMAT, file_.name(), ": ", key(name), " is ", value, ", but ",
         limit);
  }

  std::optional<std::string_view> find_text(const char* name) const {
    keys_.emplace_back(name);
    return file_.find_string(key(name));
  }

  const gguf::File& file() const { return file_; }

 private:
  const gguf::File& file_;
  std::string_view architecture_;
  std::vector<std::string>& keys_;
};

void read_sizes(const Metadata& metadata, HyperParameters& hyper) {
  hyper.context_length = metadata.get("context_length", 1, kMaxContext);
  hyper.width = metadata.get("embedding_length", 1, kMaxWidth);
  hyper.layers = metadata.get("block_count", 1, kMaxLayers);
  hyper.norm_epsilon =
      metadata.get_number("attention.layer_norm_rms_epsilon", 1e-20, 1.0);
}

// The rows of the embedding table, which an optional key may only confirm.
void read_vocabulary(const Metadata& metadata, const Architecture& architecture,
                     HyperParameters& hyper) {
  const gguf::Tensor* table =
      metadata.file().find_tensor(architecture.names.token_embedding);
  if (table == nullptr || table->shape.empty()) {
    fail(RC_E_FORMAT, metadata.file().name(), ": tensor ",
         architecture.names.token_embedding, " is missing");
  }
  hyper.vocabulary = table->shape[0];
  if (hyper.vocabulary < 1 || hyper.vocabulary > kMaxVocabulary) {
    fail(RC_E_FORMAT, metadata.file().name(), ": tensor ",
         architecture.names.token_embedding, " has ", hyper.vocabulary,
         " rows, but must have 1 to ", kMaxVocabulary);
  }
  const std::optional<int64_t> count =
      metadata.find("vocab_size", 1, kMaxVocabulary);
  if (count && *count != hyper.vocabulary) {
    metadata.refuse("vocab_size", *count,
                    cat(architecture.names.token_embedding, " has ",
                        hyper.vocabulary, " rows"));
  }
}

void read_attention(const Metadata& metadata, const Architecture& architecture,
                    HyperParameters& hyper) {
  hyper.heads = metadata.get("attention.head_count", 1, kMaxHeads);
  hyper.kv_heads = metadata.find("attention.head_count_kv", 1, kMaxHeads)
                       .value_or(hyper.heads);
  if (hyper.heads % hyper.kv_heads != 0) {
    metadata.refuse("attention.head_count_kv", hyper.kv_heads,
                    cat("must divide the ", hyper.heads, " heads"));
  }
  const std::optional<int64_t> key_size =
      metadata.find("attention.key_length", 1, kMaxHeadSize);
  if (!key_size && hyper.width % hyper.heads != 0) {
    metadata.refuse("attention.head_count", hyper.heads,
                    cat("must divide the width of ", hyper.width, " unless ",
                        metadata.key("attention.key_length"), " is given"));
  }
  hyper.key_size = key_size.value_or(hyper.width / hyper.heads);
  if (hyper.key_size > kMaxHeadSize) {
    metadata.refuse("attention.head_count", hyper.heads,
                    cat("heads of ", hyper.key_size,
                        " elements are larger than ", kMaxHeadSize));
  }
  hyper.value_size = metadata.find("attention.value_length", 1, kMaxHeadSize)
                         .value_or(hyper.key_size);
  if (hyper.value_size != hyper.key_size) {
    fail(RC_E_UNSUPPORTED, metadata.file().name(), ": ",
         metadata.key("attention.value_length"), " is ", hyper.value_size,
         ", but only heads whose values are as long as their keys (",
         hyper.key_size, ") can be computed");
  }
  const Defaults& defaults = architecture.defaults;
  hyper.sliding_window =
      metadata.find("attention.sliding_window", 0, kMaxContext)
          .value_or(defaults.sliding_window);
  hyper.attention_softcap =
      metadata.find_number("attn_logit_softcapping", 0.0, kMaxFactor)
          .value_or(defaults.attention_softcap);
  hyper.final_softcap =
      metadata.find_number("final_logit_softcapping", 0.0, kMaxFactor)
          .value_or(defaults.final_softcap);
}

// The scaling's type. Files older than the key for it scale linearly.
RopeScaling read_scaling(const Metadata& metadata) {
  const std::optional<std::string_view> type =
      metadata.find_text("rope.scaling.type");
  if (!type || *type == "linear") return RopeScaling::kLinear;
  if (*type == "none") return RopeScaling::kNone;
  if (*type == "yarn") return RopeScaling::kYarn;
  if (*type == "llama3") return RopeScaling::kLlama3;
  fail(RC_E_UNSUPPORTED, metadata.file().name(), ": ",
       metadata.key("rope.scaling.type"), " is ", quote(*type),
       "; known are none, linear, yarn, llama3");
}

void read_rope(const Metadata& metadata, const Architecture& architecture,
               HyperParameters& hyper) {
  hyper.whole_yarn_pairs = architecture.whole_yarn_pairs;
  hyper.rope_dimensions =
      metadata.find("rope.dimension_count", 2, hyper.key_size)
          .value_or(hyper.key_size);
  if (hyper.rope_dimensions % 2 != 0) {
    metadata.refuse("rope.dimension_count", hyper.rope_dimensions,
                    "must be even");
  }
  hyper.rope_base = metadata.find_number("rope.freq_base", 1.001, 1e15)
                        .value_or(hyper.rope_base);

  hyper.rope_scaling = read_scaling(metadata);
  const std::optional<float> old_factor =
      metadata.find_positive("rope.scale_linear", 1e-3, kMaxFactor);
  hyper.rope_factor =
      metadata.find_positive("rope.scaling.factor", 1e-3, kMaxFactor)
          .value_or(old_factor.value_or(1.0f));
  if (hyper.rope_factor == 1.0f && hyper.rope_scaling == RopeScaling::kLinear) {
    hyper.rope_scaling = RopeScaling::kNone;
  }
  hyper.rope_original_context =
      metadata.find("rope.scaling.original_context_length", 1, kMaxContext)
          .value_or(hyper.context_length);

  const std::optional<float> attention =
      metadata.find_positive("rope.scaling.attn_factor", 1e-3, 1e3);
  hyper.rope_attention_factor =
      metadata.find_positive("rope.scaling.yarn_attn_factor", 1e-3, 1e3)
          .value_or(attention.value_or(1.0f));
  hyper.yarn_beta_fast =
      metadata.find_number("rope.scaling.yarn_beta_fast", 1e-3, kMaxFactor)
          .value_or(hyper.yarn_beta_fast);
  hyper.yarn_beta_slow =
      metadata.find_number("rope.scaling.yarn_beta_slow", 1e-3, kMaxFactor)
          .value_or(hyper.yarn_beta_slow);
  hyper.yarn_extrapolation =
      metadata.find_number("rope.scaling.yarn_ext_factor", 0.0, 1.0)
          .value_or(hyper.yarn_extrapolation);

  hyper.rope_low_frequency =
      metadata.find_number("rope.scaling.low_freq_factor", 1e-3, kMaxFactor)
          .value_or(hyper.rope_low_frequency);
  hyper.rope_high_frequency =
      metadata.find_number("rope.scaling.high_freq_factor", 1e-3, kMaxFactor)
          .value_or(hyper.rope_high_frequency);
  if (hyper.rope_high_frequency <= hyper.rope_low_frequency) {
    metadata.refuse(
        "rope.scaling.high_freq_factor", hyper.rope_high_frequency,
        cat("must be above low_freq_factor, ", hyper.rope_low_frequency));
  }
}

void read_feed_forward(const Metadata& metadata,
                       const Architecture& architecture,
                       HyperParameters& hyper) {
  const bool may_have_experts = architecture.experts != Presence::kNever;
  hyper.experts =
      metadata.find("expert_count", 0, may_have_experts ? kMaxExperts : 0)
          .value_or(0);
  if (architecture.experts == Presence::kAlways && hyper.experts == 0) {
    metadata.refuse("expert_count", hyper.experts, "must be at least 1");
  }
  if (hyper.experts == 0) {
    hyper.feed_forward =
        metadata.get("feed_forward_length", 1, kMaxFeedForward);
    return;
  }
  hyper.experts_used = metadata.get("expert_used_count", 1, hyper.experts);
  hyper.expert_feed_forward =
      metadata.find("expert_feed_forward_length", 1, kMaxFeedForward)
          .value_or(0);
  if (hyper.expert_feed_forward == 0) {
    hyper.expert_feed_forward =
        metadata.get("feed_forward_length", 1, kMaxFeedForward);
  }
  hyper.feed_forward = metadata.find("feed_forward_length", 0, kMaxFeedForward)
                           .value_or(hyper.expert_feed_forward);
}

}  // namespace

HyperParameters read_hyper_parameters(const gguf::File& file,
                                      const Architecture& architecture) {
  HyperParameters hyper;
  const Metadata metadata(file, architecture.name, hyper.keys);
  hyper.architecture = architecture.name;
  hyper.name = file.find_string("general.name").value_or("");
  read_sizes(metadata, hyper);
  read_vocabulary(metadata, architecture, hyper);
  read_attention(metadata, architecture, hyper);
  read_rope(metadata, architecture, hyper);
  read_feed_forward(metadata, architecture, hyper);
  return hyper;
}

}  // namespace rc::model
