/* A host that acts as a newer library for a plugin: its structs are longer than
 * in the plugin's header. Built with headers that CMake has made so; see
 * CMakeLists.txt.
 *
 *     newer_library PLUGIN
 *
 * gives the plugin a program of two ops, a + b and then that + b, whose structs
 * have a member behind those that it knows, and runs it. */
#include <dlfcn.h>
#include <runcible/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUIRE(condition)                                             \
  do {                                                                 \
    if (!(condition)) {                                                \
      fprintf(stderr, "%s:%d: %s is not so: %s\n", __FILE__, __LINE__, \
              #condition, message);                                    \
      exit(EXIT_FAILURE);                                              \
    }                                                                  \
  } while (0)

enum { ROWS = 3, WIDTH = 4, SIZE = ROWS * WIDTH };

static char message[RC_PLUGIN_MESSAGE_BYTES];

static void log_nothing(rc_log_level level, const char* text) {
  (void)level;
  (void)text;
}

static rc_plugin_value value_in(int32_t storage, int32_t index) {
  rc_plugin_value value;
  memset(&value, 0, sizeof value);
  value.dtype = RC_DTYPE_F32;
  value.rank = 2;
  value.shape[0] = RC_DIM_ROWS;
  value.shape[1] = WIDTH;
  value.storage = storage;
  value.index = index;
  value.added_later = -1;
  return value;
}

static const rc_plugin* load(const char* path) {
  const rc_plugin* (*entry)(void) = NULL;
  void* module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* found = module == NULL ? NULL : dlsym(module, "rc_plugin_entry");
  if (found == NULL) snprintf(message, sizeof message, "%s", dlerror());
  REQUIRE(found != NULL);
  memcpy(&entry, &found, sizeof entry);
  return entry();
}

int main(int count, char** arguments) {
  const rc_plugin* plugin;
  rc_plugin_device* device = NULL;
  rc_plugin_compiled* compiled = NULL;
  rc_plugin_open_options options;
  rc_plugin_program program;
  rc_plugin_params params;
  rc_plugin_value values[4];
  const rc_plugin_value* value_pointers[4];
  rc_plugin_op ops[2];
  const rc_plugin_op* op_pointers[2];
  static const int32_t inputs[2][2] = {{0, 1}, {2, 1}}, outputs[2] = {2, 3};
  float a[SIZE], b[SIZE], y[SIZE];
  const void* given[2];
  void* results[1];
  rc_plugin_run run;
  int i;

  REQUIRE(count == 2);
  plugin = load(arguments[1]);
  memset(&options, 0, sizeof options);
  options.struct_size = sizeof options;
  options.log = log_nothing;
  options.abi_version = RC_PLUGIN_ABI_VERSION + 1;
  REQUIRE(plugin->open(0, &options, &device, message) == RC_OK);

  values[0] = value_in(RC_STORAGE_INPUT, 0);
  values[1] = value_in(RC_STORAGE_INPUT, 1);
  values[2] = value_in(RC_STORAGE_SCRATCH, 0);
  values[3] = value_in(RC_STORAGE_OUTPUT, 0);
  for (i = 0; i < 4; ++i) value_pointers[i] = &values[i];
  memset(&params, -1, sizeof params);
  for (i = 0; i < 2; ++i) {
    memset(&ops[i], 0, sizeof ops[i]);
    ops[i].code = RC_OP_ADD;
    ops[i].input_count = 2;
    ops[i].inputs = inputs[i];
    ops[i].output_count = 1;
    ops[i].outputs = &outputs[i];
    ops[i].params = &params;
    ops[i].added_later = -1;
    op_pointers[i] = &ops[i];
    REQUIRE(plugin->op_supported(device, &ops[i], value_pointers, 4, message) ==
            RC_OK);
  }
  /* An op that came later. */
  ops[1].code = 1000;
  REQUIRE(plugin->op_supported(device, &ops[1], value_pointers, 4, message) ==
          RC_E_UNSUPPORTED);
  REQUIRE(*message != '\0');
  ops[1].code = RC_OP_ADD;

  memset(&program, 0, sizeof program);
  program.struct_size = sizeof program;
  program.values = value_pointers;
  program.value_count = 4;
  program.ops = op_pointers;
  program.op_count = 2;
  program.input_count = 2;
  program.output_count = 1;
  program.scratch_bytes = 64;
  program.max_rows = ROWS;
  program.added_later = -1;
  REQUIRE(plugin->compile(device, &program, &compiled, message) == RC_OK);

  for (i = 0; i < SIZE; ++i) {
    a[i] = (float)i;
    b[i] = 0.5f;
  }
  given[0] = a;
  given[1] = b;
  results[0] = y;
  memset(&run, 0, sizeof run);
  run.struct_size = sizeof run;
  run.rows = ROWS;
  run.inputs = given;
  run.outputs_data = results;
  run.added_later = -1;
  REQUIRE(plugin->run(device, compiled, &run, message) == RC_OK);
  for (i = 0; i < SIZE; ++i) REQUIRE(y[i] == (float)i + 1.0f);
  plugin->destroy_compiled(device, compiled);
  plugin->close(device);
  return EXIT_SUCCESS;
}
