#include "remote_device.h"

#include <stdio.h>

uint32_t number_of(const void* handle) { return (uint32_t)(uintptr_t)handle; }
void* handle_of(uint32_t number) { return (void*)(uintptr_t)number; }

rc_status no_memory(char* message) {
  snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "out of memory");
  return RC_E_OUT_OF_MEMORY;
}

rc_status plain_call(rc_plugin_device* device, struct frame* request,
                     const void* data, size_t size, char* message) {
  struct frame answer;
  const rc_status status =
      call(device->connection, request, data, size, NO_LIMIT, &answer, message);
  return finish(device->connection, status, 1, &answer, message);
}

rc_status make(rc_plugin_device* device, struct frame* request,
               const void* data, size_t size, uint32_t* number, char* message) {
  struct frame answer;
  const rc_status status =
      call(device->connection, request, data, size, NO_LIMIT, &answer, message);
  if (status == RC_OK) *number = get_u32(&answer);
  return finish(device->connection, status, status != RC_OK || *number != 0,
                &answer, message);
}

void destroy(rc_plugin_device* device, int32_t code, uint32_t number) {
  char ignored[RC_PLUGIN_MESSAGE_BYTES];
  struct frame request = {0};
  frame_begin(&request, code);
  put_u32(&request, number);
  plain_call(device, &request, NULL, 0, ignored);
}
