/* A backend whose ops run in another process: every function of the plugin is a
 * call over a socket to remote_server, which has the device. When the server
 * dies or falls silent, calls under way end with RC_E_DEVICE_LOST, this process
 * lives on, and the device can be opened again once a server is back.
 *
 *     cc -shared -fPIC -fvisibility=hidden remote_backend.c remote_device.c \
 *       remote_program.c connection.c protocol.c values.c \
 *       -o librunciblebackend-remote.so \
 *       $(pkg-config --cflags runcible) $(pkg-config --cflags --libs libuv)
 *
 * To try it, with any backend's module at the other end:
 *
 *     ./remote_server /tmp/socket librunciblebackend-vulkan.so &
 *     export RUNCIBLE_PLUGIN_PATH=. RUNCIBLE_REMOTE=/tmp/socket
 *     runcible run --backend remote,cpu
 *
 * Between machines, ssh carries the socket: ssh -N -L /tmp/socket:/tmp/socket
 * HOST. A server that sends nothing for RUNCIBLE_REMOTE_TIMEOUT_MS (10000)
 * counts as dead. */
#include <runcible/plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "remote_device.h"
#include "values.h"

enum {
  MAX_DEVICES = 64,
  MOVED_AT_ONCE = 1 << 26 /* bytes of a buffer */
};

/* Devices. Each query about them uses a separate connection. */

static rc_status device_count(int32_t* count, char* message) {
  struct connection* connection;
  struct frame request = {0}, answer;
  int32_t found = 0;
  rc_status status = connect_to_server(&connection, message);
  if (status != RC_OK) return status;
  frame_begin(&request, REMOTE_COUNT);
  status = call(connection, &request, NULL, 0, NO_LIMIT, &answer, message);
  if (status == RC_OK) found = get_i32(&answer);
  status = finish(connection, status, found >= 0 && found <= MAX_DEVICES,
                  &answer, message);
  if (status == RC_OK) *count = found;
  disconnect(connection);
  return status;
}

static rc_status device_info(int32_t index, rc_plugin_device_info* info,
                             char* message) {
  struct connection* connection;
  struct frame request = {0}, answer;
  rc_plugin_device_info found;
  rc_status status = connect_to_server(&connection, message);
  if (status != RC_OK) return status;
  memset(&found, 0, sizeof found);
  frame_begin(&request, REMOTE_INFO);
  put_i32(&request, index);
  status = call(connection, &request, NULL, 0, NO_LIMIT, &answer, message);
  if (status == RC_OK) get_device_info(&answer, &found);
  status = finish(connection, status, 1, &answer, message);
  disconnect(connection);
  if (status != RC_OK) return status;
  found.struct_size = info->struct_size;
  memcpy(info, &found,
         info->struct_size < sizeof found ? info->struct_size : sizeof found);
  return RC_OK;
}

static void close_device(rc_plugin_device* device) {
  disconnect(device->connection);
  free(device);
}

static rc_status open_device(int32_t index,
                             const rc_plugin_open_options* options,
                             rc_plugin_device** device, char* message) {
  struct frame request = {0};
  rc_plugin_device* made = calloc(1, sizeof *made);
  rc_status status;
  if (made == NULL) return no_memory(message);
  status = connect_to_server(&made->connection, message);
  if (status == RC_OK) {
    frame_begin(&request, REMOTE_OPEN);
    put_i32(&request, index);
    put_i32(&request, options->threads);
    put_i32(&request, options->profile);
    status = plain_call(made, &request, NULL, 0, message);
  }
  if (status != RC_OK) {
    close_device(made);
    return status;
  }
  *device = made;
  return RC_OK;
}

static rc_status op_supported(rc_plugin_device* device, const rc_plugin_op* op,
                              const rc_plugin_value* const* values,
                              size_t value_count, char* message) {
  struct frame request = {0};
  if (!op_is_known(op->code)) {
    snprintf(message, RC_PLUGIN_MESSAGE_BYTES,
             "op number %d is newer than the remote backend", op->code);
    return RC_E_UNSUPPORTED;
  }
  frame_begin(&request, REMOTE_SUPPORTED);
  put_u32(&request, (uint32_t)value_count);
  for (size_t i = 0; i < value_count; ++i) put_value(&request, values[i]);
  put_op(&request, op);
  return plain_call(device, &request, NULL, 0, message);
}

/* Weights and buffers. */

static rc_status weight_bytes(rc_plugin_device* device,
                              const rc_plugin_weight_info* info,
                              uint64_t* bytes, char* message) {
  struct frame request = {0}, answer;
  rc_status status;
  frame_begin(&request, REMOTE_WEIGHT_SIZE);
  put_weight_info(&request, info);
  status =
      call(device->connection, &request, NULL, 0, NO_LIMIT, &answer, message);
  if (status == RC_OK) *bytes = get_u64(&answer);
  return finish(device->connection, status, 1, &answer, message);
}

