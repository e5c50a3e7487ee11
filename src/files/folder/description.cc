#include "files/folder/description.h"

#include <algorithm>
#include <limits>
#include <memory>

namespace rc::folder {
namespace {

// Far above every known model; the engine's own limits are below.
constexpr int64_t kMostLayers = 65536;

// The subject of a refusal; objects within config.json have no type.
std::string computed_models(const Config& config) {
  const auto type = config.find_text("model_type");
  return type ? cat("models of type ", *type) : "models of this type";
}

void copy_int(Description& model, std::string_view from, const char* to) {
  model.add_int(to, model.config().get_int(from));
}

}  // namespace

std::string Description::path(const std::string& key) const {
  return cat(architecture_, ".", key);
}

void Description::add_int(const std::string& key, int64_t value) {
  if (value < 0 || value > std::numeric_limits<int32_t>::max()) {
    fail(RC_E_FORMAT, config_.file(), ": ", path(key), " would be ", value,
         "; 0 to 2^31-1 are possible");
  }
  writer_.add(path(key), static_cast<uint32_t>(value));
}

void Description::add_number(const std::string& key, double value) {
  writer_.add(path(key), static_cast<float>(value));
}

void Description::add_flag(const std::string& key, bool value) {
  writer_.add(path(key), value);
}

void Description::add_text(const std::string& key, std::string_view value) {
  writer_.add(path(key), value);
}

void Description::add_ints(const std::string& key,
                           const std::vector<int64_t>& values) {
  std::vector<int32_t> numbers;
  for (const int64_t value : values) {
    if (value < 0 || value > std::numeric_limits<int32_t>::max()) {
      fail(RC_E_FORMAT, config_.file(), ": ", path(key), " would hold ", value,
           "; 0 to 2^31-1 are possible");
    }
    numbers.push_back(static_cast<int32_t>(value));
  }
  writer_.add_array(path(key), numbers);
}

void Description::add_numbers(const std::string& key,
                              const std::vector<float>& values) {
  writer_.add_array(key, values);
}

void Description::add_flags(const std::string& key,
                            const std::vector<bool>& values) {
  // A vector of bool is no range of bytes.
  const auto flags = std::make_unique<bool[]>(values.size());
  std::copy(values.begin(), values.end(), flags.get());
  writer_.add_array(path(key), std::span(flags.get(), values.size()));
}

void Description::add_tensor(std::string name, std::vector<float> values) {
  TensorView view;
  view.name = std::move(name);
  view.shape = {static_cast<int64_t>(values.size())};
  view.made = std::move(values);
  tensors_.push_back(std::move(view));
}

int64_t head_size(const Config& config) {
  if (const auto size = config.find_int("head_dim")) return *size;
  const int64_t width = config.get_int("hidden_size");
  const int64_t heads = config.get_int("num_attention_heads");
  if (heads < 1 || width < 1 || width % heads != 0) {
    config.refuse(RC_E_FORMAT, "num_attention_heads", " is ", heads,
                  ", which does not divide hidden_size, ", width);
  }
  return width / heads;
}

int64_t layer_count(const Config& config) {
  const int64_t layers = config.get_int("num_hidden_layers");
  if (layers < 1 || layers > kMostLayers) {
    config.refuse(RC_E_FORMAT, "num_hidden_layers", " is ", layers, "; 1 to ",
                  kMostLayers, " are possible");
  }
  return layers;
}

void add_decoder_sizes(Description& model, const DecoderKeys& keys) {
  const Config& config = model.config();
  model.add_int("block_count", layer_count(config));
  copy_int(model, "max_position_embeddings", "context_length");
  copy_int(model, "hidden_size", "embedding_length");
  if (!keys.feed_forward.empty()) {
    copy_int(model, keys.feed_forward, "feed_forward_length");
  }
  const int64_t heads = config.get_int("num_attention_heads");
  model.add_int("attention.head_count", heads);
  if (keys.layer_norm.empty()) {
    model.add_number("attention.layer_norm_rms_epsilon",
                     config.get_number("rms_norm_eps"));
  } else {
    model.add_number("attention.layer_norm_epsilon",
                     config.get_number(keys.layer_norm));
  }
  const int64_t size = keys.head_size > 0 ? keys.head_size : head_size(config);
  model.add_int("attention.key_length", size);
  model.add_int(
      "attention.value_length",
      keys.value_size.empty() ? size : config.get_int(keys.value_size));
  copy_int(model, "vocab_size", "vocab_size");
}

void add_decoder(Description& model, const DecoderKeys& keys) {
  add_decoder_sizes(model, keys);
  const Config& config = model.config();
  model.add_int("attention.head_count_kv",
                config.find_int("num_key_value_heads")
                    .value_or(config.get_int("num_attention_heads")));
  add_rope(model, keys);
}

void add_window(Description& model) {
  if (const auto window = model.config().find_int("sliding_window")) {
    model.add_int("attention.sliding_window", *window);
  }
}

std::optional<std::vector<bool>> find_full_layers(const Config& config,
                                                  std::string_view other) {
  constexpr std::string_view kTypes = "layer_types";
  constexpr std::string_view kFull = "full_attention";
  const auto types = config.find_texts(kTypes);
  if (!types) return std::nullopt;
  std::vector<bool> full;
  for (const std::string& type : *types) {
    full.push_back(type == kFull);
    if (full.back() || type == other) continue;
    config.refuse(RC_E_UNSUPPORTED, kTypes, " holds ", quote(type),
                  "; known are ", kFull, ", ", other);
  }
  return full;
}

void expect_layer_members(const Config& config, std::string_view key,
                          size_t count) {
  const int64_t layers = layer_count(config);
  if (static_cast<int64_t>(count) == layers) return;
  config.refuse(RC_E_FORMAT, key, " has ", count, " members for ", layers,
                " layers");
}

void add_window_layers(Description& model) {
  auto layers = find_full_layers(model.config(), "sliding_attention");
  if (layers) {
    layers->flip();
    return model.add_flags("attention.sliding_window_pattern", *layers);
  }
  if (const auto period = model.config().find_int("sliding_window_pattern")) {
    model.add_int("attention.sliding_window_pattern", *period);
  }
}

int64_t first_int(const Config& config, std::string_view key,
                  std::string_view other) {
  const auto given = config.find_int(key);
  return given ? *given : config.get_int(other);
}

void expect_text(const Config& config, std::string_view key,
                 std::initializer_list<std::string_view> known) {
  const auto value = config.find_text(key);
  if (!value || std::ranges::find(known, *value) != known.end()) return;
  std::string list;
  for (const std::string_view text : known) {
    list += cat(list.empty() ? "" : ", ", text);
  }
  config.refuse(RC_E_UNSUPPORTED, key, " is ", quote(*value), "; ",
                computed_models(config), " are computed with ", list);
}

void add_activation(Description& model, std::string_view key,
                    std::initializer_list<std::string_view> usual) {
  // Names of transformers, and of GGUF's hidden_activation.
  constexpr std::pair<std::string_view, std::string_view> kFunctions[] = {
      {"gelu", "gelu"},
      {"gelu_python", "gelu"},
      {"gelu_new", "gelu_pytorch_tanh"},
      {"gelu_fast", "gelu_pytorch_tanh"},
      {"gelu_pytorch_tanh", "gelu_pytorch_tanh"},
      {"gelu_accurate", "gelu_pytorch_tanh"},
      {"relu", "relu"},
      {"relu2", "relu2"},
      {"silu", "silu"},
      {"swish", "silu"},
  };
  const Config& config = model.config();
  const auto name = config.find_text(key);
  if (!name || std::ranges::find(usual, *name) != usual.end()) return;
  for (const auto& [from, to] : kFunctions) {
    if (*name == from) return model.add_text("hidden_activation", to);
  }
  config.refuse(
      RC_E_UNSUPPORTED, key, " is ", quote(*name), "; ",
      computed_models(config),
      " are computed with gelu, gelu_pytorch_tanh, relu, relu2 or silu");
}

void expect_number(const Config& config, std::string_view key, double value) {
  const auto given = config.find_number(key);
  if (!given || *given == value) return;
  config.refuse(RC_E_UNSUPPORTED, key, " is ", *given, "; ",
                computed_models(config), " are computed with ", value);
}

void expect_flag(const Config& config, std::string_view key, bool value) {
  const auto given = config.find_flag(key);
  if (!given || *given == value) return;
  config.refuse(RC_E_UNSUPPORTED, key, " is ", *given ? "true" : "false", "; ",
                computed_models(config), " are computed with ",
                value ? "true" : "false");
}

void expect_none(const Config& config, std::string_view key) {
  if (config.find(key) == nullptr) return;
  config.refuse(RC_E_UNSUPPORTED, key, " is not null; ",
                computed_models(config), " are computed without it");
}

void expect_no_window(const Config& config) {
  if (const auto types = config.find_texts("layer_types")) {
    for (const std::string& type : *types) {
      if (type == "full_attention") continue;
      config.refuse(RC_E_UNSUPPORTED, "layer_types", " holds ", quote(type),
                    "; layers of ", computed_models(config),
                    " are computed with full_attention");
    }
    return;
  }
  // Those before max_window_layers see all.
  if (config.find_flag("use_sliding_window").value_or(false) &&
      config.find_int("max_window_layers").value_or(0) < layer_count(config)) {
    config.refuse(RC_E_UNSUPPORTED, "use_sliding_window", " is true; ",
                  computed_models(config), " are computed without windows");
  }
}

}  // namespace rc::folder
