/* Two tenants that share a device by weight: the second gets three times as
 * much of it, and each gets a bill.
 *
 *     cc tenants.c -o tenants $(pkg-config --cflags --libs runcible)
 *
 *     ./tenants [MODEL.gguf]
 */
#include <inttypes.h>
#include <runcible/runcible.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kTenants = 2, kRequests = 4 };

static const char kPrices[] =
    "{\"currency\": \"USD\","
    " \"device_hour\": {\"cpu\": 0.10, \"gpu\": 1.00},"
    " \"million_tokens\": {\"prompt\": 0.05, \"generated\": 0.20}}";

typedef struct {
  rc_tenant* tenant;
  rc_backend* backend;
  rc_model* model;
  rc_session* sessions[kRequests];
  rc_request* requests[kRequests];
} guest;

static void check(rc_status status) {
  if (status == RC_OK) return;
  fprintf(stderr, "%s\n", rc_error_message());
  exit(EXIT_FAILURE);
}

static void enter(guest* entering, const char* name, float weight,
                  const char* path) {
  rc_tenant_options limits = RC_TENANT_OPTIONS_INIT;
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  limits.name = name;
  limits.weight = weight;
  limits.max_requests = kRequests;
  check(rc_tenant_create(&limits, &entering->tenant));
  options.tenant = entering->tenant;
  check(rc_backend_open("auto", &options, &entering->backend));
  /* Both load the same file, and its weights lie in memory once. */
  check(rc_model_load(entering->backend, path, NULL, &entering->model));
}

static void start(guest* working) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  rc_request* refused = NULL;
  int i;
  options.prompt = "Once";
  options.prompt_length = strlen(options.prompt);
  options.max_tokens = 200;
  options.ignore_eos = 1;
  for (i = 0; i < kRequests; ++i) {
    check(rc_session_create(working->model, NULL, &working->sessions[i]));
    check(rc_generate_async(working->sessions[i], &options, NULL, NULL, NULL,
                            &working->requests[i]));
  }
  /* One more than max_requests is refused, and says why. */
  if (rc_generate_async(working->sessions[0], &options, NULL, NULL, NULL,
                        &refused) != RC_E_QUOTA) {
    exit(EXIT_FAILURE);
  }
  printf("refused: %s\n", rc_error_message());
}

static void finish(guest* working) {
  int i;
  for (i = 0; i < kRequests; ++i) {
    check(rc_request_wait(working->requests[i], -1));
    rc_request_release(working->requests[i]);
    rc_session_release(working->sessions[i]);
  }
}

static void leave(guest* leaving) {
  rc_tenant_usage_report usage = RC_TENANT_USAGE_REPORT_INIT;
  char* bill = NULL;
  check(rc_tenant_usage(leaving->tenant, &usage));
  check(rc_tenant_bill(leaving->tenant, kPrices, NULL, &bill));
  printf("%" PRIu64 " tokens in %.3f s of the device\n%s\n",
         usage.generated_tokens, (double)usage.device_us / 1e6, bill);
  rc_free(bill);
  rc_model_release(leaving->model);
  rc_backend_release(leaving->backend);
  rc_tenant_release(leaving->tenant);
}

int main(int argc, char** argv) {
  const char* path = argc > 1 ? argv[1] : "builtin:fable";
  guest guests[kTenants];
  int i;
  check(RC_ABI_CHECK());
  enter(&guests[0], "one", 1.0f, path);
  enter(&guests[1], "three", 3.0f, path);
  for (i = 0; i < kTenants; ++i) start(&guests[i]);
  for (i = 0; i < kTenants; ++i) finish(&guests[i]);
  for (i = 0; i < kTenants; ++i) leave(&guests[i]);
  return 0;
}
