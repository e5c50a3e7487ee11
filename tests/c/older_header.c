/* Structs of older and newer headers. An older header's struct is a prefix of
 * today's; a newer one's has more at the end. */
#include "check.h"
#include "runcible/runcible.h"

/* rc_backend_options as if `max_requests` and what follows were newer. */
typedef struct older_options {
  size_t struct_size;
  uint64_t required_memory;
  uint64_t memory_limit;
  int32_t threads;
} older_options;

/* rc_device_report as if it ended after the name. */
typedef struct older_report {
  size_t struct_size;
  const char* backend;
  const char* description;
  int32_t index;
  rc_device_kind kind;
  const char* id;
  const char* name;
  unsigned char behind[64]; /* not part of it */
} older_report;

typedef struct newer_options {
  rc_backend_options known;
  int64_t more;
} newer_options;

/* Programs that were built before members could be unset: a member that has its
 * default takes what is configured, any other holds. */
static void check_from_before(void) {
  const size_t size = offsetof(rc_generate_options, ignore_configuration);
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_session* session = NULL;
  rc_generate_options options;
  rc_generate_report report = RC_GENERATE_REPORT_INIT;
  char* text = NULL;
  memset(&options, 0xAA, sizeof(options));
  rc_generate_options_init(&options, size);
  CHECK(options.struct_size == size);
  CHECK(options.ignore_configuration == (int32_t)0xAAAAAAAA);
  CHECK(options.max_tokens == -1 && options.temperature == 0.8f);
  CHECK(options.seed == RC_SEED_RANDOM && options.mirostat_m == 100);
  REQUIRE_OK(rc_config_set("generate.seed", "11"));
  REQUIRE_OK(rc_config_set("generate.max_tokens", "3"));
  REQUIRE_OK(rc_backend_open("cpu", NULL, &backend));
  REQUIRE_OK(rc_model_load(backend, RC_MODEL, NULL, &model));
  REQUIRE_OK(rc_session_create(model, NULL, &session));
  REQUIRE_OK(rc_generate(session, &options, &text, NULL, &report));
  CHECK(report.seed == 11 && report.generated_tokens == 3);
  rc_free(text);
  options.seed = 12;
  options.max_tokens = 2;
  REQUIRE_OK(rc_generate(session, &options, &text, NULL, &report));
  CHECK(report.seed == 12 && report.generated_tokens == 2);
  rc_free(text);
  REQUIRE_OK(rc_config_set("generate.seed", NULL));
  REQUIRE_OK(rc_config_set("generate.max_tokens", NULL));
  rc_session_release(session);
  rc_model_release(model);
  rc_backend_release(backend);
}

int main(void) {
  rc_backend* backend = NULL;
  older_options older;
  older_report report;
  newer_options newer;
  struct {
    rc_device_report known;
    int64_t more;
  } newer_report;
  size_t i;

  memset(&older, 0, sizeof(older));
  /* Memory behind an older struct must not be read. */
  older.struct_size = offsetof(older_options, threads) + sizeof(int32_t);
  older.threads = 1;
  REQUIRE_OK(rc_backend_open("reference", (const rc_backend_options*)&older,
                             &backend));

  memset(&report, 0xAA, sizeof(report));
  rc_device_report_init((rc_device_report*)&report,
                        offsetof(older_report, behind));
  CHECK(report.struct_size == offsetof(older_report, behind));
  CHECK(report.backend == NULL && report.name == NULL);
  CHECK_STATUS(RC_OK, rc_backend_device(backend, (rc_device_report*)&report));
  CHECK(strcmp(report.id, "reference:0") == 0);
  CHECK(report.struct_size == offsetof(older_report, behind));
  for (i = 0; i < sizeof(report.behind); ++i) {
    CHECK(report.behind[i] == 0xAA);
  }

  memset(&newer_report, 0xAA, sizeof(newer_report));
  newer_report.known.struct_size = sizeof(newer_report);
  CHECK_STATUS(RC_OK, rc_backend_device(backend, &newer_report.known));
  CHECK(strcmp(newer_report.known.id, "reference:0") == 0);
  CHECK(newer_report.more == 0);
  rc_backend_release(backend);

  /* A newer header's options work while what it added is off. */
  memset(&newer, 0, sizeof(newer));
  newer.known.struct_size = sizeof(newer);
  REQUIRE_OK(rc_backend_open("reference", &newer.known, &backend));
  rc_backend_release(backend);
  newer.more = 1;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_backend_open("reference", &newer.known, &backend));
  CHECK(strstr(rc_error_message(), "newer") != NULL);

  check_from_before();

  /* Sizes that no struct has. */
  newer.known.struct_size = 0;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_backend_open("reference", &newer.known, &backend));
  newer.known.struct_size = (size_t)-1;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT,
               rc_backend_open("reference", &newer.known, &backend));

  /* A struct can grow compatibly only if no member would come to lie in the
   * padding at the end of its older self. */
#define CHECK_NO_PADDING(type, last) \
  CHECK(sizeof(type) == offsetof(type, last) + sizeof(((type*)0)->last))
  CHECK_NO_PADDING(rc_device_report, huge_pages);
  CHECK_NO_PADDING(rc_backend_options, tenant);
  CHECK_NO_PADDING(rc_backend_usage_report, peak_memory);
  CHECK_NO_PADDING(rc_tenant_options, max_stall_ms);
  CHECK_NO_PADDING(rc_tenant_usage_report, backends);
  CHECK_NO_PADDING(rc_tensor_report, offset);
  CHECK_NO_PADDING(rc_tokenizer_report, unknown);
  CHECK_NO_PADDING(rc_model_memory, user);
  CHECK_NO_PADDING(rc_model_options, fit);
  CHECK_NO_PADDING(rc_plan_report, cache_dtype_name);
  CHECK_NO_PADDING(rc_plan_device_report, expert_layers);
  CHECK_NO_PADDING(rc_model_report, page_size);
  CHECK_NO_PADDING(rc_session_options, reserved);
  CHECK_NO_PADDING(rc_generate_options, reserved);
  CHECK_NO_PADDING(rc_generate_report, forced_tokens);
  CHECK_NO_PADDING(rc_event, call_id);
  CHECK_NO_PADDING(rc_chat_options, ending);
  CHECK_NO_PADDING(rc_chat_prompt_report, call_format);
  CHECK_NO_PADDING(rc_chat_content_report, token_end);
  CHECK_NO_PADDING(rc_graph_run_options, deadline_ms);
  CHECK_NO_PADDING(rc_graph_report, memory);
  CHECK_NO_PADDING(rc_evaluate_options, progress_user);
  CHECK_NO_PADDING(rc_evaluate_report, accuracy_by_length_error);
  CHECK_NO_PADDING(rc_importance_options, progress_user);
  CHECK_NO_PADDING(rc_importance_report, tokens_per_second);
  return CHECK_RESULT();
}
