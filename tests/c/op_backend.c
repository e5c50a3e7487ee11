/* Exercises op_backend.h: a backend of three ops that runs a model with the CPU
 * for the rest, its failures, its health, and its end. */
#include "runcible/op_backend.h"

#include <math.h>

#include "check.h"
#include "runcible/runcible.h"

/* The behaviour of the backend, and its counters. */
struct state {
  const char* sick;    /* why its devices cannot be opened; NULL: they can */
  rc_status fails;     /* of compute */
  int computed[64];    /* ops, by their codes */
  uint64_t weights;    /* the largest number of a weight */
  int forgotten;       /* weights */
  int released;        /* times */
  float epsilon;       /* of the last RMS_NORM */
  char parameters[64]; /* the same as text */
};

static rc_status say(char* message, rc_status status, const char* text) {
  snprintf(message, RC_OP_BACKEND_MESSAGE_BYTES, "%s", text);
  return status;
}

static rc_status health(void* user, char* message) {
  const struct state* state = user;
  if (state->sick != NULL) {
    return say(message, RC_E_BACKEND_UNAVAILABLE, state->sick);
  }
  return say(message, RC_OK, "fit as a fiddle");
}

static rc_status supports(void* user, const rc_op_call* call, char* message) {
  size_t i;
  (void)user;
  CHECK(call->params != NULL && call->params_json[0] == '{');
  for (i = 0; i < call->input_count; ++i) {
    CHECK(call->inputs[i] == NULL || call->inputs[i]->data == NULL);
  }
  if (call->code == RC_OP_ADD) return RC_OK;
  if (call->code == RC_OP_BINARY &&
      call->params->binary.function == RC_BINARY_ADD &&
      memcmp(call->inputs[0]->shape, call->inputs[1]->shape,
             sizeof call->inputs[0]->shape) == 0) {
    return RC_OK;
  }
  if (call->code == RC_OP_RMS_NORM) return RC_OK;
  if (call->code == RC_OP_LINEAR && call->inputs[1]->dtype == RC_DTYPE_F32 &&
      call->inputs[2] == NULL) {
    return RC_OK;
  }
  return say(message, RC_E_UNSUPPORTED, "only three ops are written");
}

static int64_t elements(const rc_op_value* value) {
  int64_t count = 1;
  int i;
  for (i = 0; i < value->rank; ++i) {
    CHECK(value->shape[i] >= 0); /* no symbols */
    count *= value->shape[i];
  }
  CHECK(value->dtype != RC_DTYPE_F32 || value->bytes == (uint64_t)count * 4);
  return count;
}

static void norm(struct state* state, const rc_op_call* call) {
  const float *x = call->inputs[0]->data, *w = call->inputs[1]->data;
  float* y = call->outputs[0]->data;
  const int64_t d = call->inputs[1]->shape[0];
  const int64_t n = elements(call->outputs[0]);
  int64_t r, i;
  state->epsilon = call->params->norm.epsilon;
  snprintf(state->parameters, sizeof state->parameters, "%s",
           call->params_json);
  for (r = 0; r < n; r += d) {
    double sum = 0, root;
    for (i = 0; i < d; ++i) sum += (double)x[r + i] * x[r + i];
    root = sqrt(sum / (double)d + state->epsilon);
    for (i = 0; i < d; ++i) y[r + i] = (float)(x[r + i] / root) * w[i];
  }
}

static void linear(const rc_op_call* call) {
  const float *x = call->inputs[0]->data, *w = call->inputs[1]->data;
  const float* residual =
      call->inputs[3] == NULL ? NULL : call->inputs[3]->data;
  float* y = call->outputs[0]->data;
  const int64_t rows = call->inputs[0]->shape[0];
  const int64_t k = call->inputs[0]->shape[1], n = call->inputs[1]->shape[0];
  int64_t r, i, j;
  for (r = 0; r < rows; ++r) {
    for (i = 0; i < n; ++i) {
      double sum = residual == NULL ? 0 : residual[r * n + i];
      for (j = 0; j < k; ++j) sum += (double)x[r * k + j] * w[i * k + j];
      y[r * n + i] = (float)sum;
    }
  }
}

static rc_status compute(void* user, const rc_op_call* call, char* message) {
  struct state* state = user;
  size_t i;
  if (state->fails != RC_OK) return say(message, state->fails, "no more");
  CHECK(call->should_stop(call->stop_user) == 0);
  CHECK(call->outputs[0]->writable == 1 && call->inputs[0]->writable == 0);
  ++state->computed[call->code];
  for (i = 0; i < call->input_count; ++i) {
    const rc_op_value* value = call->inputs[i];
    if (value == NULL) continue;
    CHECK((value->weight != 0) == (value->storage == RC_STORAGE_WEIGHT));
    if (value->weight > state->weights) state->weights = value->weight;
  }
  if (call->code == RC_OP_RMS_NORM) {
    norm(state, call);
  } else if (call->code == RC_OP_LINEAR) {
    linear(call);
  } else {
    const float *a = call->inputs[0]->data, *b = call->inputs[1]->data;
    float* y = call->outputs[0]->data;
    const int64_t n = elements(call->outputs[0]);
    int64_t k;
    for (k = 0; k < n; ++k) y[k] = a[k] + b[k];
  }
  return RC_OK;
}

