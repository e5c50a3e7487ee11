/* Exercises tenant.h: two tenants, their limits, what they used, and a bill. */
#include "runcible/tenant.h"

#include "check.h"
#include "runcible/generate.h"

typedef struct guest {
  rc_tenant* tenant;
  rc_backend* backend;
  rc_model* model;
  rc_session* session;
} guest;

static guest make_guest(const char* name, float weight) {
  guest made = {NULL, NULL, NULL, NULL};
  rc_tenant_options limits = RC_TENANT_OPTIONS_INIT;
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  rc_model_options model = RC_MODEL_OPTIONS_INIT;
  limits.name = name;
  limits.weight = weight;
  REQUIRE_OK(rc_tenant_create(&limits, &made.tenant));
  options.tenant = made.tenant;
  REQUIRE_OK(rc_backend_open("cpu", &options, &made.backend));
  model.context_length = 64;
  REQUIRE_OK(rc_model_load(made.backend, RC_MODEL, &model, &made.model));
  REQUIRE_OK(rc_session_create(made.model, NULL, &made.session));
  return made;
}

static void release(guest* used) {
  rc_session_release(used->session);
  rc_model_release(used->model);
  rc_backend_release(used->backend);
  rc_tenant_release(used->tenant);
}

static rc_status run(guest* used, int64_t max_tokens) {
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  char* text = NULL;
  rc_status status;
  options.prompt = "hello";
  options.prompt_length = 5;
  options.max_tokens = max_tokens;
  options.ignore_eos = 1;
  status = rc_generate(used->session, &options, &text, NULL, NULL);
  rc_free(text);
  return status;
}

int main(void) {
  guest light = make_guest("light", 1.0f);
  guest heavy = make_guest("heavy", 4.0f);
  rc_tenant_options limits = RC_TENANT_OPTIONS_INIT;
  rc_tenant_usage_report usage = RC_TENANT_USAGE_REPORT_INIT;
  char* text = NULL;

  REQUIRE_OK(run(&light, 3));
  REQUIRE_OK(run(&heavy, 5));
  REQUIRE_OK(rc_tenant_usage(light.tenant, &usage));
  CHECK(usage.requests == 1 && usage.generated_tokens == 3);
  CHECK(usage.sessions == 1 && usage.models == 1 && usage.backends == 1);
  CHECK(usage.memory > 0);
  REQUIRE_OK(rc_tenant_usage(heavy.tenant, &usage));
  CHECK(usage.requests == 1 && usage.generated_tokens == 5);
  CHECK(usage.device_us > 0);

  /* Four tokens at once, of which these are the last. */
  limits.generated_tokens_per_minute = 1;
  limits.burst_seconds = 240;
  REQUIRE_OK(rc_tenant_change(light.tenant, &limits));
  REQUIRE_OK(run(&light, 4));
  CHECK_STATUS(RC_E_QUOTA, run(&light, 1));
  CHECK(rc_error_retry_after_ms() > 0 && rc_error_retry_after_ms() <= 60001);
  REQUIRE_OK(run(&heavy, 5));

  REQUIRE_OK(rc_tenant_metrics(NULL, RC_METRICS_OPENMETRICS, &text));
  CHECK(strstr(text, "runcible_refused_total{tenant=\"light\"} 1\n") != NULL);
  CHECK(strstr(text, "\n# EOF\n") != NULL);
  rc_free(text);
  text = NULL;
  REQUIRE_OK(rc_tenant_bill(
      heavy.tenant,
      "{\"currency\": \"USD\", \"million_tokens\": {\"generated\": 500000}}",
      NULL, &text));
  CHECK(strstr(text, "\"total\":5}") != NULL);
  rc_free(text);

  release(&light);
  release(&heavy);
  return CHECK_RESULT();
}
