#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "files/folder/description.h"

namespace rc::folder {
namespace {

// The parameters of rotary embeddings, and the object that contains them.
struct Rope {
  double base;
  Config config;
  std::string type;
};

std::string type_of(const Config& config) {
  if (const auto type = config.find_text("rope_type")) return *type;
  return config.find_text("type").value_or("default");
}

// Returns the share of each head that rotates.
double rotated_part(const Config& config, const Config& rope,
                    std::string_view key) {
  constexpr std::string_view kPart = "partial_rotary_factor";
  const bool in_rope = rope.has(kPart);
  const Config& place = in_rope ? rope : config;
  const std::string_view name = in_rope || key.empty() ? kPart : key;
  const double part = place.find_number(name).value_or(1.0);
  if (key.empty() && part != 1.0) {
    place.refuse(RC_E_UNSUPPORTED, name, " is ", part, "; models of type ",
                 config.get_text("model_type"),
                 " are computed with all of a head rotated");
  }
  if (!(part > 0.0 && part <= 1.0)) {
    place.refuse(RC_E_FORMAT, name, " is ", part,
                 ", but must be above 0 and at most 1");
  }
  return part;
}

Rope read_rope(const Config& config, const Config& rope, std::string_view key) {
  const double base = rope.find_number("rope_theta")
                          .value_or(config.find_number(key).value_or(10000.0));
  if (!(base > 1.0)) {
    config.refuse(RC_E_FORMAT, key, " is ", base, ", but must be above 1");
  }
  return {base, rope, type_of(rope)};
}

// Hunyuan says how much longer the context is than it would be with the base:
// the slowest pair turns so much slower, the fastest one as before.
void stretch_base(Rope& rope, int64_t dimensions) {
  const double alpha = rope.config.get_number("alpha");
  if (!(alpha >= 1.0 && alpha <= 1e6) || dimensions <= 2) {
    rope.config.refuse(RC_E_FORMAT, "alpha", " is ", alpha,
                       ", but must be 1 to 1000000 and of heads with more "
                       "than 2 elements");
  }
  const auto size = static_cast<double>(dimensions);
  rope.base *= std::pow(alpha, size / (size - 2.0));
  rope.type = "default";
}

int64_t original_context(const Rope& rope, const Config& config) {
  const int64_t context =
      rope.config.find_int("original_max_position_embeddings")
          .value_or(config.get_int("max_position_embeddings"));
  if (context < 1) {
    rope.config.refuse(RC_E_FORMAT, "original_max_position_embeddings", " is ",
                       context, ", but must be at least 1");
  }
  return context;
}

double factor_of(const Rope& rope) {
  const double factor = rope.config.get_number("factor");
  if (!(factor >= 1e-3 && factor <= 1e6)) {
    rope.config.refuse(RC_E_FORMAT, "factor", " is ", factor,
                       ", but must be 0.001 to 1000000");
  }
  return factor;
}

// The factor of attention for a longer context: Peng et al. 2023,
// arXiv:2309.00071, equation 22, with a weight of the logarithm.
double yarn_scale(double factor, double weight) {
  return factor <= 1.0 ? 1.0 : 0.1 * weight * std::log(factor) + 1.0;
}

// See model::Architecture::yarn_of_scores.
bool scales_scores(std::string_view architecture) {
  constexpr std::string_view kNames[] = {"deepseek2", "deepseek32", "glm-dsa"};
  return std::ranges::find(kNames, architecture) != std::end(kNames);
}

void add_yarn(Description& model, const Rope& rope) {
  const Config& config = rope.config;
  const double factor = factor_of(rope);
  model.add_text("rope.scaling.type", "yarn");
  model.add_number("rope.scaling.factor", factor);
  model.add_int("rope.scaling.original_context_length",
                original_context(rope, model.config()));
  const bool whole = config.find_flag("truncate").value_or(true);
  if (whole != model.whole_yarn_pairs()) {
    config.refuse(RC_E_UNSUPPORTED, "truncate", " is ",
                  whole ? "true" : "false", "; models of type ",
                  model.config().get_text("model_type"),
                  " are computed with the other");
  }
  // Null and 0 stand for what is usual, too.
  if (const double fast = config.find_number("beta_fast").value_or(0.0)) {
    model.add_number("rope.scaling.yarn_beta_fast", fast);
  }
  if (const double slow = config.find_number("beta_slow").value_or(0.0)) {
    model.add_number("rope.scaling.yarn_beta_slow", slow);
  }
  double scale = yarn_scale(factor, 1.0);
  const double weight = config.find_number("mscale").value_or(0.0);
  const double all = config.find_number("mscale_all_dim").value_or(0.0);
  if (const auto given = config.find_number("attention_factor")) {
    scale = *given;
  } else if (weight != 0.0 && all != 0.0) {
    scale = yarn_scale(factor, weight) / yarn_scale(factor, all);
  }
  // The key's value is multiplied by the usual scale, except where it is
  // attention that yarn scales.
  const bool latent = scales_scores(model.architecture());
  if (latent && all != 0.0) {
    model.add_number("rope.scaling.yarn_log_multiplier", 0.1 * all);
  }
  const double relative = scale / (latent ? 1.0 : yarn_scale(factor, 1.0));
  if (std::abs(relative - 1.0) > 1e-9) {
    model.add_number("rope.scaling.attn_factor", relative);
  }
}

// Llama 3.1 (Grattafiori et al. 2024, arXiv:2407.21783, and the configuration
// of its release): pairs that turn often within the original context keep their
// frequency, those that turn seldom are slowed by the factor, with a ramp over
// the number of turns between. Files of some architectures hold divisors of the
// frequencies as a tensor, which are 1 for what does not turn.
void add_llama3(Description& model, const Rope& rope, int64_t dimensions) {
  const Config& config = rope.config;
  const double factor = factor_of(rope);
  const double low = config.get_number("low_freq_factor");
  const double high = config.get_number("high_freq_factor");
  const auto context =
      static_cast<double>(original_context(rope, model.config()));
  if (!(high > low)) {
    config.refuse(RC_E_FORMAT, "high_freq_factor", " is ", high,
                  ", but must be above low_freq_factor, ", low);
  }
  constexpr std::string_view kWithTensor[] = {
      "llama", "exaone", "exaone4", "exaone-moe", "granite_swa", "step35"};
  if (std::ranges::find(kWithTensor, model.architecture()) ==
      std::end(kWithTensor)) {
    model.add_text("rope.scaling.type", "llama3");
    model.add_number("rope.scaling.factor", factor);
    model.add_int("rope.scaling.original_context_length",
                  original_context(rope, model.config()));
    model.add_number("rope.scaling.low_freq_factor", low);
    model.add_number("rope.scaling.high_freq_factor", high);
    return;
  }
  const int64_t size = head_size(model.config());
  constexpr int64_t kMostElements = 65536;
  if (size < 2 || size > kMostElements || size % 2 != 0) {
    model.config().refuse(RC_E_FORMAT, "head_dim", " is ", size,
                          "; an even number from 2 to ", kMostElements,
                          " is possible");
  }
  std::vector<float> divisors;
  for (int64_t i = 0; i < size; i += 2) {
    if (i >= dimensions) {
      divisors.push_back(1.0f);
      continue;
    }
    const double frequency = std::pow(
        rope.base, -static_cast<double>(i) / static_cast<double>(dimensions));
    const double turns = frequency * context / (2.0 * std::numbers::pi);
    const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    divisors.push_back(
        static_cast<float>(1.0 / ((1.0 - kept) / factor + kept)));
  }
  model.add_tensor("rope_freqs.weight", std::move(divisors));
}

// See long_factors of model::RotaryTraits.
bool has_long_rope(std::string_view architecture) {
  constexpr std::string_view kNames[] = {"phi3", "phimoe", "minicpm",
                                         "minicpm3"};
  return std::ranges::find(kNames, architecture) != std::end(kNames);
}

// Divisors of the frequencies of so many pairs.
void add_factors(Description& model, const Rope& rope, std::string_view key,
                 const char* tensor, int64_t pairs) {
  const auto given = rope.config.find_numbers(key);
  if (!given || given->size() != static_cast<uint64_t>(pairs)) {
    rope.config.refuse(RC_E_FORMAT, key, " has ", given ? given->size() : 0,
                       " numbers, but ", pairs,
                       " pairs of each head are rotated");
  }
  std::vector<float> factors;
  for (const double factor : *given) {
    factors.push_back(static_cast<float>(factor));
  }
  model.add_tensor(tensor, std::move(factors));
}

// Ding et al. 2024, arXiv:2402.13753: divisors of the frequencies, others where
// sequences are longer than the original context; and what attention is scaled
// by, of which folders may say one for each.
void add_long_rope(Description& model, const Rope& rope, int64_t dimensions) {
  const Config& whole = model.config();
  constexpr std::string_view kContext = "original_max_position_embeddings";
  const Config& place = rope.config.has(kContext) ? rope.config : whole;
  const int64_t context = place.get_int(kContext);
  if (context < 2) {
    place.refuse(RC_E_FORMAT, kContext, " is ", context,
                 ", but must be at least 2");
  }
  // Newer folders may say the ratio.
  const double longer = rope.config.find_number("factor").value_or(
      static_cast<double>(whole.get_int("max_position_embeddings")) /
      static_cast<double>(context));
  double scale =
      longer <= 1.0
          ? 1.0
          : std::sqrt(1.0 + std::log(longer) /
                                std::log(static_cast<double>(context)));
  if (const auto given = rope.config.find_number("attention_factor")) {
    scale = *given;
  }
  if (const auto given = rope.config.find_number("long_mscale")) {
    scale = *given;
    const double other =
        rope.config.find_number("short_mscale").value_or(scale);
    if (other != scale) {
      rope.config.refuse(RC_E_UNSUPPORTED, "short_mscale", " is ", other,
                         ", but only the same as long_mscale, ", scale,
                         ", can be computed");
    }
  }
  model.add_text("rope.scaling.type", "longrope");
  model.add_int("rope.scaling.original_context_length", context);
  model.add_number("rope.scaling.attn_factor", scale);
  add_factors(model, rope, "short_factor", "rope_factors_short.weight",
              dimensions / 2);
  add_factors(model, rope, "long_factor", "rope_factors_long.weight",
              dimensions / 2);
}

void add_scaling(Description& model, const Rope& rope, int64_t dimensions) {
  // The places in pictures that "mrope" is about are the position in a text.
  if (rope.type == "default" || rope.type == "mrope") return;
  // It changes nothing of sequences that are within the context.
  if (rope.type == "dynamic") return;
  if (rope.type == "linear") {
    model.add_text("rope.scaling.type", "linear");
    model.add_number("rope.scaling.factor", factor_of(rope));
  } else if (rope.type == "yarn" || rope.type == "deepseek_yarn") {
    add_yarn(model, rope);
  } else if (rope.type == "llama3") {
    add_llama3(model, rope, dimensions);
  } else if ((rope.type == "longrope" || rope.type == "su") &&
             has_long_rope(model.architecture())) {
    add_long_rope(model, rope, dimensions);
  } else {
    rope.config.refuse(RC_E_UNSUPPORTED, "rope_type", " is ", quote(rope.type),
                       "; known are default, linear, llama3, yarn");
  }
}

// The base of layers with a window, which never scale.
std::optional<double> local_base(const Config& config) {
  if (type_of(config) != "default") {
    config.refuse(RC_E_UNSUPPORTED, "rope_type", " is ", quote(type_of(config)),
                  "; layers with a window are computed with default");
  }
  return config.find_number("rope_theta");
}

}  // namespace

void expect_plain_rope(const Config& rope) {
  if (type_of(rope) == "default") return;
  rope.refuse(RC_E_UNSUPPORTED, "rope_type", " is ", quote(type_of(rope)),
              "; models of this type are computed with default");
}

void add_proportional_rope(Description& model, int64_t size,
                           int64_t windowed_size) {
  const Config& config = model.config();
  const Config whole =
      config.find_object("rope_parameters")
          .value_or(Config::parse(
              R"({"full_attention": {"rope_type": "proportional",
                                     "rope_theta": 1e6,
                                     "partial_rotary_factor": 0.25}})",
              config.file()));
  if (const auto windowed = whole.find_object("sliding_attention")) {
    expect_number(*windowed, "partial_rotary_factor", 1.0);
    if (const auto base = local_base(*windowed)) {
      model.add_number("rope.freq_base_swa", *base);
    }
  }
  const Config full = whole.find_object("full_attention").value_or(whole);
  const Rope rope = read_rope(config, full, "rope_theta");
  model.add_number("rope.freq_base", rope.base);
  model.add_int("rope.dimension_count", size);
  model.add_int("rope.dimension_count_swa", windowed_size);
  if (rope.type != "proportional") {
    expect_plain_rope(full);
    expect_number(full, "partial_rotary_factor", 1.0);
    return;
  }
  constexpr int64_t kMostElements = 65536;
  const double part = full.find_number("partial_rotary_factor").value_or(1.0);
  const double factor = full.has("factor") ? factor_of(rope) : 1.0;
  if (!(part > 0.0 && part <= 1.0) || size > kMostElements) {
    full.refuse(RC_E_FORMAT, "partial_rotary_factor", " is ", part,
                " of heads of ", size,
                " elements, but must be above 0 and at most 1 of at most ",
                kMostElements);
  }
  // A head's pairs are not in the order of their frequencies alone, so what
  // does not turn cannot be left out; it is divided by as much as other
  // converters do.
  const auto turning =
      static_cast<int64_t>(part * static_cast<double>(size) / 2.0);
  std::vector<float> divisors;
  for (int64_t i = 0; i < size / 2; ++i) {
    divisors.push_back(i < turning ? static_cast<float>(factor) : 1e30f);
  }
  model.add_tensor("rope_freqs.weight", std::move(divisors));
}

