/* Exercises plugin.h: a tiny backend that keeps weights and supports nothing.
 */
#include "runcible/plugin.h"

#include "check.h"
#include "runcible/runcible.h"

struct rc_plugin_device {
  int open;
};

static struct rc_plugin_device the_device;

static rc_status device_count(int32_t* count, char* message) {
  (void)message;
  *count = 1;
  return RC_OK;
}

static rc_status device_info(int32_t index, rc_plugin_device_info* info,
                             char* message) {
  (void)index;
  (void)message;
  strcpy(info->name, "tiny device");
  info->kind = RC_DEVICE_ACCELERATOR;
  info->total_memory = 1 << 20;
  info->free_memory = 1 << 20;
  info->cores = 1;
  return RC_OK;
}

static rc_status open_device(int32_t index,
                             const rc_plugin_open_options* options,
                             rc_plugin_device** device, char* message) {
  (void)index;
  (void)message;
  CHECK(options->log != NULL);
  CHECK(options->abi_version == RC_PLUGIN_ABI_VERSION);
  the_device.open = 1;
  *device = &the_device;
  return RC_OK;
}

static void close_device(rc_plugin_device* device) { device->open = 0; }

static rc_status op_supported(rc_plugin_device* device, const rc_plugin_op* op,
                              const rc_plugin_value* const* values,
                              size_t value_count, char* message) {
  size_t i;
  (void)device;
  /* The values that the op names, and no others. */
  for (i = 0; i < op->input_count; ++i) {
    CHECK(op->inputs[i] >= -1 && op->inputs[i] < (int32_t)value_count);
    CHECK(op->inputs[i] < 0 || values[op->inputs[i]]->rank >= 1);
  }
  for (i = 0; i < op->output_count; ++i) {
    CHECK(op->outputs[i] >= -1 && op->outputs[i] < (int32_t)value_count);
  }
  CHECK(op->params != NULL);
  strcpy(message, "tiny supports nothing");
  return RC_E_UNSUPPORTED;
}

static rc_status weight_bytes(rc_plugin_device* device,
                              const rc_plugin_weight_info* info,
                              uint64_t* bytes, char* message) {
  (void)device;
  (void)info;
  (void)message;
  *bytes = 64;
  return RC_OK;
}

static rc_status create_weight(rc_plugin_device* device,
                               const rc_plugin_weight_info* info,
                               const void* data, rc_plugin_weight** weight,
                               char* message) {
  (void)device;
  (void)info;
  (void)data;
  *weight = malloc(64);
  if (*weight != NULL) return RC_OK;
  strcpy(message, "no memory");
  return RC_E_DEVICE_MEMORY;
}

static void destroy_weight(rc_plugin_device* device, rc_plugin_weight* weight) {
  (void)device;
  free(weight);
}

static rc_status create_buffer(rc_plugin_device* device, uint64_t bytes,
                               rc_plugin_buffer** buffer, char* message) {
  (void)device;
  *buffer = calloc(1, bytes);
  if (*buffer != NULL) return RC_OK;
  strcpy(message, "no memory");
  return RC_E_DEVICE_MEMORY;
}

static void destroy_buffer(rc_plugin_device* device, rc_plugin_buffer* buffer) {
  (void)device;
  free(buffer);
}

static rc_status upload(rc_plugin_device* device, rc_plugin_buffer* buffer,
                        uint64_t offset, const void* data, uint64_t bytes,
                        char* message) {
  (void)device;
  (void)message;
  memcpy((char*)buffer + offset, data, bytes);
  return RC_OK;
}

static rc_status download(rc_plugin_device* device, rc_plugin_buffer* buffer,
                          uint64_t offset, void* data, uint64_t bytes,
                          char* message) {
  (void)device;
  (void)message;
  memcpy(data, (char*)buffer + offset, bytes);
  return RC_OK;
}

static rc_status compile(rc_plugin_device* device,
                         const rc_plugin_program* program,
                         rc_plugin_compiled** compiled, char* message) {
  (void)device;
  (void)program;
  (void)compiled;
  strcpy(message, "tiny compiles nothing");
  return RC_E_UNSUPPORTED;
}