static rc_status create_weight(rc_plugin_device* device,
                               const rc_plugin_weight_info* info,
                               const void* data, rc_plugin_weight** weight,
                               char* message) {
  static const struct rows none = {0, 0, 0};
  struct frame request = {0};
  uint64_t bytes;
  uint32_t number = 0;
  rc_status status;
  if (!tensor_bytes(info->dtype, info->rank, info->shape, &none, &bytes)) {
    snprintf(message, RC_PLUGIN_MESSAGE_BYTES,
             "the size of weights of type %d is not known here", info->dtype);
    return RC_E_UNSUPPORTED;
  }
  frame_begin(&request, REMOTE_CREATE_WEIGHT);
  put_weight_info(&request, info);
  status = make(device, &request, data, (size_t)bytes, &number, message);
  if (status == RC_OK) *weight = handle_of(number);
  return status;
}

static void destroy_weight(rc_plugin_device* device, rc_plugin_weight* weight) {
  destroy(device, REMOTE_DESTROY_WEIGHT, number_of(weight));
}

static rc_status create_buffer(rc_plugin_device* device, uint64_t bytes,
                               rc_plugin_buffer** buffer, char* message) {
  struct frame request = {0};
  uint32_t number = 0;
  rc_status status;
  frame_begin(&request, REMOTE_CREATE_BUFFER);
  put_u64(&request, bytes);
  status = make(device, &request, NULL, 0, &number, message);
  if (status == RC_OK) *buffer = handle_of(number);
  return status;
}

static void destroy_buffer(rc_plugin_device* device, rc_plugin_buffer* buffer) {
  destroy(device, REMOTE_DESTROY_BUFFER, number_of(buffer));
}

static rc_status upload(rc_plugin_device* device, rc_plugin_buffer* buffer,
                        uint64_t offset, const void* data, uint64_t bytes,
                        char* message) {
  const char* from = data;
  while (bytes > 0) {
    const uint64_t part = bytes < MOVED_AT_ONCE ? bytes : MOVED_AT_ONCE;
    struct frame request = {0};
    rc_status status;
    frame_begin(&request, REMOTE_UPLOAD);
    put_u32(&request, number_of(buffer));
    put_u64(&request, offset);
    status = plain_call(device, &request, from, (size_t)part, message);
    if (status != RC_OK) return status;
    from += part;
    offset += part;
    bytes -= part;
  }
  return RC_OK;
}

static rc_status download(rc_plugin_device* device, rc_plugin_buffer* buffer,
                          uint64_t offset, void* data, uint64_t bytes,
                          char* message) {
  char* to = data;
  while (bytes > 0) {
    const uint64_t part = bytes < MOVED_AT_ONCE ? bytes : MOVED_AT_ONCE;
    struct frame request = {0}, answer;
    const void* found = NULL;
    rc_status status;
    frame_begin(&request, REMOTE_DOWNLOAD);
    put_u32(&request, number_of(buffer));
    put_u64(&request, offset);
    put_u64(&request, part);
    status =
        call(device->connection, &request, NULL, 0, NO_LIMIT, &answer, message);
    if (status == RC_OK) found = get_bytes(&answer, (size_t)part);
    if (found != NULL) memcpy(to, found, (size_t)part);
    status = finish(device->connection, status, 1, &answer, message);
    if (status != RC_OK) return status;
    to += part;
    offset += part;
    bytes -= part;
  }
  return RC_OK;
}

static rc_status copy(rc_plugin_device* device, rc_plugin_buffer* target,
                      uint64_t target_offset, rc_plugin_buffer* source,
                      uint64_t source_offset, uint64_t bytes, char* message) {
  struct frame request = {0};
  frame_begin(&request, REMOTE_COPY);
  put_u32(&request, number_of(target));
  put_u64(&request, target_offset);
  put_u32(&request, number_of(source));
  put_u64(&request, source_offset);
  put_u64(&request, bytes);
  return plain_call(device, &request, NULL, 0, message);
}

RC_API const rc_plugin* rc_plugin_entry(void);
const rc_plugin* rc_plugin_entry(void) {
  static const rc_plugin plugin = {
      .struct_size = sizeof plugin,
      .abi_version = RC_PLUGIN_ABI_VERSION,
      .least_abi_version = RC_PLUGIN_ABI_VERSION,
      .name = "remote",
      .description = "the devices of a process at the other end of a socket",
      .device_count = device_count,
      .device_info = device_info,
      .open = open_device,
      .close = close_device,
      .op_supported = op_supported,
      .weight_bytes = weight_bytes,
      .create_weight = create_weight,
      .destroy_weight = destroy_weight,
      .create_buffer = create_buffer,
      .destroy_buffer = destroy_buffer,
      .upload = upload,
      .download = download,
      .compile = remote_compile,
      .destroy_compiled = remote_destroy_compiled,
      .run = remote_start_run,
      .wait = remote_wait,
      .copy = copy,
      .op_time = remote_op_time,
  };
  return &plugin;
}