static void forget_weight(void* user, uint64_t weight) {
  struct state* state = user;
  CHECK(weight != 0);
  ++state->forgotten;
}

static void release(void* user) { ++((struct state*)user)->released; }

static rc_op_backend backend_of(const char* name, struct state* state) {
  rc_op_backend backend = RC_OP_BACKEND_INIT;
  backend.name = name;
  backend.description = "three ops of a program";
  backend.features = "add rms_norm linear";
  backend.user = state;
  backend.health = health;
  backend.supports = supports;
  backend.compute = compute;
  backend.forget_weight = forget_weight;
  backend.release = release;
  return backend;
}

static const int32_t kPrompt[] = {1, 128, 55, 255};

/* Returns the text of a model on a chain of backends; to be freed. */
static char* text_on(const char* spec) {
  rc_backend* backend = NULL;
  rc_model* model = NULL;
  rc_session* session = NULL;
  rc_generate_options options = RC_GENERATE_OPTIONS_INIT;
  char* text = NULL;
  options.prompt_tokens = kPrompt;
  options.prompt_token_count = 4;
  options.max_tokens = 12;
  options.temperature = 0;
  options.ignore_eos = 1;
  REQUIRE_OK(rc_backend_open(spec, NULL, &backend));
  REQUIRE_OK(rc_model_load(backend, RC_MODEL, NULL, &model));
  REQUIRE_OK(rc_session_create(model, NULL, &session));
  REQUIRE_OK(rc_generate(session, &options, &text, NULL, NULL));
  rc_session_release(session);
  rc_model_release(model);
  rc_backend_release(backend);
  return text;
}

/* The report of the only device of a backend, or of why there is none. */
static rc_device_report report_of(rc_device_list* list, const char* name) {
  rc_device_report report = RC_DEVICE_REPORT_INIT;
  size_t i;
  for (i = 0; i < rc_device_list_count(list); ++i) {
    REQUIRE_OK(rc_device_list_get(list, i, &report));
    if (strcmp(report.backend, name) == 0) return report;
  }
  report.backend = NULL;
  return report;
}

static void check_models(struct state* state) {
  char* expected = text_on("reference");
  char* text = text_on("mine,cpu");
  CHECK(strcmp(text, expected) == 0);
  CHECK(state->computed[RC_OP_RMS_NORM] > 0);
  CHECK(state->weights > 0 && state->forgotten > 0);
  CHECK(state->epsilon > 0);
  CHECK(strstr(state->parameters, "{\"epsilon\":") == state->parameters);
  CHECK((float)atof(state->parameters + strlen("{\"epsilon\":")) ==
        state->epsilon);
  rc_free(text);
  rc_free(expected);
}

static void check_health(struct state* state) {
  rc_device_list* list = NULL;
  rc_device_report report;
  rc_backend* backend = NULL;
  REQUIRE_OK(rc_discover(&list));
  report = report_of(list, "mine");
  CHECK(report.backend != NULL && report.index == 0);
  CHECK(strcmp(report.driver, "fit as a fiddle") == 0);
  CHECK(strcmp(report.features, "add rms_norm linear") == 0);
  CHECK(report.kind == RC_DEVICE_SOFTWARE);
  rc_device_list_release(list);

  state->sick = "it has a cold";
  REQUIRE_OK(rc_discover(&list));
  report = report_of(list, "mine");
  CHECK(report.backend != NULL && report.index < 0);
  CHECK(strcmp(report.reason, "it has a cold") == 0);
  rc_device_list_release(list);
  CHECK_STATUS(RC_E_BACKEND_UNAVAILABLE,
               rc_backend_open("mine", NULL, &backend));
  CHECK(strstr(rc_error_message(), "it has a cold") != NULL);
  state->sick = NULL;
}

/* With tensors: the sum of two numbers. */
static rc_status add(rc_backend* backend, float* sum) {
  const float one = 1, two = 2;
  const int64_t shape[1] = {1};
  rc_tensor *a = NULL, *b = NULL, *y = NULL;
  rc_status status;
  REQUIRE_OK(rc_tensor_from_data(backend, RC_DTYPE_F32, shape, 1, &one,
                                 sizeof one, &a));
  REQUIRE_OK(rc_tensor_from_data(backend, RC_DTYPE_F32, shape, 1, &two,
                                 sizeof two, &b));
  status = rc_op_add(a, b, &y);
  if (status == RC_OK) status = rc_tensor_read(y, sum, sizeof *sum);
  rc_tensor_release(y);
  rc_tensor_release(b);
  rc_tensor_release(a);
  return status;
}

