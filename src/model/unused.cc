#include "model/unused.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <unordered_set>
#include <vector>

#include "base/error.h"
#include "base/log.h"
#include "base/quote.h"
#include "model/relative_bias.h"
#include "model/unread_keys.h"
#include "model/weight_name.h"

namespace rc::model {
namespace {

struct Ignored {
  std::string_view name;  // a '*' at its end stands for anything
  const char* reason;
};

// Keys that change nothing.
constexpr Ignored kIgnoredKeys[] = {
    {"general.*", "says what the file is and where it comes from"},
    {"tokenizer.chat_template*", "the caller writes the text of a chat"},
    {"tokenizer.huggingface.json", "read in place of tokenizer.ggml.*"},
    {"tokenizer.ggml.token_type_count", "of segments; a text is one"},
    {"tokenizer.ggml.add_sep_token", "pairs of texts are not joined here"},
    {"tokenizer.ggml.padding_token_id", "batches are not padded"},
    {"tokenizer.ggml.mask_token_id", "nothing is masked"},
    {"tokenizer.ggml.fim_*", "the caller writes the text around a gap"},
    {"tokenizer.ggml.prefix_token_id", "an old name of fim_pre_token_id"},
    {"tokenizer.ggml.suffix_token_id", "an old name of fim_suf_token_id"},
    {"tokenizer.ggml.middle_token_id", "an old name of fim_mid_token_id"},
};

// Tensors of a layer, after "blk.N.".
constexpr Ignored kIgnoredOfLayer[] = {
    {"attn_rot_embd.weight", "the plain rotary frequencies, from old files"},
};

template <size_t count>
const Ignored* find(const Ignored (&list)[count], std::string_view name) {
  const auto* found = std::find_if(list, list + count, [&](const Ignored& i) {
    return i.name.ends_with('*')
               ? name.starts_with(i.name.substr(0, i.name.size() - 1))
               : name == i.name;
  });
  return found == list + count ? nullptr : found;
}

template <class T>
double load(const gguf::Entry& entry) {
  T value;
  std::memcpy(&value, entry.bytes.data(), sizeof value);
  return static_cast<double>(value);
}

// Of a number or a bool.
std::optional<double> number(const gguf::Entry& entry) {
  using gguf::ValueType;
  switch (entry.type) {
    case ValueType::kU8:
      return load<uint8_t>(entry);
    case ValueType::kI8:
      return load<int8_t>(entry);
    case ValueType::kU16:
      return load<uint16_t>(entry);
    case ValueType::kI16:
      return load<int16_t>(entry);
    case ValueType::kU32:
      return load<uint32_t>(entry);
    case ValueType::kI32:
      return load<int32_t>(entry);
    case ValueType::kF32:
      return load<float>(entry);
    case ValueType::kBool:
      return load<uint8_t>(entry) != 0.0 ? 1.0 : 0.0;
    case ValueType::kU64:
      return load<uint64_t>(entry);
    case ValueType::kI64:
      return load<int64_t>(entry);
    case ValueType::kF64:
      return load<double>(entry);
    case ValueType::kString:
    case ValueType::kArray:
      return std::nullopt;
  }
  return std::nullopt;
}

class Checker {
 public:
  Checker(const gguf::File& file, const Architecture& architecture,
          const HyperParameters& hyper)
      : file_(file),
        architecture_(architecture),
        hyper_(hyper),
        prefix_(cat(architecture.name, ".")) {}

  void check(const gguf::Entry& entry) const {
    const std::string_view key = entry.key;
    if (key == "general.quantization_version") {
      check_quantization(entry);
    } else if (const Ignored* ignored = find(kIgnoredKeys, key)) {
      note("key", key, ignored->reason);
    } else if (key.starts_with(prefix_)) {
      check_own(key.substr(prefix_.size()), entry);
    }
  }

