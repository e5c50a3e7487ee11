#include "api/generate_options.h"

#include <random>

#include "api/configured.h"
#include "api/grammar.h"
#include "api/guard.h"
#include "api/options.h"
#include "base/time_limit.h"

namespace rc::api {
namespace {

uint64_t random_seed() {
  std::random_device device;
  uint64_t seed = RC_SEED_RANDOM;
  while (seed == RC_SEED_RANDOM) {
    seed = uint64_t{device()} << 32 | device();
  }
  return seed;
}

engine::SamplingOptions sampling_options(const rc_generate_options& options) {
  need_array(options.logit_bias_tokens, options.logit_bias_count,
             sizeof(*options.logit_bias_tokens), "options->logit_bias_tokens");
  need_array(options.logit_bias, options.logit_bias_count,
             sizeof(*options.logit_bias), "options->logit_bias");
  engine::SamplingOptions sampling(options);
  if (sampling.seed == RC_SEED_RANDOM) sampling.seed = random_seed();
  return sampling;
}

void copy_stops(const rc_generate_options& options,
                engine::RequestOptions* request) {
  need_array(options.stop, options.stop_count, sizeof(*options.stop),
             "options->stop");
  for (size_t i = 0; i < options.stop_count; ++i) {
    if (options.stop[i] == nullptr) {
      fail(RC_E_INVALID_ARGUMENT, "options->stop[", i, "] is NULL");
    }
    request->stop.emplace_back(options.stop[i]);
  }
  need_array(options.stop_tokens, options.stop_token_count,
             sizeof(*options.stop_tokens), "options->stop_tokens");
  request->stop_tokens.assign(options.stop_tokens,
                              options.stop_tokens + options.stop_token_count);
}

void need_no_rule(const char* rule, const char* name) {
  if (rule == nullptr) return;
  fail(RC_E_INVALID_ARGUMENT, name,
       " is for answers of conversations (rc_chat_answer_async); here it must "
       "be NULL");
}

}  // namespace

engine::RequestOptions request_options(const rc_generate_options* given,
                                       const model::ModelFile& file,
                                       bool answer) {
  std::string breakers;
  const rc_generate_options options = configured(given, breakers);
  need_range<int32_t>(options.reserved, 0, 0, "options->reserved");
  if (!answer) {
    need_no_rule(options.tool_choice, "options->tool_choice");
    need_no_rule(options.response_format, "options->response_format");
  }
  engine::RequestOptions request;

  need_array(options.prompt, options.prompt_length, 1, "options->prompt");
  need_array(options.prompt_tokens, options.prompt_token_count,
             sizeof(*options.prompt_tokens), "options->prompt_tokens");
  if (options.prompt_token_count > 0) {
    request.prompt_tokens.assign(
        options.prompt_tokens,
        options.prompt_tokens + options.prompt_token_count);
  } else if (options.prompt_length > 0) {
    request.prompt.assign(options.prompt, options.prompt_length);
  }
  request.tokenize_flags = options.tokenize_flags;

  request.max_tokens = options.max_tokens;
  need_at_least_zero(options.deadline_ms, "options->deadline_ms");
  if (options.deadline_ms > 0) {
    request.deadline = time_after(options.deadline_ms);
  }
  request.priority = options.priority;
  request.sampling = sampling_options(options);
  copy_stops(options, &request);
  need_flag(options.ignore_eos, "options->ignore_eos");
  request.ignore_eos = options.ignore_eos != 0;
  if (options.grammar != nullptr) {
    request.grammar = need(options.grammar, "options->grammar").grammar;
  }
  request.logprobs = options.logprobs;
  need_flag(options.echo, "options->echo");
  request.echo = options.echo != 0;
  engine::check(request, file);
  return request;
}

engine::AnswerRules answer_rules(const rc_generate_options& options) {
  engine::AnswerRules rules;
  if (options.tool_choice != nullptr) {
    rules.tool_choice = text::chat::parse_tool_choice(options.tool_choice);
  }
  if (options.response_format != nullptr) {
    rules.response_schema =
        text::chat::parse_response_format(options.response_format);
  }
  return rules;
}

}  // namespace rc::api
