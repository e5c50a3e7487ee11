/* Exercises backend.h. */
#include "runcible/backend.h"

#include "check.h"

typedef struct ended {
  int calls;
  rc_status status;
  void* handle;
} ended;

static void on_end(ended* result, rc_status status, void* handle) {
  ++result->calls;
  result->status = status;
  result->handle = handle;
}

static void on_opened(void* user, rc_status status, const char* message,
                      rc_backend* backend) {
  CHECK((status == RC_OK) == (message[0] == '\0'));
  on_end(user, status, backend);
}

static void on_discovered(void* user, rc_status status, const char* message,
                          rc_device_list* list) {
  CHECK((status == RC_OK) == (message[0] == '\0'));
  on_end(user, status, list);
}

static void check_async(void) {
  rc_loop* loop = NULL;
  ended opened = {0, 0, NULL}, discovered = {0, 0, NULL};
  REQUIRE_OK(rc_loop_create(&loop));
  CHECK_STATUS(RC_OK, rc_backend_open_async("reference", NULL, loop, on_opened,
                                            &opened));
  CHECK_STATUS(RC_OK,
               rc_discover_async(NULL, NULL, loop, on_discovered, &discovered));
  while (opened.calls + discovered.calls < 2) {
    CHECK_STATUS(RC_OK, rc_loop_wait(loop, 60000));
    CHECK_STATUS(RC_OK, rc_loop_dispatch(loop, 0, NULL));
  }
  CHECK(opened.status == RC_OK && discovered.status == RC_OK);
  CHECK(rc_device_list_count(discovered.handle) > 0);
  rc_backend_release(opened.handle);
  rc_device_list_release(discovered.handle);
  rc_loop_release(loop);
}

int main(void) {
  rc_device_list* list = NULL;
  rc_backend* backend = NULL;
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  rc_backend_options made;
  rc_device_report device = RC_DEVICE_REPORT_INIT;
  char* trace = NULL;
  rc_backend_usage_report usage = RC_BACKEND_USAGE_REPORT_INIT;
  const char* json = NULL;
  size_t i, count;
  int found = 0;

  REQUIRE_OK(rc_discover(&list));
  count = rc_device_list_count(list);
  for (i = 0; i < count; ++i) {
    CHECK_STATUS(RC_OK, rc_device_list_get(list, i, &device));
    CHECK((device.index < 0) == (device.reason[0] != '\0'));
    found |= strcmp(device.id, "reference:0") == 0;
  }
  CHECK(found);
  CHECK(rc_device_list_automatic(list)[0] != '\0');
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_device_list_get(list, count, &device));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_device_list_get(list, 0, NULL));
  rc_device_list_release(list);
  rc_device_list_release(NULL);
  CHECK(rc_device_list_count(NULL) == 0);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_discover(NULL));

  memset(&made, 0xFF, sizeof(made));
  rc_backend_options_init(&made, sizeof(made));
  CHECK(memcmp(&made, &options, sizeof(made)) == 0);
  rc_backend_options_init(NULL, sizeof(made));

  CHECK_STATUS(RC_E_NOT_FOUND, rc_backend_open("no_such", NULL, &backend));
  CHECK(strstr(rc_error_message(), "no_such") != NULL);
  CHECK(backend == NULL);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_backend_open(",", NULL, &backend));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_backend_open("cpu:x", NULL, &backend));
  options.threads = -1;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_backend_open("reference", &options, &backend));
  CHECK(strstr(rc_error_message(), "threads") != NULL);
  CHECK(strstr(rc_error_message(), "-1") != NULL);

  REQUIRE_OK(rc_backend_open("no_such,reference", NULL, &backend));
  CHECK_STATUS(RC_OK, rc_backend_device(backend, &device));
  CHECK(strcmp(device.id, "reference:0") == 0);
  CHECK_STATUS(RC_OK, rc_backend_explain(backend, &json));
  CHECK(strstr(json, "no_such") != NULL);
  CHECK_STATUS(RC_OK, rc_backend_usage(backend, &usage));
  CHECK(usage.requests == 0 && usage.memory == 0);
  CHECK_STATUS(RC_E_UNSUPPORTED, rc_backend_trace(backend, &trace));
  CHECK(strstr(rc_error_message(), "profile") != NULL && trace == NULL);

  CHECK(rc_backend_retain(backend) == backend);
  rc_backend_release(backend);
  CHECK_STATUS(RC_OK, rc_backend_usage(backend, &usage));
  rc_backend_release(backend);
  /* Released, NULL and of another kind. */
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_backend_usage(backend, &usage));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_backend_usage(NULL, &usage));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_backend_usage((rc_backend*)&usage, &usage));
  CHECK(rc_backend_retain(backend) == NULL);
  options.threads = 0;
  options.profile = 1;
  REQUIRE_OK(rc_backend_open("cpu", &options, &backend));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_backend_trace(backend, NULL));
  REQUIRE_OK(rc_backend_trace(backend, &trace));
  CHECK(strstr(trace, "\"traceEvents\"") != NULL);
  CHECK(strstr(trace, "cpu:0") != NULL);
  rc_free(trace);
  rc_backend_release(backend);
  rc_backend_release(backend);
  rc_backend_release(NULL);
  check_async();
  return CHECK_RESULT();
}
