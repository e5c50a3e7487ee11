/* A program of release 0.1, built with the headers beside it and run with
 * today's library:
 *
 *     program MODEL PLUGIN
 *
 * It uses each struct that a program gives to the library or gets from it. */
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runcible/plugin.h"

#define REQUIRE(condition)                                             \
  do {                                                                 \
    if (!(condition)) {                                                \
      fprintf(stderr, "%s:%d: %s is not so: %s\n", __FILE__, __LINE__, \
              #condition, rc_error_message());                         \
      exit(EXIT_FAILURE);                                              \
    }                                                                  \
  } while (0)

struct story {
  char text[4096];
  size_t length;
  int64_t tokens;
  int ended;
  rc_generate_report report;
};

static void hear(void* user, const rc_event* event) {
  struct story* story = user;
  size_t i;
  if (event->type == RC_EVENT_END) {
    story->report = *event->report;
    story->ended = 1;
    return;
  }
  REQUIRE(story->length + event->text_length < sizeof story->text);
  memcpy(story->text + story->length, event->text, event->text_length);
  story->length += event->text_length;
  story->tokens += (int64_t)event->token_count;
  REQUIRE(event->top_count == 2);
  for (i = 0; i < event->token_count; ++i) {
    REQUIRE(event->logprobs[i] <= 0);
    REQUIRE(event->top_logprobs[2 * i] >= event->top_logprobs[2 * i + 1]);
    REQUIRE(event->top_tokens[2 * i] >= 0);
  }
}

static void check_devices(void) {
  rc_device_list* list = NULL;
  size_t i, found = 0;
  REQUIRE(rc_discover(&list) == RC_OK);
  for (i = 0; i < rc_device_list_count(list); ++i) {
    rc_device_report report = RC_DEVICE_REPORT_INIT;
    REQUIRE(rc_device_list_get(list, i, &report) == RC_OK);
    if (strcmp(report.id, "frozen:0") == 0) ++found;
  }
  REQUIRE(found == 1);
  rc_device_list_release(list);
}

static void check_plan(rc_backend* backend, const char* path,
                       const rc_model_options* options) {
  rc_plan* plan = NULL;
  rc_plan_report report = RC_PLAN_REPORT_INIT;
  rc_plan_device_report device = RC_PLAN_DEVICE_REPORT_INIT;
  REQUIRE(rc_model_plan(path, options, backend, &plan) == RC_OK);
  REQUIRE(rc_plan_describe(plan, &report) == RC_OK);
  REQUIRE(report.context_length == 128 && report.device_count >= 1);
  REQUIRE(rc_plan_device(plan, 0, &device) == RC_OK);
  REQUIRE(strcmp(device.device, "frozen:0") == 0 && device.layers > 0);
  rc_plan_release(plan);
}

static void check_file(rc_model* model) {
  rc_model_info* info = NULL;
  rc_tensor_report tensor = RC_TENSOR_REPORT_INIT;
  rc_tokenizer* tokenizer = NULL;
  rc_tokenizer_report about = RC_TOKENIZER_REPORT_INIT;
  REQUIRE(rc_model_get_info(model, &info) == RC_OK);
  REQUIRE(rc_model_info_tensor(info, 0, &tensor) == RC_OK);
  REQUIRE(tensor.rank >= 1 && tensor.shape[0] >= 1);
  rc_model_info_release(info);
  REQUIRE(rc_model_get_tokenizer(model, &tokenizer) == RC_OK);
  REQUIRE(rc_tokenizer_describe(tokenizer, &about) == RC_OK);
  REQUIRE(about.vocabulary > 0);
  rc_tokenizer_release(tokenizer);
}

static void check_generation(rc_model* model) {
  static const int32_t forbidden[] = {5};
  static const float never[] = {-1e30f};
  static const char* const stop[] = {"no such text in any story"};
  rc_session_options session_options = RC_SESSION_OPTIONS_INIT;
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  rc_session* session = NULL;
  rc_loop* loop = NULL;
  struct story story;
  memset(&story, 0, sizeof story);
  session_options.keep_tokens = 1;
  REQUIRE(rc_session_create(model, &session_options, &session) == RC_OK);
  REQUIRE(rc_loop_create(&loop) == RC_OK);
  options.prompt = "Once upon a time";
  options.prompt_length = strlen(options.prompt);
  options.temperature = 0;
  options.max_tokens = 12;
  options.typical_p = 0.9f;
  options.ignore_eos = 1;
  options.logit_bias_tokens = forbidden;
  options.logit_bias = never;
  options.logit_bias_count = 1;
  options.stop = stop;
  options.stop_count = 1;
  options.logprobs = 2;
  REQUIRE(rc_generate_async(session, &options, loop, hear, &story, NULL) ==
          RC_OK);
  while (!story.ended) {
    REQUIRE(rc_loop_wait(loop, -1) == RC_OK);
    REQUIRE(rc_loop_dispatch(loop, 0, NULL) == RC_OK);
  }
  REQUIRE(story.report.status == RC_OK);
  REQUIRE(story.report.reason == RC_END_LENGTH);
  REQUIRE(story.report.generated_tokens == 12 && story.tokens == 12);
  REQUIRE(story.length > 0);
  printf("%.*s\n", (int)story.length, story.text);
  rc_loop_release(loop);
  rc_session_release(session);
}

/* The plugin is asked for ops that it does not know: they run on the CPU, and
 * the account says so. */
static void check_fallbacks(rc_backend* backend) {
  const char* json = NULL;
  REQUIRE(rc_backend_explain(backend, &json) == RC_OK);
  REQUIRE(strstr(json, "\"LINEAR\"") != NULL);
  REQUIRE(strstr(json, "\"ATTENTION\"") != NULL);
  REQUIRE(strstr(json, "only ADD, RMS_NORM of F32 and GLU with SiLU") != NULL);
  REQUIRE(strstr(json, "\"cpu:0\"") != NULL);
}

static void check_tensors(rc_backend* backend) {
  static const int64_t shape[] = {2, 3};
  rc_random_options random = RC_RANDOM_OPTIONS_INIT;
  rc_attention_options attention = RC_ATTENTION_OPTIONS_INIT;
  rc_tensor *a = NULL, *b = NULL, *sum = NULL;
  float before[6], after[6];
  int i;
  REQUIRE(attention.causal == 0);
  REQUIRE(rc_tensor_random(backend, shape, 2, &random, &a) == RC_OK);
  REQUIRE(rc_tensor_ones(backend, RC_DTYPE_F32, shape, 2, &b) == RC_OK);
  REQUIRE(rc_op_add(a, b, &sum) == RC_OK);
  REQUIRE(rc_tensor_read(a, before, sizeof before) == RC_OK);
  REQUIRE(rc_tensor_read(sum, after, sizeof after) == RC_OK);
  for (i = 0; i < 6; ++i) REQUIRE(after[i] == before[i] + 1);
  rc_tensor_release(sum);
  rc_tensor_release(b);
  rc_tensor_release(a);
}

int main(int count, char** arguments) {
  rc_backend_options backend_options = RC_BACKEND_OPTIONS_INIT;
  rc_model_options model_options = RC_MODEL_OPTIONS_INIT;
  rc_model_report about = RC_MODEL_REPORT_INIT;
  rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
  rc_device_report device = RC_DEVICE_REPORT_INIT;
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  REQUIRE(count == 3);
  REQUIRE(RC_ABI_CHECK() == RC_OK);
  REQUIRE(rc_plugin_load(arguments[2]) == RC_OK);
  check_devices();
  backend_options.threads = 1;
  REQUIRE(rc_backend_open("frozen,cpu", &backend_options, &backend) == RC_OK);
  REQUIRE(rc_backend_device(backend, &device) == RC_OK);
  REQUIRE(strcmp(device.name, "three ops in plain C") == 0);
  model_options.context_length = 128;
  check_plan(backend, arguments[1], &model_options);
  REQUIRE(rc_model_load(backend, arguments[1], &model_options, &model) ==
          RC_OK);
  REQUIRE(rc_model_describe(model, &about) == RC_OK);
  REQUIRE(about.context_length == 128 && about.vocabulary > 0);
  check_file(model);
  check_generation(model);
  check_fallbacks(backend);
  check_tensors(backend);
  REQUIRE(rc_backend_usage(backend, &usage) == RC_OK);
  REQUIRE(usage.requests == 1 && usage.generated_tokens == 12);
  rc_model_release(model);
  rc_backend_release(backend);
  return EXIT_SUCCESS;
}
