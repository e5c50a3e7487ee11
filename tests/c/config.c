/* Exercises config.h, and what the options of calls take of it. */
#define _POSIX_C_SOURCE 200809L
#include "runcible/config.h"

#include <unistd.h>

#include "check.h"
#include "runcible/runcible.h"

static char path[] = "/tmp/runcible_config_XXXXXX";

static void write_file(const char* text) {
  FILE* file = fopen(path, "w");
  CHECK(file != NULL);
  if (file == NULL) return;
  fputs(text, file);
  fclose(file);
}

/* Whether the report holds `part` behind the key. */
static int reports(const char* key, const char* part) {
  char* json = NULL;
  const char* begin;
  const char* end;
  size_t length = strlen(part);
  int found = 0;
  REQUIRE_OK(rc_config_report(&json));
  begin = strstr(json, key);
  CHECK(begin != NULL);
  if (begin != NULL) {
    end = strstr(begin, "\"meaning\"");
    for (; begin + length <= end && !found; ++begin) {
      found = strncmp(begin, part, length) == 0;
    }
  }
  rc_free(json);
  return found;
}

static void check_arguments(void) {
  char* json = NULL;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_config_report(NULL));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_config_set(NULL, "1"));
  CHECK_STATUS(RC_E_NOT_FOUND, rc_config_set("backend.thread", "1"));
  CHECK(strstr(rc_error_message(), "backend.threads") != NULL);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_config_set("backend.threads", ""));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_config_set("backend.threads", "1e3"));
  CHECK(strstr(rc_error_message(), "from 0 to 1024") != NULL);
  CHECK_STATUS(RC_E_NOT_FOUND, rc_config_use_file("/no/such/file.toml"));
  CHECK_STATUS(RC_E_IO, rc_config_use_file("/tmp"));
  write_file("[backend]\nthreads = \"two\"\n");
  CHECK_STATUS(RC_E_FORMAT, rc_config_use_file(path));
  CHECK(strstr(rc_error_message(), path) != NULL);
  CHECK(strstr(rc_error_message(), ":2: backend.threads") != NULL);
  /* Nothing has changed. */
  REQUIRE_OK(rc_config_report(&json));
  CHECK(strstr(json, path) == NULL);
  rc_free(json);
}

static void check_layers(void) {
  write_file("[backend]\nthreads = 2\n");
  REQUIRE_OK(rc_config_use_file(path));
  CHECK(reports("\"backend.threads\"", "\"value\":2,"));
  CHECK(reports("\"backend.threads\"", "\"source\":\"file\",\"line\":2"));
  setenv("RUNCIBLE_THREADS", "3", 1);
  CHECK(reports("\"backend.threads\"", "\"value\":3,"));
  CHECK(reports("\"backend.threads\"", "\"source\":\"environment\""));
  REQUIRE_OK(rc_config_set("backend.threads", "1"));
  CHECK(reports("\"backend.threads\"", "\"value\":1,"));
  CHECK(reports("\"backend.threads\"", "\"source\":\"program\""));
  REQUIRE_OK(rc_config_set("backend.threads", NULL));
  CHECK(reports("\"backend.threads\"", "\"value\":3,"));
  unsetenv("RUNCIBLE_THREADS");
  REQUIRE_OK(rc_config_use_file(""));
  CHECK(reports("\"backend.threads\"", "\"value\":0,"));
  CHECK(reports("\"backend.threads\"", "\"source\":\"initial\""));
}

static void check_default_backend(void) {
  rc_backend* backend = NULL;
  rc_device_report device = RC_DEVICE_REPORT_INIT;
  setenv("RUNCIBLE_BACKEND", "cpu", 1);
  REQUIRE_OK(rc_set_default_backend("reference"));
  REQUIRE_OK(rc_backend_open(NULL, NULL, &backend));
  REQUIRE_OK(rc_backend_device(backend, &device));
  CHECK(strcmp(device.id, "reference:0") == 0);
  rc_backend_release(backend);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_set_default_backend("cpu,,"));
  REQUIRE_OK(rc_set_default_backend(NULL));
  REQUIRE_OK(rc_backend_open("", NULL, &backend));
  REQUIRE_OK(rc_backend_device(backend, &device));
  CHECK(strcmp(device.id, "cpu:0") == 0);
  rc_backend_release(backend);
  unsetenv("RUNCIBLE_BACKEND");
}