static void check_failures_of_ops(struct state* state) {
  rc_backend* backend = NULL;
  float sum = 0;
  REQUIRE_OK(rc_backend_open("mine,cpu", NULL, &backend));
  CHECK_STATUS(RC_OK, add(backend, &sum));
  CHECK(sum == 3);
  state->fails = RC_E_DEVICE;
  CHECK_STATUS(RC_E_DEVICE, add(backend, &sum));
  CHECK(strstr(rc_error_message(), "no more") != NULL);
  state->fails = (rc_status)12345; /* no status */
  CHECK_STATUS(RC_E_DEVICE, add(backend, &sum));
  state->fails = RC_OK;
  CHECK_STATUS(RC_OK, add(backend, &sum));
  rc_backend_release(backend);
}

/* Open devices stay usable; the next plugin of the name is another one. */
static void check_the_end(struct state* state) {
  struct state second = {0};
  rc_op_backend backend = backend_of("mine", &second);
  rc_backend *before = NULL, *after = NULL;
  char* metrics = NULL;
  float sum = 0;
  int computed;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_backend_register(&backend));
  CHECK(second.released == 0);
  REQUIRE_OK(rc_backend_open("mine,cpu", NULL, &before));
  CHECK_STATUS(RC_OK, rc_op_backend_unregister("mine"));
  CHECK_STATUS(RC_E_NOT_FOUND, rc_op_backend_unregister("mine"));
  CHECK_STATUS(RC_E_NOT_FOUND, rc_backend_open("mine", NULL, &after));
  REQUIRE_OK(rc_tenant_metrics(NULL, RC_METRICS_JSON, &metrics));
  CHECK(strstr(metrics, "mine:0") != NULL);
  rc_free(metrics);
  computed = state->computed[RC_OP_BINARY] + state->computed[RC_OP_ADD];
  CHECK_STATUS(RC_OK, add(before, &sum));
  CHECK(state->computed[RC_OP_BINARY] + state->computed[RC_OP_ADD] ==
        computed + 1);
  REQUIRE_OK(rc_op_backend_register(&backend));
  REQUIRE_OK(rc_backend_open("mine,cpu", NULL, &after));
  CHECK_STATUS(RC_OK, add(after, &sum));
  CHECK(second.computed[RC_OP_BINARY] + second.computed[RC_OP_ADD] == 1);
  CHECK(state->released == 0);
  rc_backend_release(before);
  CHECK(state->released == 1);
  CHECK_STATUS(RC_OK, rc_op_backend_unregister("mine"));
  rc_backend_release(after);
  CHECK(second.released == 1);
}

static void check_arguments(void) {
  struct state state = {0};
  rc_op_backend backend = backend_of("wrong", &state);
  rc_op_backend init;
  char name[16];
  int i, taken = 0;
  memset(&init, 0xff, sizeof init);
  rc_op_backend_init(&init, sizeof init);
  CHECK(init.struct_size == sizeof init && init.name == NULL);
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_backend_register(NULL));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_backend_register(&init));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_backend_unregister(NULL));
  CHECK_STATUS(RC_E_NOT_FOUND, rc_op_backend_unregister("cpu"));
  CHECK(strcmp(rc_op_name(RC_OP_RMS_NORM), "RMS_NORM") == 0);
  CHECK(rc_op_name(0) == NULL && rc_op_name(30000) == NULL);
  backend.compute = NULL;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_backend_register(&backend));
  backend.compute = compute;
  backend.name = NULL;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_backend_register(&backend));
  backend.name = "Wrong";
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_backend_register(&backend));
  backend.name = "cpu";
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_op_backend_register(&backend));
  backend.name = name;
  for (i = 0; i < 200; ++i) { /* the same name, as often as one likes */
    strcpy(name, "again");
    REQUIRE_OK(rc_op_backend_register(&backend));
    REQUIRE_OK(rc_op_backend_unregister("again"));
  }
  CHECK(state.released == 200);
  for (i = 0; i < 64; ++i) {
    snprintf(name, sizeof name, "n%d", i);
    if (rc_op_backend_register(&backend) == RC_OK) ++taken;
  }
  CHECK(taken == 62); /* besides "mine" and "again" */
  CHECK_STATUS(RC_E_UNSUPPORTED, rc_op_backend_register(&backend));
  for (i = 0; i < taken; ++i) {
    snprintf(name, sizeof name, "n%d", i);
    CHECK_STATUS(RC_OK, rc_op_backend_unregister(name));
  }
}

int main(void) {
  struct state state = {0};
  rc_op_backend backend = backend_of("mine", &state);
  REQUIRE_OK(rc_op_backend_register(&backend));
  check_models(&state);
  check_health(&state);
  check_failures_of_ops(&state);
  check_the_end(&state);
  check_arguments();
  return CHECK_RESULT();
}