static void destroy_compiled(rc_plugin_device* device,
                             rc_plugin_compiled* compiled) {
  (void)device;
  (void)compiled;
}

static rc_status run(rc_plugin_device* device, rc_plugin_compiled* compiled,
                     const rc_plugin_run* arguments, char* message) {
  (void)device;
  (void)compiled;
  (void)arguments;
  strcpy(message, "tiny runs nothing");
  return RC_E_UNSUPPORTED;
}

static rc_status wait_for_run(rc_plugin_device* device, int64_t timeout_ms,
                              char* message) {
  (void)device;
  (void)timeout_ms;
  (void)message;
  return RC_OK;
}

int main(void) {
  rc_plugin plugin;
  rc_backend* backend = NULL;
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  rc_model* model = NULL;
  rc_device_report report = RC_DEVICE_REPORT_INIT;

  memset(&plugin, 0, sizeof(plugin));
  plugin.struct_size = sizeof(plugin);
  plugin.abi_version = RC_PLUGIN_ABI_VERSION + 1;
  plugin.least_abi_version = RC_PLUGIN_ABI_VERSION + 1;
  plugin.name = "tiny";
  plugin.description = "a plugin of a test";
  CHECK_STATUS(RC_E_ABI, rc_plugin_register(&plugin));
  CHECK(strstr(rc_error_message(), "newer library") != NULL);
  plugin.abi_version = 1;
  plugin.least_abi_version = 1;
  CHECK_STATUS(RC_E_ABI, rc_plugin_register(&plugin));
  /* A newer plugin that can do with this library. */
  plugin.abi_version = RC_PLUGIN_ABI_VERSION + 1;
  plugin.least_abi_version = RC_PLUGIN_ABI_VERSION;
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_plugin_register(&plugin));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_plugin_register(NULL));
  plugin.device_count = device_count;
  plugin.device_info = device_info;
  plugin.open = open_device;
  plugin.close = close_device;
  plugin.op_supported = op_supported;
  plugin.weight_bytes = weight_bytes;
  plugin.create_weight = create_weight;
  plugin.destroy_weight = destroy_weight;
  plugin.create_buffer = create_buffer;
  plugin.destroy_buffer = destroy_buffer;
  plugin.upload = upload;
  plugin.download = download;
  plugin.compile = compile;
  plugin.destroy_compiled = destroy_compiled;
  plugin.run = run;
  plugin.wait = wait_for_run;
  plugin.name = "Tiny Backend";
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_plugin_register(&plugin));
  plugin.name = "tiny";
  /* A table of an older header ends before the optional functions. */
  plugin.struct_size = offsetof(rc_plugin, copy);
  REQUIRE_OK(rc_plugin_register(&plugin));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_plugin_register(&plugin));
  CHECK(strstr(rc_error_message(), "tiny") != NULL);

  REQUIRE_OK(rc_backend_open("tiny", NULL, &backend));
  CHECK(the_device.open == 1);
  CHECK_STATUS(RC_OK, rc_backend_device(backend, &report));
  CHECK(strcmp(report.id, "tiny:0") == 0);
  CHECK(strcmp(report.name, "tiny device") == 0);
  CHECK(report.kind == RC_DEVICE_ACCELERATOR);
  /* Everything runs on the CPU instead, unless that is not wanted. */
  REQUIRE_OK(rc_model_load(backend, RC_MODEL, NULL, &model));
  rc_model_release(model);
  rc_backend_release(backend);
  options.strict = 1;
  REQUIRE_OK(rc_backend_open("tiny", &options, &backend));
  model = NULL;
  CHECK_STATUS(RC_E_UNSUPPORTED,
               rc_model_load(backend, RC_MODEL, NULL, &model));
  CHECK(strstr(rc_error_message(), "tiny supports nothing") != NULL);
  rc_backend_release(backend);
  CHECK(the_device.open == 0);

  CHECK_STATUS(RC_E_IO, rc_plugin_load("no/such/module.so"));
  CHECK_STATUS(RC_E_INVALID_ARGUMENT, rc_plugin_load(NULL));
  return CHECK_RESULT();
}