  void check(const gguf::Tensor& tensor) const {
    std::string_view name = tensor.name;
    if (name.starts_with("dec.") && architecture_.position.relative_bias &&
        architecture_.source == nullptr) {
      note("tensor", tensor.name, "is of what generates, not of the encoder");
      return;
    }
    if (name.ends_with(".cross_attn_rel_b.weight")) {
      note("tensor", tensor.name, "a source has no distances");
      return;
    }
    if (name.starts_with("blk.")) {
      name.remove_prefix(4);
      name.remove_prefix(std::min(name.find('.'), name.size() - 1) + 1);
      if (is_of_guessing_layer(tensor.name)) {
        note("tensor", tensor.name, "guesses tokens further ahead");
        return;
      }
      if (is_of_shared_cache(tensor.name, name)) {
        note("tensor", tensor.name, "the layer shares an earlier one's keys");
        return;
      }
      if (architecture_.latent.indexed && name.starts_with("indexer.")) {
        note("tensor", tensor.name,
             "chooses among more positions than there "
             "can be");
        return;
      }
      if (const Ignored* ignored = find(kIgnoredOfLayer, name)) {
        note("tensor", tensor.name, ignored->reason);
        return;
      }
    }
    fail(RC_E_UNSUPPORTED, file_.name(), ": tensor ", quote(tensor.name),
         " is part of the model, but models of architecture ",
         architecture_.name, " with ", hyper_.layer_count(),
         " layers are computed without it; what this one says would be wrong");
  }

 private:
  // Of a name that begins with "blk.": whether the number of its layer is
  // behind those that are computed.
  bool is_of_guessing_layer(std::string_view name) const {
    int64_t number = 0;
    const char* const begin = name.data() + std::string_view("blk.").size();
    const char* const end = name.data() + name.size();
    const auto [stop, error] = std::from_chars(begin, end, number);
    return error == std::errc() && stop != end && *stop == '.' &&
           number >= hyper_.layer_count() &&
           number < hyper_.layer_count() + hyper_.guessing_layers;
  }

  // Whether a tensor makes keys and values, called `name` in its layer, and the
  // layer attends to those of another.
  bool is_of_shared_cache(std::string_view full, std::string_view name) const {
    size_t number = 0;
    const char* const begin = full.data() + std::string_view("blk.").size();
    const auto [stop, error] =
        std::from_chars(begin, full.data() + full.size(), number);
    if (error != std::errc() || number >= hyper_.layers.size() ||
        hyper_.layers[number].source < 0) {
      return false;
    }
    const TensorNames& names = architecture_.names;
    return name == names.key_norm || name == cat(names.key, ".weight") ||
           name == cat(names.value, ".weight");
  }

  void check_own(std::string_view name, const gguf::Entry& entry) const {
    if (name == "attention.sliding_window") return check_window(entry);
    if (std::ranges::find(hyper_.keys, name) != hyper_.keys.end()) return;
    const UnreadKey* known = find_unread_key(name);
    if (known != nullptr && !known->changes) {
      note("key", entry.key, known->reason);
      return;
    }
    if (hyper_.experts == 0 && name.starts_with("expert_")) return;
    // The part of a head that would rotate.
    if (name == "rope.dimension_count" && hyper_.alibi > 0.0f) return;
    const std::optional<double> value = number(entry);
    // Layers without experts are dense.
    if (name == "leading_dense_block_count" && hyper_.experts == 0 && value &&
        *value >= static_cast<double>(hyper_.layer_count())) {
      return;
    }
    if (name == "attention.scale") {
      const double scale = architecture_.attention.scale(hyper_);
      if (value && std::abs(*value - scale) < 1e-6 * scale) return;
    }
    if (name == "attention.causal" && value &&
        (*value != 0.0) == architecture_.attention.causal) {
      return;
    }
    if (name == "use_parallel_residual" && value &&
        (*value != 0.0) == hyper_.parallel_residual) {
      return;
    }
    if (name == "expert_weights_norm" && value &&
        (*value != 0.0) == hyper_.normalized_routing) {
      return;
    }
    if (known != nullptr && value &&
        std::ranges::find(known->neutral, *value) != known->neutral.end()) {
      return;
    }
    refuse_key(entry.key, value ? cat(" = ", *value) : "",
               known == nullptr ? "" : known->reason);
  }