void add_rope(Description& model, const DecoderKeys& keys) {
  const Config& config = model.config();
  std::optional<Config> object = config.find_object("rope_parameters");
  std::optional<double> local = config.find_number("rope_local_base_freq");
  if (!object) {
    object = config.find_object("rope_scaling");
  } else {
    // Newer folders may have one for each type of layers that there is.
    const auto full = object->find_object("full_attention");
    const auto windowed = object->find_object("sliding_attention");
    if (windowed) local = local_base(*windowed);
    if (full || windowed) object = full ? *full : *windowed;
  }
  if (local) model.add_number("rope.freq_base_swa", *local);
  if (!object) object = Config::parse(keys.default_rope, config.file());
  add_rope(model, *object, keys);
}

void add_rope(Description& model, const Config& object,
              const DecoderKeys& keys) {
  const Config& config = model.config();
  const int64_t size = keys.rotated_size.empty()
                           ? head_size(config)
                           : config.get_int(keys.rotated_size);
  const double part = rotated_part(config, object, keys.rotated_part);
  // Part of an element counts as none.
  const int64_t dimensions =
      part == 1.0 ? size
                  : static_cast<int64_t>(part * static_cast<double>(size));
  model.add_int("rope.dimension_count", keys.count_whole ? size : dimensions);
  Rope rope = read_rope(config, object, keys.rope_base);
  if (keys.base > 0.0) rope.base = keys.base;
  if (rope.type == "dynamic" && model.architecture().starts_with("hunyuan")) {
    stretch_base(rope, dimensions);
  }
  model.add_number("rope.freq_base", rope.base);
  add_scaling(model, rope, dimensions);
}

}  // namespace rc::folder
