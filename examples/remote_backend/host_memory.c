#include "host_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "values.h"

static void* allocate(uint64_t bytes, char* message) {
  void* memory = NULL;
  if (bytes > SIZE_MAX / 2 ||
      posix_memalign(&memory, 64, (size_t)bytes + 1) != 0) {
    snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "no memory for %llu bytes",
             (unsigned long long)bytes);
    return NULL;
  }
  return memory;
}

static rc_status weight_bytes(rc_plugin_device* device,
                              const rc_plugin_weight_info* info,
                              uint64_t* bytes, char* message) {
  static const struct rows none = {0, 0, 0};
  (void)device;
  if (tensor_bytes(info->dtype, info->rank, info->shape, &none, bytes)) {
    return RC_OK;
  }
  snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "type or shape are impossible");
  return RC_E_INVALID_ARGUMENT;
}
static rc_status create_weight(rc_plugin_device* device,
                               const rc_plugin_weight_info* info,
                               const void* data, rc_plugin_weight** weight,
                               char* message) {
  uint64_t bytes;
  const rc_status status = weight_bytes(device, info, &bytes, message);
  if (status != RC_OK) return status;
  *weight = allocate(bytes, message);
  if (*weight == NULL) return RC_E_OUT_OF_MEMORY;
  if (bytes > 0) memcpy(*weight, data, (size_t)bytes);
  return RC_OK;
}
static void destroy_weight(rc_plugin_device* device, rc_plugin_weight* weight) {
  (void)device;
  free(weight);
}

static rc_status create_buffer(rc_plugin_device* device, uint64_t bytes,
                               rc_plugin_buffer** buffer, char* message) {
  (void)device;
  *buffer = allocate(bytes, message);
  if (*buffer == NULL) return RC_E_OUT_OF_MEMORY;
  memset(*buffer, 0, (size_t)bytes);
  return RC_OK;
}
static void destroy_buffer(rc_plugin_device* device, rc_plugin_buffer* buffer) {
  (void)device;
  free(buffer);
}
static rc_status upload(rc_plugin_device* device, rc_plugin_buffer* buffer,
                        uint64_t offset, const void* data, uint64_t bytes,
                        char* message) {
  (void)device, (void)message;
  if (bytes > 0) memcpy((char*)buffer + offset, data, (size_t)bytes);
  return RC_OK;
}
static rc_status download(rc_plugin_device* device, rc_plugin_buffer* buffer,
                          uint64_t offset, void* data, uint64_t bytes,
                          char* message) {
  (void)device, (void)message;
  if (bytes > 0) memcpy(data, (char*)buffer + offset, (size_t)bytes);
  return RC_OK;
}

/* Returns at once, as every run of such a plugin is over by then. */
static rc_status wait(rc_plugin_device* device, int64_t timeout_ms,
                      char* message) {
  (void)device, (void)timeout_ms, (void)message;
  return RC_OK;
}

int complete_table(const rc_plugin* given, rc_plugin* table) {
  if (given->abi_version < RC_PLUGIN_OLDEST_ABI_VERSION ||
      given->least_abi_version > RC_PLUGIN_ABI_VERSION) {
    return 0;
  }
  memset(table, 0, sizeof *table);
  memcpy(
      table, given,
      given->struct_size < sizeof *table ? given->struct_size : sizeof *table);
  if (table->weight_bytes == NULL) {
    table->weight_bytes = weight_bytes;
    table->create_weight = create_weight;
    table->destroy_weight = destroy_weight;
    table->create_buffer = create_buffer;
    table->destroy_buffer = destroy_buffer;
    table->upload = upload;
    table->download = download;
  }
  if (table->wait == NULL) table->wait = wait;
  return table->device_count && table->device_info && table->open &&
         table->close && table->op_supported && table->create_weight &&
         table->destroy_weight && table->create_buffer &&
         table->destroy_buffer && table->upload && table->download &&
         table->compile && table->destroy_compiled && table->run;
}