  // No window is no window, and one that is longer than all that the model was
  // trained for is none either.
  void check_window(const gguf::Entry& entry) const {
    if (architecture_.position.window.period == 0 &&
        hyper_.sliding_window > 0 &&
        hyper_.sliding_window < hyper_.context_length) {
      refuse_key(entry.key, cat(" = ", hyper_.sliding_window),
                 "layers with a window");
    }
  }

  // Blocks have been laid out as they are now since version 2.
  void check_quantization(const gguf::Entry& entry) const {
    const std::optional<double> version = number(entry);
    if (version == 2.0) return;
    fail(RC_E_UNSUPPORTED, file_.name(),
         ": general.quantization_version is not 2; convert the model again");
  }

  // `what` it asks for; empty: that is not known.
  [[noreturn]] void refuse_key(std::string_view key, const std::string& value,
                               std::string_view what) const {
    fail(RC_E_UNSUPPORTED, file_.name(), ": key ", quote(key), value,
         " asks for ",
         what.empty() ? std::string("something that is not known")
                      : std::string(what),
         ", and models of architecture ", architecture_.name,
         " are computed without; what this one says would be wrong");
  }

  void note(const char* what, std::string_view name, const char* reason) const {
    if (!log_wanted(RC_LOG_DEBUG)) return;
    log(RC_LOG_DEBUG, file_.name(), ": ", what, " ", quote(name),
        " is not used: ", reason);
  }

  const gguf::File& file_;
  const Architecture& architecture_;
  const HyperParameters& hyper_;
  const std::string prefix_;
};

}  // namespace

void check_whole(const gguf::File& file) {
  const std::optional<int64_t> parts = file.find_int("split.count");
  if (parts && *parts > 1) {
    fail(RC_E_UNSUPPORTED, file.name(), ": split.count is ", *parts,
         ": this is one of the parts of a model; merge them into one file, "
         "such as with llama-gguf-split --merge");
  }
}

void check_all_used(const gguf::File& file, const Architecture& architecture,
                    const HyperParameters& hyper, ForwardOutput output,
                    const runtime::ProgramDescription& program) {
  const Checker checker(file, architecture, hyper);
  for (const gguf::Entry& entry : file.entries()) checker.check(entry);
  std::unordered_set<std::string_view> used;
  if (architecture.rotary.factors != Presence::kNever) {
    used.insert(architecture.names.rope_factors);
  }
  if (architecture.rotary.long_factors) {
    used.insert(architecture.names.short_rope_factors);
    used.insert(architecture.names.long_rope_factors);
  }
  if (architecture.embedding.token_types != Presence::kNever) {
    if (architecture.embedding.learned_positions) {
      used.insert(architecture.names.position_embedding);
    }
    used.insert(architecture.names.token_types);
  }
  if (architecture.recurrence.mixer == Mixer::kTimeMix7) {
    // The values of the first layer are mixed with no others.
    used.insert({"blk.0.time_mix_v0.weight", "blk.0.time_mix_v1.weight",
                 "blk.0.time_mix_v2.weight"});
  }
  for (const runtime::WeightInfo& weight : program.weights) {
    const gguf::Tensor* tensor = tensor_of_weight(file, weight.name);
    if (tensor == nullptr) tensor = tensor_of_distances(file, weight.name);
    if (tensor != nullptr) used.insert(tensor->name);
  }
  const TensorNames& names = architecture.names;
  std::unordered_set<std::string> scales;  // which are numbers of the program
  if (architecture.residual.layer_scales) {
    for (int64_t i = 0; i < hyper.layer_count(); ++i) {
      scales.insert(cat("blk.", i, ".", names.layer_scale));
    }
  }
  for (const gguf::Tensor& tensor : file.tensors()) {
    if (scales.contains(std::string(tensor.name))) continue;
    // Of another output that the model can have.
    if (output != ForwardOutput::kLogits &&
        (tensor.name == names.output || tensor.name == names.output_bias)) {
      continue;
    }
    if (output != ForwardOutput::kScores && tensor.name.starts_with("cls.")) {
      continue;
    }
    if (!used.contains(tensor.name)) checker.check(tensor);
  }
}

}  // namespace rc::model
