/* Exercises generate.h. */
#include "runcible/generate.h"

#include "check.h"

static const int32_t kPrompt[] = {1, 128, 55, 255};

/* Generates by pulling; returns the text, to be freed. */
static char* pull(rc_session* session, const rc_generate_options* options,
                  rc_generate_report* report) {
  rc_request* request = NULL;
  rc_event event = RC_EVENT_INIT;
  char* text = calloc(1, 65536);
  size_t length = 0;
  int64_t tokens = 0;
  REQUIRE_OK(rc_generate_async(session, options, NULL, NULL, NULL, &request));
  do {
    REQUIRE_OK(rc_request_next(request, -1, &event));
    CHECK(event.request == request);
    CHECK((event.report != NULL) == (event.type == RC_EVENT_END));
    if (event.type == RC_EVENT_PIECE) {
      memcpy(text + length, event.text, event.text_length);
      length += event.text_length;
      tokens += (int64_t)event.token_count;
    }
  } while (event.type != RC_EVENT_END);
  *report = *event.report;
  CHECK(tokens == report->generated_tokens);
  CHECK_STATUS(RC_E_CLOSED, rc_request_next(request, -1, &event));
  CHECK_STATUS(RC_OK, rc_request_wait(request, 0));
  CHECK_STATUS(RC_OK, rc_request_cancel(request));
  rc_request_release(request);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_request_cancel(request));
  return text;
}

int main(void) {
  rc_backend* backend = NULL;
  rc_backend_options backend_options = RC_BACKEND_OPTIONS_INIT;
  rc_model* model = NULL;
  rc_session* session = NULL;
  rc_session_options session_options = RC_SESSION_OPTIONS_INIT;
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  rc_generate_report report = RC_GENERATE_REPORT_INIT, again;
  rc_request *request = NULL, *second = NULL;
  rc_event event = RC_EVENT_INIT;
  rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
  rc_end_reason reason;
  char *text = NULL, *pulled = NULL;
  size_t length = 0;

  backend_options.max_requests = 1;
  REQUIRE_OK(rc_backend_open("reference", &backend_options, &backend));
  REQUIRE_OK(rc_model_load(backend, RC_MODEL, NULL, &model));
  REQUIRE_OK(rc_session_create(model, NULL, &session));

  options.prompt_tokens = kPrompt;
  options.prompt_token_count = 4;
  options.max_tokens = 12;
  options.seed = 7;
  options.ignore_eos = 1;
  REQUIRE_OK(rc_generate(session, &options, &text, &length, &report));
  CHECK(report.reason == RC_END_LENGTH && report.status == RC_OK);
  CHECK(report.seed == 7 && report.prompt_tokens == 4);
  CHECK(report.generated_tokens == 12);
  CHECK(strlen(text) <= length);

  /* The same seed gives the same text, however it is fetched. */
  again = report;
  REQUIRE_OK(rc_session_truncate(session, 0));
  pulled = pull(session, &options, &again);
  CHECK(memcmp(text, pulled, length) == 0);
  rc_free(text);
  free(pulled);

  /* One request at a time, by the quota. A session that shifts goes on until
   * it is cancelled. */
  rc_session_release(session);
  session_options.when_full = RC_FULL_SHIFT;
  REQUIRE_OK(rc_session_create(model, &session_options, &session));
  options.max_tokens = -1;
  REQUIRE_OK(rc_generate_async(session, &options, NULL, NULL, NULL, &request));
  CHECK_STATUS(RC_E_QUOTA,
               rc_generate_async(session, &options, NULL, NULL, NULL, &second));
  CHECK(second == NULL);
  CHECK_STATUS(RC_OK, rc_request_cancel(request));
  CHECK_STATUS(RC_OK, rc_request_wait(request, -1));
  do {
    REQUIRE_OK(rc_request_next(request, 0, &event));
  } while (event.type != RC_EVENT_END);
  CHECK(event.report->reason == RC_END_CANCELLED);
  rc_request_release(request);
  CHECK_STATUS(RC_OK, rc_backend_usage(backend, &usage));
  CHECK(usage.requests == 3 && usage.generated_tokens >= 24);

  /* Without callback a request ends with its last reference. */
  REQUIRE_OK(rc_session_truncate(session, 0));
  REQUIRE_OK(rc_generate_async(session, &options, NULL, NULL, NULL, &request));
  rc_request_release(request);

  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_generate_async(session, &options, NULL, NULL, NULL, NULL));
  options.temperature = -1.0f;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_generate(session, &options, &text, &length, &report));
  CHECK(strstr(rc_error_message(), "temperature") != NULL);
  CHECK(text == NULL);
  for (reason = RC_END_STOP; reason <= RC_END_ERROR; ++reason) {
    CHECK(strcmp(rc_end_reason_name(reason), "unknown reason") != 0);
  }
  rc_session_release(session);
  rc_model_release(model);
  rc_backend_release(backend);
  return CHECK_RESULT();
}