static void check_models_and_requests(void) {
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_session* session = NULL;
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  rc_model_report report = RC_MODEL_REPORT_INIT;
  rc_session_options session_options = RC_SESSION_OPTIONS_INIT;
  rc_generate_options generate = RC_GENERATE_OPTIONS_INIT;
  rc_generate_report end = RC_GENERATE_REPORT_INIT;
  rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
  const int32_t many[40] = {1};
  char* text = NULL;
  write_file(
      "[backend]\nmax_requests = 7\nprofile = true\n"
      "[model]\ncontext_length = 32\nguard_mapped = true\n"
      "[session]\ncontext_length = 1000000\nwhen_full = \"shift\"\n"
      "keep_tokens = 1000000\n"
      "[generate]\nmax_tokens = 3\nseed = 11\n");
  REQUIRE_OK(rc_config_use_file(path));
  REQUIRE_OK(rc_backend_open("cpu", NULL, &backend));
  REQUIRE_OK(rc_backend_trace(backend, &text)); /* there is a profile */
  rc_free(text);
  REQUIRE_OK(rc_backend_usage(backend, &usage));

  REQUIRE_OK(rc_model_load(backend, RC_MODEL, NULL, &model));
  REQUIRE_OK(rc_model_describe(model, &report));
  CHECK(report.context_length == 32);
  rc_model_release(model);
  options.context_length = 48; /* the call's own stands above */
  REQUIRE_OK(rc_model_load(backend, RC_MODEL, &options, &model));
  REQUIRE_OK(rc_model_describe(model, &report));
  CHECK(report.context_length == 48);

  /* The configured value is limited to that of this model. */
  REQUIRE_OK(rc_session_create(model, NULL, &session));
  REQUIRE_OK(rc_generate(session, &generate, &text, NULL, &end));
  CHECK(end.generated_tokens == 3 && end.seed == 11);
  rc_free(text);
  generate.max_tokens = 2;
  REQUIRE_OK(rc_generate(session, &generate, &text, NULL, &end));
  CHECK(end.generated_tokens == 2);
  rc_free(text);
  rc_session_release(session);

  session_options.context_length = 16;
  REQUIRE_OK(rc_config_set("session.keep_tokens", "4"));
  REQUIRE_OK(rc_session_create(model, &session_options, &session));
  CHECK_STATUS(RC_OK, rc_session_append(session, many, 40)); /* shifts */
  rc_session_release(session);
  rc_model_release(model);
  rc_backend_release(backend);
}

/* A value that a program sets is used, even if it equals the default. */
static void check_what_is_set(void) {
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_session* session = NULL;
  rc_backend_options backend_options;
  rc_model_options model_options;
  rc_session_options session_options;
  rc_generate_options generate;
  rc_model_report report = RC_MODEL_REPORT_INIT;
  rc_generate_report end = RC_GENERATE_REPORT_INIT;
  int32_t* many;
  char* text = NULL;
  int64_t trained;
  int ignoring;
  write_file(
      "[backend]\nprofile = true\n[model]\ncontext_length = 32\n"
      "[session]\ncontext_length = 16\nwhen_full = \"shift\"\n"
      "[generate]\nmax_tokens = 3\nseed = 11\n");
  REQUIRE_OK(rc_config_use_file(path));
  for (ignoring = 0; ignoring < 2; ++ignoring) {
    rc_backend_options_init(&backend_options, sizeof(backend_options));
    if (ignoring) {
      backend_options.ignore_configuration = 1;
    } else {
      backend_options.profile = 0;
    }
    REQUIRE_OK(rc_backend_open("cpu", &backend_options, &backend));
    CHECK_STATUS(RC_E_UNSUPPORTED, rc_backend_trace(backend, &text));

    rc_model_options_init(&model_options, sizeof(model_options));
    if (ignoring) {
      model_options.ignore_configuration = 1;
    } else {
      model_options.context_length = 0;
    }
    REQUIRE_OK(rc_model_load(backend, RC_MODEL, &model_options, &model));
    REQUIRE_OK(rc_model_describe(model, &report));
    trained = report.trained_context_length;
    CHECK(report.context_length == trained && trained > 100);

    rc_session_options_init(&session_options, sizeof(session_options));
    if (ignoring) {
      session_options.ignore_configuration = 1;
    } else {
      session_options.context_length = 0;
      session_options.when_full = RC_FULL_ERROR;
    }
    REQUIRE_OK(rc_session_create(model, &session_options, &session));
    many = (int32_t*)calloc((size_t)trained, sizeof(*many));
    CHECK_STATUS(RC_OK, rc_session_append(session, many, (size_t)trained - 20));
    CHECK_STATUS(RC_E_CONTEXT_FULL, rc_session_append(session, many, 40));
    free(many);

    rc_generate_options_init(&generate, sizeof(generate));
    if (ignoring) {
      generate.ignore_configuration = 1;
    } else {
      generate.max_tokens = -1;
      generate.seed = RC_SEED_RANDOM;
    }
    generate.ignore_eos = 1;
    REQUIRE_OK(rc_generate(session, &generate, &text, NULL, &end));
    CHECK(end.generated_tokens > 3 && end.seed != 11);
    rc_free(text);
    text = NULL;
    rc_session_release(session);
    rc_model_release(model);
    rc_backend_release(backend);
  }
  REQUIRE_OK(rc_config_use_file(""));
}

int main(void) {
  const int file = mkstemp(path);
  CHECK(file >= 0);
  close(file);
  REQUIRE_OK(rc_config_use_file(""));
  check_arguments();
  check_layers();
  check_default_backend();
  check_models_and_requests();
  check_what_is_set();
  unlink(path);
  return CHECK_RESULT();
}
