/* Exercises model.h. */
#include "runcible/model.h"

#include "check.h"
#include "runcible/convert.h"

static int32_t on_progress(void* user, double fraction) {
  double* last = user;
  CHECK(fraction >= *last && fraction <= 1.0);
  *last = fraction;
  return 0;
}

static int32_t on_progress_stop(void* user, double fraction) {
  (void)user;
  (void)fraction;
  return 1;
}

typedef struct loaded {
  int calls;
  rc_status status;
  rc_model* model;
} loaded;

static void on_loaded(void* user, rc_status status, const char* message,
                      rc_model* model) {
  loaded* result = user;
  CHECK((status == RC_OK) == (model != NULL));
  CHECK((status == RC_OK) == (message[0] == '\0'));
  ++result->calls;
  result->status = status;
  result->model = model;
}

static void check_info(rc_model_info* info) {
  const char *key = NULL, *type = NULL;
  char* json = NULL;
  rc_tensor_report tensor = RC_TENSOR_REPORT_INIT;
  size_t count = rc_model_info_metadata_count(info);
  CHECK(count > 0);
  CHECK_STATUS(RC_OK, rc_model_info_metadata(info, 0, &key, &type));
  CHECK(key[0] != '\0' && type[0] != '\0');
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_model_info_metadata(info, count, &key, &type));
  CHECK_STATUS(RC_OK,
               rc_model_info_value(info, "general.architecture", 0, &json));
  CHECK(strcmp(json, "\"llama\"") == 0);
  rc_free(json);
  CHECK_STATUS(RC_OK,
               rc_model_info_value(info, "tokenizer.ggml.scores", 2, &json));
  CHECK(json[0] == '[' && strchr(json, ',') == strrchr(json, ','));
  rc_free(json);
  CHECK_STATUS(RC_E_NOT_FOUND, rc_model_info_value(info, "no.such", 0, &json));
  count = rc_model_info_tensor_count(info);
  CHECK(count > 0);
  CHECK_STATUS(RC_OK, rc_model_info_tensor(info, 0, &tensor));
  CHECK(tensor.rank > 0 && tensor.shape[0] > 0 && tensor.bytes > 0);
  CHECK(strcmp(tensor.dtype_name, "F32") == 0);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_model_info_tensor(info, count, &tensor));
  CHECK(rc_model_info_metadata_count(NULL) == 0);
}

static void check_tokenizer(const rc_tokenizer* tokenizer) {
  rc_tokenizer_report report = RC_TOKENIZER_REPORT_INIT;
  int32_t* tokens = NULL;
  int32_t beyond;
  char* text = NULL;
  size_t count = 0, length = 0;
  CHECK_STATUS(RC_OK, rc_tokenizer_describe(tokenizer, &report));
  CHECK(strcmp(report.kind, "llama") == 0 && report.vocabulary == 272);
  CHECK_STATUS(RC_OK, rc_tokenize(tokenizer, "hello", 5,
                                  RC_TOKENIZE_ADD_SPECIAL, &tokens, &count));
  CHECK(count > 1 && tokens[0] == report.bos);
  CHECK_STATUS(RC_OK,
               rc_detokenize(tokenizer, tokens, count, 0, &text, &length));
  CHECK(length == 5 && strcmp(text, "hello") == 0);
  rc_free(text);
  rc_free(tokens);
  CHECK_STATUS(RC_OK, rc_tokenize(tokenizer, "", 0, 0, &tokens, &count));
  CHECK(tokens == NULL && count == 0);
  /* Not UTF-8, and with a zero in it. */
  CHECK_STATUS(RC_OK,
               rc_tokenize(tokenizer, "a\0\xFF\xC0", 4, 0, &tokens, &count));
  rc_free(tokens);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_tokenize(tokenizer, NULL, 4, 0, &tokens, &count));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_tokenize(tokenizer, "a", 1, 64, &tokens, &count));
  beyond = report.vocabulary;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_detokenize(tokenizer, &beyond, 1, 0, &text, &length));
  CHECK(strstr(rc_error_message(), "272") != NULL);
}

static void check_async(rc_backend* backend) {
  rc_loop* loop = NULL;
  loaded result = {0, 0, NULL};
  REQUIRE_OK(rc_loop_create(&loop));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_model_load_async(backend, NULL, NULL, loop, on_loaded, NULL));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_model_load_async(backend, RC_MODEL, NULL, loop, NULL, NULL));
  CHECK_STATUS(RC_OK, rc_model_load_async(backend, RC_MODEL, NULL, loop,
                                          on_loaded, &result));
  while (result.calls == 0) {
    CHECK_STATUS(RC_OK, rc_loop_wait(loop, 60000));
    CHECK_STATUS(RC_OK, rc_loop_dispatch(loop, 0, NULL));
  }
  CHECK(result.status == RC_OK);
  rc_model_release(result.model);
  result.calls = 0;
  CHECK_STATUS(RC_OK, rc_model_load_async(backend, "no/such/file", NULL, loop,
                                          on_loaded, &result));
  while (result.calls == 0) {
    CHECK_STATUS(RC_OK, rc_loop_wait(loop, 60000));
    CHECK_STATUS(RC_OK, rc_loop_dispatch(loop, 0, NULL));
  }
  CHECK(result.status == RC_E_NOT_FOUND);
  CHECK_STATUS(RC_OK, rc_loop_close(loop));
  CHECK_STATUS(RC_E_CLOSED, rc_model_load_async(backend, RC_MODEL, NULL, loop,
                                                on_loaded, &result));
  CHECK_STATUS(RC_E_CLOSED, rc_loop_wait(loop, -1));
  rc_loop_release(loop);
}

