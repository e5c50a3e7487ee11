/* A plugin in plain C with a backend that computes three ops in host memory,
 * which the library manages for it. Other ops run on the CPU backend, as
 * rc_backend_explain shows.
 *
 *     cc -shared -fPIC plugin_backend.c -o librunciblebackend-example.so \
 *       $(pkg-config --cflags runcible) -lm
 *
 *     RUNCIBLE_PLUGIN_PATH=. runcible run --backend example,cpu
 *
 * or rc_plugin_load("./librunciblebackend-example.so") in a program.
 */
#include <math.h>
#include <runcible/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef rc_plugin_device Device;
typedef rc_plugin_compiled Compiled;
typedef const rc_plugin_run Run;

struct rc_plugin_device {
  int unused; /* host memory has no state */
};
struct step { /* an op: numbers of its values, and its parameters */
  int32_t code, a, b, y;
  float epsilon;
};
struct rc_plugin_compiled { /* copies of the program's tables, and scratch */
  rc_plugin_value* values;
  struct step* steps;
  size_t step_count;
  char **weights, **caches; /* a handle is the address of its bytes */
  char* scratch;
};

static rc_status device_count(int32_t* n, char* message) {
  (void)message;
  *n = 1;
  return RC_OK;
}
static rc_status device_info(int32_t i, rc_plugin_device_info* info, char* m) {
  (void)i, (void)m;
  strcpy(info->name, "three ops in plain C");
  return RC_OK;
}
static void* given(void* memory, char* message) {
  if (memory == NULL) strcpy(message, "no memory is left");
  return memory;
}
static rc_status open_device(int32_t i, const rc_plugin_open_options* options,
                             Device** d, char* m) {
  (void)i, (void)options;
  return (*d = given(calloc(1, sizeof **d), m)) ? RC_OK : RC_E_OUT_OF_MEMORY;
}
static void close_device(Device* d) { free(d); }

static rc_status op_supported(Device* d, const rc_plugin_op* op,
                              const rc_plugin_value* const* values,
                              size_t value_count, char* message) {
  (void)d, (void)value_count;
  if (op->code == RC_OP_ADD) return RC_OK;
  if (op->code == RC_OP_RMS_NORM &&
      values[op->inputs[1]]->dtype == RC_DTYPE_F32)
    return RC_OK;
  if (op->code == RC_OP_GLU && op->params->glu.function == RC_FUNCTION_SILU)
    return RC_OK;
  strcpy(message, "only ADD, RMS_NORM of F32 and GLU with SiLU are written");
  return RC_E_UNSUPPORTED;
}
static void* copy(const void* from, size_t bytes, char* message) {
  void* to = given(malloc(bytes + 1), message); /* also for 0 bytes */
  return to == NULL || bytes == 0 ? to : memcpy(to, from, bytes);
}
static void destroy_compiled(Device* d, Compiled* c) {
  (void)d, free(c->values), free(c->steps), free(c->weights), free(c->caches);
  free(c->scratch), free(c);
}
static rc_status compile(Device* d, const rc_plugin_program* p, Compiled** out,
                         char* m) {
  Compiled* c = given(calloc(1, sizeof *c), m);
  if (c == NULL) return RC_E_OUT_OF_MEMORY;
  c->values = given(calloc(p->value_count + 1, sizeof *c->values), m);
  c->steps = given(calloc(p->op_count + 1, sizeof *c->steps), m);
  c->step_count = p->op_count;
  c->weights = copy(p->weights, p->weight_count * sizeof *p->weights, m);
  c->caches = copy(p->caches, p->cache_count * sizeof *p->caches, m);
  c->scratch = given(malloc(p->scratch_bytes + 1), m);
  if (!c->values || !c->steps || !c->weights || !c->caches || !c->scratch) {
    destroy_compiled(d, c);
    return RC_E_OUT_OF_MEMORY;
  }
  /* A newer library's structs may be longer; these are as long as ours. */
  for (size_t i = 0; i < p->value_count; i++) c->values[i] = *p->values[i];
  for (size_t i = 0; i < p->op_count; i++) {
    const rc_plugin_op* op = p->ops[i];
    const struct step s = {op->code, op->inputs[0], op->inputs[1],
                           op->outputs[0], op->params->norm.epsilon};
    c->steps[i] = s;
  }
  *out = c;
  return RC_OK;
}

static float* at(const Compiled* c, Run* run, int32_t value) {
  const rc_plugin_value* v = &c->values[value];
  if (v->storage == RC_STORAGE_WEIGHT) return (float*)c->weights[v->index];
  if (v->storage == RC_STORAGE_INPUT) return (float*)run->inputs[v->index];
  if (v->storage == RC_STORAGE_OUTPUT) return run->outputs_data[v->index];
  const int cache = v->storage == RC_STORAGE_CACHE;
  return (float*)((cache ? c->caches[v->index] : c->scratch) + v->offset);
}
static void compute(const Compiled* c, Run* run, const struct step* s) {
  const float *a = at(c, run, s->a), *b = at(c, run, s->b);
  float* y = at(c, run, s->y);
  const rc_plugin_value* v = &c->values[s->y];
  const int64_t symbols[] = {0, run->rows, run->outputs, run->sequences};
  const int64_t d = v->shape[v->rank - 1];
  int64_t n = 1;
  for (int i = 0; i < v->rank; i++)
    n *= v->shape[i] < 0 ? symbols[-v->shape[i]] : v->shape[i];
  for (int64_t i = 0; i < n && s->code == RC_OP_ADD; i++) y[i] = a[i] + b[i];
  for (int64_t i = 0; i < n && s->code == RC_OP_GLU; i++)
    y[i] = a[i] / (1 + expf(-a[i])) * b[i];
  for (int64_t r = 0; r < n && s->code == RC_OP_RMS_NORM; r += d) {
    double sum = 0;
    for (int64_t i = r; i < r + d; i++) sum += (double)a[i] * a[i];
    const double root = sqrt(sum / (double)d + s->epsilon);
    for (int64_t i = r; i < r + d; i++) y[i] = (float)(a[i] / root) * b[i - r];
  }
}
static rc_status run(Device* d, Compiled* c, Run* run, char* message) {
  (void)d;
  for (size_t i = 0; i < c->step_count; i++) {
    if (run->should_stop && run->should_stop(run->user)) {
      strcpy(message, "asked to stop");
      return RC_E_CANCELLED;
    }
    compute(c, run, &c->steps[i]);
  }
  return RC_OK;
}

RC_API const rc_plugin* rc_plugin_entry(void);
const rc_plugin* rc_plugin_entry(void) {
  static rc_plugin plugin; /* unset members have a default */
  plugin.struct_size = sizeof plugin;
  plugin.abi_version = RC_PLUGIN_ABI_VERSION;
  plugin.least_abi_version = RC_PLUGIN_ABI_VERSION;
  plugin.name = "example";
  plugin.description = "three ops in plain C";
  plugin.device_count = device_count;
  plugin.device_info = device_info;
  plugin.open = open_device;
  plugin.close = close_device;
  plugin.op_supported = op_supported;
  plugin.compile = compile;
  plugin.destroy_compiled = destroy_compiled;
  plugin.run = run;
  return &plugin;
}
