/* An opened device of the remote backend, and its shared functions. */
#ifndef REMOTE_BACKEND_REMOTE_DEVICE_H
#define REMOTE_BACKEND_REMOTE_DEVICE_H

#include <runcible/plugin.h>

#include "connection.h"

struct rc_plugin_device {
  struct connection* connection;
  /* The run under way. */
  const rc_plugin_run* run;
  const rc_plugin_compiled* program;
  int over;
  rc_status result; /* of a run that has ended */
  char message[RC_PLUGIN_MESSAGE_BYTES];
};

/* Weights and buffers are numbers of the server, cast to pointers. */
uint32_t number_of(const void* handle);
void* handle_of(uint32_t number);

/* Makes a call whose answer is empty. */
rc_status plain_call(rc_plugin_device* device, struct frame* request,
                     const void* data, size_t size, char* message);
/* Makes a call that creates an object. */
rc_status make(rc_plugin_device* device, struct frame* request,
               const void* data, size_t size, uint32_t* number, char* message);
/* Makes a call that destroys an object. */
void destroy(rc_plugin_device* device, int32_t code, uint32_t number);
rc_status no_memory(char* message);

/* Functions of the plugin's table, in remote_program.c. */
rc_status remote_compile(rc_plugin_device* device,
                         const rc_plugin_program* program,
                         rc_plugin_compiled** compiled, char* message);
void remote_destroy_compiled(rc_plugin_device* device,
                             rc_plugin_compiled* compiled);
rc_status remote_start_run(rc_plugin_device* device,
                           rc_plugin_compiled* compiled,
                           const rc_plugin_run* run, char* message);
rc_status remote_wait(rc_plugin_device* device, int64_t timeout_ms,
                      char* message);
rc_status remote_op_time(rc_plugin_device* device, size_t i,
                         rc_plugin_op_time* time, char* message);

#endif
