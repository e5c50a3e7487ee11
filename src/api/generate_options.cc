#include "api/generate_options.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "api/guard.h"
#include "api/options.h"
#include "api/tokenize.h"

namespace rc::api {
namespace {

constexpr rc_generate_options kGenerateDefaults = RC_GENERATE_OPTIONS_INIT;

void need_finite(float value, const char* name) {
  if (!std::isfinite(value)) {
    fail(RC_E_INVALID_ARGUMENT, name, ": ", value, " is not a finite number");
  }
}

uint64_t random_seed() {
  std::random_device device;
  uint64_t seed = RC_SEED_RANDOM;
  while (seed == RC_SEED_RANDOM) {
    seed = uint64_t{device()} << 32 | device();
  }
  return seed;
}

engine::SamplingOptions sampling_options(const rc_generate_options& options,
                                         int64_t vocabulary) {
  need_finite(options.temperature, "options->temperature");
  need_finite(options.top_p, "options->top_p");
  need_finite(options.min_p, "options->min_p");
  need_finite(options.typical_p, "options->typical_p");
  need_finite(options.repetition_penalty, "options->repetition_penalty");
  need_finite(options.presence_penalty, "options->presence_penalty");
  need_finite(options.frequency_penalty, "options->frequency_penalty");
  need_array(options.logit_bias_tokens, options.logit_bias_count,
             sizeof(*options.logit_bias_tokens), "options->logit_bias_tokens");
  need_array(options.logit_bias, options.logit_bias_count,
             sizeof(*options.logit_bias), "options->logit_bias");
  engine::SamplingOptions sampling;
  sampling.seed = options.seed == RC_SEED_RANDOM ? random_seed() : options.seed;
  sampling.temperature = options.temperature;
  sampling.top_k = options.top_k;
  sampling.top_p = options.top_p;
  sampling.min_p = options.min_p;
  sampling.typical_p = options.typical_p;
  sampling.penalty_tokens = options.penalty_tokens;
  sampling.repetition_penalty = options.repetition_penalty;
  sampling.presence_penalty = options.presence_penalty;
  sampling.frequency_penalty = options.frequency_penalty;
  for (size_t i = 0; i < options.logit_bias_count; ++i) {
    const int32_t token = options.logit_bias_tokens[i];
    const float bias = options.logit_bias[i];
    if (token < 0 || token >= vocabulary) {
      fail(RC_E_INVALID_ARGUMENT, "options->logit_bias_tokens[", i,
           "]: ", token, " is not in the vocabulary of ", vocabulary,
           " tokens");
    }
    // Minus infinity forbids a token; the others are no numbers to add.
    if (std::isnan(bias) || bias == INFINITY) {
      fail(RC_E_INVALID_ARGUMENT, "options->logit_bias[", i, "]: ", bias,
           " is neither finite nor -infinity");
    }
    sampling.logit_bias.push_back({token, bias});
  }
  return sampling;
}

void copy_stops(const rc_generate_options& options, int64_t vocabulary,
                engine::RequestOptions* request) {
  need_array(options.stop, options.stop_count, sizeof(*options.stop),
             "options->stop");
  for (size_t i = 0; i < options.stop_count; ++i) {
    const char* stop = options.stop[i];
    if (stop == nullptr || *stop == '\0') {
      fail(RC_E_INVALID_ARGUMENT, "options->stop[", i, "]: ",
           stop == nullptr ? "NULL" : "an empty string would stop everything");
    }
    request->stop.emplace_back(stop);
  }
  check_tokens(options.stop_tokens, options.stop_token_count, vocabulary,
               "options->stop_tokens");
  request->stop_tokens.assign(options.stop_tokens,
                              options.stop_tokens + options.stop_token_count);
}

}  // namespace

engine::RequestOptions request_options(const rc_generate_options* given,
                                       const model::ModelFile& file) {
  const rc_generate_options options =
      read_options(given, kGenerateDefaults, "options");
  const int64_t vocabulary = file.hyper_parameters().vocabulary;
  engine::RequestOptions request;

  need_array(options.prompt, options.prompt_length, 1, "options->prompt");
  check_tokens(options.prompt_tokens, options.prompt_token_count, vocabulary,
               "options->prompt_tokens");
  check_tokenize_flags(options.tokenize_flags, "options->tokenize_flags");
  if (options.prompt_token_count > 0) {
    request.prompt_tokens.assign(
        options.prompt_tokens,
        options.prompt_tokens + options.prompt_token_count);
  } else if (options.prompt_length > 0) {
    if (file.tokenizer() == nullptr) {
      fail(RC_E_UNSUPPORTED, file.file().name(),
           ": the model has no tokenizer; give tokens instead of text");
    }
    request.prompt.assign(options.prompt, options.prompt_length);
  }
  request.tokenize_flags = options.tokenize_flags;

  if (options.max_tokens < -1) {
    fail(RC_E_INVALID_ARGUMENT, "options->max_tokens: ", options.max_tokens,
         " is negative and not -1");
  }
  request.max_tokens = options.max_tokens;
  need_at_least_zero(options.deadline_ms, "options->deadline_ms");
  if (options.deadline_ms > 0) {
    // The clock's range is 292 years from its start.
    constexpr int64_t kLongest = int64_t{100} * 365 * 24 * 3600 * 1000;
    request.deadline =
        std::chrono::steady_clock::now() +
        std::chrono::milliseconds(std::min(options.deadline_ms, kLongest));
  }
  request.priority = options.priority;
  request.sampling = sampling_options(options, vocabulary);
  copy_stops(options, vocabulary, &request);
  need_flag(options.ignore_eos, "options->ignore_eos");
  request.ignore_eos = options.ignore_eos != 0;
  request.logprobs = options.logprobs;
  need_flag(options.echo, "options->echo");
  request.echo = options.echo != 0;
  engine::check(request, file);
  return request;
}

}  // namespace rc::api
