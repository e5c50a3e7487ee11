#include "base/config/keys.h"

#include <algorithm>
#include <limits>

#include "base/distance.h"
#include "base/error.h"

namespace rc::config {
namespace {

constexpr double kAny = std::numeric_limits<double>::infinity();
constexpr double kMost32 = std::numeric_limits<int32_t>::max();

constexpr Key flag(const char* name, const char* variable, const char* initial,
                   const char* meaning) {
  return {name, variable, Kind::kFlag, initial, meaning};
}
constexpr Key text(const char* name, const char* variable, const char* initial,
                   const char* meaning) {
  return {name, variable, Kind::kText, initial, meaning};
}
constexpr Key choice(const char* name, const char* variable,
                     const char* initial, const char* choices,
                     const char* meaning) {
  return {name, variable, Kind::kChoice, initial, meaning,
          0,    0,        false,         choices};
}
constexpr Key integer(const char* name, const char* variable,
                      const char* initial, double least, double most,
                      const char* meaning) {
  return {name, variable, Kind::kInteger, initial, meaning, least, most};
}
constexpr Key real(const char* name, const char* variable, const char* initial,
                   double least, double most, const char* meaning,
                   bool above_least = false) {
  return {name,    variable, Kind::kReal, initial,
          meaning, least,    most,        above_least};
}

constexpr Key kKeys[] = {
    text("backend.spec", "RUNCIBLE_BACKEND", "auto",
         "the chain of backends where a program names none"),
    integer("backend.required_memory", "RUNCIBLE_BACKEND_REQUIRED_MEMORY", "0",
            0, kAny, "skip devices with less memory free; bytes"),
    integer("backend.memory_limit", "RUNCIBLE_BACKEND_MEMORY_LIMIT", "0", 0,
            kAny, "the most that a handle takes of its device; bytes, 0: all"),
    integer("backend.threads", "RUNCIBLE_THREADS", "0", 0, 1024,
            "threads of a CPU device; 0: as many as the process may use"),
    integer("backend.max_requests", "RUNCIBLE_BACKEND_MAX_REQUESTS", "0", 0,
            kMost32, "requests of a handle in flight; 0: any number"),
    integer("backend.timeout_ms", "RUNCIBLE_BACKEND_TIMEOUT_MS", "0", 0, kAny,
            "the longest step of a device; milliseconds, 0: no limit"),
    flag("backend.strict", "RUNCIBLE_BACKEND_STRICT", "false",
         "ops that the device does not support are errors; false: they run on "
         "the CPU"),
    flag("backend.profile", "RUNCIBLE_PROFILE", "false",
         "measure the time of each op"),
    choice("backend.placement", "RUNCIBLE_BACKEND_PLACEMENT", "by_spec",
           "by_spec, first, each_op",
           "where tensors are; by_spec: each_op of auto, else first"),
    flag("backend.measure", "RUNCIBLE_BACKEND_MEASURE", "true",
         "devices that are chosen among are measured in the background"),
    choice(
        "backend.numa", "RUNCIBLE_BACKEND_NUMA", "auto",
        "auto, off, interleave, local",
        "of a CPU with several nodes of memory: how weights and threads lie; "
        "auto: interleave"),

    integer("model.context_length", "RUNCIBLE_MODEL_CONTEXT_LENGTH", "0", 0,
            kAny, "the longest session in tokens; 0: the model's, if it fits"),
    integer("model.cache_tokens", "RUNCIBLE_MODEL_CACHE_TOKENS", "0", 0, kAny,
            "tokens that the KV cache holds for all sessions; 0: by memory"),
    choice("model.cache_dtype", "RUNCIBLE_MODEL_CACHE_DTYPE", "f16",
           "f16, f32, q8_0", "elements of the KV cache"),
    integer("model.max_rows", "RUNCIBLE_MODEL_MAX_ROWS", "0", 0, 65536,
            "the most tokens of one step; 0: 512"),
    flag("model.prefix_cache", "RUNCIBLE_MODEL_PREFIX_CACHE", "true",
         "sessions share what they have in common with earlier ones"),
    flag("model.keep_mapped", "RUNCIBLE_MODEL_KEEP_MAPPED", "false",
         "compute from the mapped file instead of copying the weights"),
    flag("model.guard_mapped", "RUNCIBLE_MODEL_GUARD_MAPPED", "false",
         "a mapped file that is cut short is an error and not the end"),
    choice("model.output", "RUNCIBLE_MODEL_OUTPUT", "auto",
           "auto, logits, hidden_rows, scores", "what a model gives"),
    flag("model.experts_mapped", "RUNCIBLE_MODEL_EXPERTS_MAPPED", "false",
         "leave the experts of a mixture in the mapped file"),
    integer("model.resident_experts", "RUNCIBLE_MODEL_RESIDENT_EXPERTS", "0", 0,
            kMost32,
            "with experts_mapped: how many of each layer are copied; 0: twice "
            "as many as a token has"),
    flag("model.fit", "RUNCIBLE_MODEL_FIT", "false",
         "options that are not set are chosen so that the model fits"),
    text("model.quantize", "RUNCIBLE_MODEL_QUANTIZE", "",
         "the type that weights are quantized to while they are loaded; empty: "
         "as the file has them"),

    integer("session.context_length", "RUNCIBLE_SESSION_CONTEXT_LENGTH", "0", 0,
            kAny, "the longest session in tokens; 0: the model's"),
    choice("session.when_full", "RUNCIBLE_SESSION_WHEN_FULL", "error",
           "error, shift", "what happens when the context is full"),
    integer("session.keep_tokens", "RUNCIBLE_SESSION_KEEP_TOKENS", "0", 0, kAny,
            "how many tokens at the start a shift keeps"),

    integer("generate.max_tokens", "RUNCIBLE_GENERATE_MAX_TOKENS", "-1", -1,
            kAny, "the most to generate; -1: until the context is full"),
    integer("generate.deadline_ms", "RUNCIBLE_GENERATE_DEADLINE_MS", "0", 0,
            kAny, "the most time of a generation; milliseconds, 0: no limit"),
    integer("generate.priority", "RUNCIBLE_GENERATE_PRIORITY", "0", -kMost32,
            kMost32, "greater ones are served first"),
    integer("generate.seed", "RUNCIBLE_GENERATE_SEED", nullptr, 0, kAny,
            "of the draws; none: another one each time"),
    real("generate.temperature", "RUNCIBLE_GENERATE_TEMPERATURE", "0.8", 0,
         kAny, "of the draws; 0: always the most probable token"),
    integer("generate.top_k", "RUNCIBLE_GENERATE_TOP_K", "40", 0, kMost32,
            "choose among so many of the most probable; 0: off"),
    real("generate.top_p", "RUNCIBLE_GENERATE_TOP_P", "0.95", 0, 1,
         "choose among the most probable with this probability; 1: off", true),
    real("generate.min_p", "RUNCIBLE_GENERATE_MIN_P", "0.05", 0, 1,
         "the least probability, as a part of the largest; 0: off"),
    real("generate.typical_p", "RUNCIBLE_GENERATE_TYPICAL_P", "1.0", 0, 1,
         "choose among those of typical surprise; 1: off", true),
    real("generate.top_n_sigma", "RUNCIBLE_GENERATE_TOP_N_SIGMA", "0.0", 0,
         kAny, "how many deviations below the largest logit; 0: off"),
    integer("generate.penalty_tokens", "RUNCIBLE_GENERATE_PENALTY_TOKENS", "64",
            -1, kMost32, "how many tokens back penalties look; -1: all"),
    real("generate.repetition_penalty", "RUNCIBLE_GENERATE_REPETITION_PENALTY",
         "1.0", 0, kAny, "divides the logits of tokens seen; 1: off", true),
    real("generate.presence_penalty", "RUNCIBLE_GENERATE_PRESENCE_PENALTY",
         "0.0", -kAny, kAny, "is taken once from the logits of tokens seen"),
    real("generate.frequency_penalty", "RUNCIBLE_GENERATE_FREQUENCY_PENALTY",
         "0.0", -kAny, kAny, "is taken for each time that they were seen"),
    real("generate.dry_multiplier", "RUNCIBLE_GENERATE_DRY_MULTIPLIER", "0.0",
         0, kAny, "what a token loses that repeats the text (DRY); 0: off"),
    real("generate.dry_base", "RUNCIBLE_GENERATE_DRY_BASE", "1.75", 1, kAny,
         "how many times more it loses for each token repeated"),
    integer("generate.dry_allowed_length",
            "RUNCIBLE_GENERATE_DRY_ALLOWED_LENGTH", "2", 1, kMost32,
            "shorter repetitions are free; tokens"),
    integer("generate.dry_tokens", "RUNCIBLE_GENERATE_DRY_TOKENS", "-1", -1,
            kMost32, "how many tokens back DRY looks; -1: all"),
    text("generate.dry_breakers", "RUNCIBLE_GENERATE_DRY_BREAKERS", nullptr,
         "characters that no repetition goes across; none: line breaks and "
         ":\"*"),
    real("generate.xtc_probability", "RUNCIBLE_GENERATE_XTC_PROBABILITY", "0.0",
         0, 1, "how often the most probable are left out (XTC); 0: off"),
    real("generate.xtc_threshold", "RUNCIBLE_GENERATE_XTC_THRESHOLD", "0.1", 0,
         1, "the least probability of those"),
    real("generate.dynamic_temperature_range",
         "RUNCIBLE_GENERATE_DYNAMIC_TEMPERATURE_RANGE", "0.0", 0, kAny,
         "how far the temperature follows the entropy; 0: off"),
    real("generate.dynamic_temperature_exponent",
         "RUNCIBLE_GENERATE_DYNAMIC_TEMPERATURE_EXPONENT", "1.0", 0, kAny,
         "the power of the entropy by which it does", true),
    integer("generate.mirostat", "RUNCIBLE_GENERATE_MIROSTAT", "0", 0, 2,
            "keep the surprise of the text, by version 1 or 2; 0: off"),
    real("generate.mirostat_tau", "RUNCIBLE_GENERATE_MIROSTAT_TAU", "5.0", 0,
         kAny, "that surprise, in bits for each token", true),
    real("generate.mirostat_eta", "RUNCIBLE_GENERATE_MIROSTAT_ETA", "0.1", 0, 1,
         "how fast mirostat learns"),
    integer("generate.mirostat_m", "RUNCIBLE_GENERATE_MIROSTAT_M", "100", 2,
            kMost32, "by how many tokens version 1 estimates"),

    text("library.isa", "RUNCIBLE_ISA", nullptr,
         "the highest level of instruction sets of the CPU; none: the "
         "processor's"),
    choice("library.log", "RUNCIBLE_LOG", "none",
           "none, error, warning, info, debug",
           "messages on stderr until the program takes them"),
    text("library.data", "RUNCIBLE_DATA", nullptr,
         "the folder where models that come with Runcible are looked for "
         "first"),
    text("library.plugin_path", "RUNCIBLE_PLUGIN_PATH", nullptr,
         "folders with modules of backends, separated by colons"),
    flag("library.quarantine", "RUNCIBLE_QUARANTINE", "true",
         "devices that failed their self-test are passed over until their "
         "driver changes"),
    text("library.curl_library", "RUNCIBLE_CURL_LIBRARY", nullptr,
         "the libcurl by which models are fetched, where it is not "
         "libcurl.so.4"),
};

// Names from strangers may be long; none of ours is.
constexpr size_t kLongestCompared = 100;

template <class Distance>
const Key* nearest(Distance&& distance_of) {
  return &*std::min_element(std::begin(kKeys), std::end(kKeys),
                            [&](const Key& a, const Key& b) {
                              return distance_of(a) < distance_of(b);
                            });
}

std::string_view without_table(std::string_view name) {
  return name.substr(name.find('.') + 1);
}

std::string limit(const Key& key, double value) {
  return key.kind == Kind::kInteger ? cat(static_cast<int64_t>(value))
                                    : cat(value);
}

}  // namespace

std::span<const Key> keys() { return kKeys; }

const Key* find_key(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kKeys), std::end(kKeys),
                   [&](const Key& key) { return key.name == name; });
  return found == std::end(kKeys) ? nullptr : &*found;
}

std::string allowed(const Key& key) {
  switch (key.kind) {
    case Kind::kText:
      return "a text without zero bytes";
    case Kind::kChoice:
      return cat("one of ", key.choices);
    case Kind::kFlag:
      return "true (1) or false (0)";
    default:
      break;
  }
  std::string text = key.kind == Kind::kInteger ? "an integer" : "a number";
  if (key.least == -kAny) return text;
  text += cat(key.above_least    ? " above "
              : key.most == kAny ? " of at least "
                                 : " from ",
              limit(key, key.least));
  if (key.most == kAny) return text;
  return text +
         cat(key.above_least ? " and at most " : " to ", limit(key, key.most));
}

const Key* nearest_key(std::string_view name) {
  name = name.substr(0, kLongestCompared);
  return nearest([&](const Key& key) {
    return std::min(distance(name, key.name),
                    distance(without_table(name), without_table(key.name)));
  });
}

const Key* nearest_variable(std::string_view name) {
  name = name.substr(0, kLongestCompared);
  return nearest([&](const Key& key) { return distance(name, key.variable); });
}

}  // namespace rc::config