int main(void) {
  rc_backend* backend = NULL;
  rc_model_info* info = NULL;
  rc_tokenizer* tokenizer = NULL;
  rc_model* model = NULL;
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  rc_plan* made = NULL;
  rc_plan_report plan = RC_PLAN_REPORT_INIT;
  rc_plan_device_report device = RC_PLAN_DEVICE_REPORT_INIT;
  rc_model_report report = RC_MODEL_REPORT_INIT;
  rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
  double last = 0;

  REQUIRE_OK(rc_model_info_open(RC_MODEL, &info));
  check_info(info);
  rc_model_info_release(info);
  CHECK_STATUS(RC_E_NOT_FOUND, rc_model_info_open("no/such/file", &info));
  CHECK(info == NULL && strstr(rc_error_message(), "no/such/file") != NULL);
  CHECK_STATUS(RC_OK, rc_model_verify(RC_MODEL));
  CHECK_STATUS(RC_E_FORMAT, rc_model_verify(RC_SOURCE_FILE));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_model_verify("builtin:no/such"));
  CHECK_STATUS(RC_E_FORMAT,
               rc_model_convert(RC_SOURCE_FILE, "x.gguf", NULL, NULL, NULL));
  CHECK_STATUS(RC_E_NOT_FOUND, rc_model_verify("builtin:no-such"));
  CHECK(strstr(rc_error_message(), "RUNCIBLE_DATA") != NULL);
  REQUIRE_OK(rc_tokenizer_open(RC_MODEL, &tokenizer));
  check_tokenizer(tokenizer);
  rc_tokenizer_release(tokenizer);

  REQUIRE_OK(rc_backend_open("reference", NULL, &backend));
  options.context_length = 64;
  REQUIRE_OK(rc_model_plan(RC_MODEL, &options, backend, &made));
  CHECK_STATUS(RC_OK, rc_plan_describe(made, &plan));
  CHECK(plan.total == plan.weights + plan.cache + plan.scratch);
  CHECK(plan.fits == 1 && plan.context_length == 64);
  CHECK(plan.device_count == 1);
  CHECK_STATUS(RC_OK, rc_plan_device(made, 0, &device));
  CHECK(strcmp(device.device, "reference:0") == 0);
  CHECK(device.total == plan.total && device.available == plan.available);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_plan_device(made, 1, &device));
  CHECK(rc_plan_retain(made) == made);
  rc_plan_release(made);
  CHECK_STATUS(RC_OK, rc_plan_describe(made, &plan));
  rc_plan_release(made);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_plan_describe(made, &plan));
  options.progress = on_progress_stop;
  CHECK_STATUS(RC_E_CANCELLED,
               rc_model_load(backend, RC_MODEL, &options, &model));
  CHECK(model == NULL);
  options.progress = on_progress;
  options.progress_user = &last;
  REQUIRE_OK(rc_model_load(backend, RC_MODEL, &options, &model));
  CHECK(last == 1.0);
  CHECK_STATUS(RC_OK, rc_model_describe(model, &report));
  CHECK(strcmp(report.architecture, "llama") == 0);
  CHECK(strcmp(report.device, "reference:0") == 0);
  CHECK(report.context_length == 64 && report.vocabulary == 272);
  /* The plan was exact. */
  CHECK(report.weight_bytes == plan.weights);
  CHECK(report.cache_bytes == plan.cache);
  CHECK(report.scratch_bytes == plan.scratch);
  CHECK_STATUS(RC_OK, rc_backend_usage(backend, &usage));
  CHECK(usage.memory == plan.total && usage.peak_memory == plan.total);
  CHECK_STATUS(RC_OK, rc_model_get_info(model, &info));
  CHECK_STATUS(RC_OK, rc_model_get_tokenizer(model, &tokenizer));
  check_async(backend);
  rc_model_release(model);
  CHECK_STATUS(RC_OK, rc_backend_usage(backend, &usage));
  CHECK(usage.memory == 0 && usage.peak_memory >= plan.total);
  rc_backend_release(backend);
  /* They outlive the model. */
  check_info(info);
  check_tokenizer(tokenizer);
  rc_model_info_release(info);
  rc_tokenizer_release(tokenizer);
  return CHECK_RESULT();
}
