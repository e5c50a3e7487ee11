/* Programs of the remote backend, and their runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

#include "remote_device.h"
#include "values.h"

/* How much later than its limit a wait may end if the server is silent. */
enum { GRACE_MS = 1000 };

struct rc_plugin_compiled {
  uint32_t number;
  size_t input_count, output_count;
  size_t value_count;
  rc_plugin_value values[]; /* inputs and outputs */
};

static void put_program(struct frame* request, const rc_plugin_program* p) {
  put_u32(request, (uint32_t)p->value_count);
  for (size_t i = 0; i < p->value_count; ++i) put_value(request, p->values[i]);
  put_u32(request, (uint32_t)p->op_count);
  for (size_t i = 0; i < p->op_count; ++i) put_op(request, p->ops[i]);
  put_u32(request, (uint32_t)p->weight_count);
  for (size_t i = 0; i < p->weight_count; ++i) {
    put_u32(request, number_of(p->weights[i]));
  }
  put_u32(request, (uint32_t)p->cache_count);
  for (size_t i = 0; i < p->cache_count; ++i) {
    put_u32(request, number_of(p->caches[i]));
  }
  put_u32(request, (uint32_t)p->input_count);
  put_u32(request, (uint32_t)p->output_count);
  put_u64(request, p->scratch_bytes);
  put_i64(request, p->max_rows);
  put_i64(request, p->max_outputs);
  put_i64(request, p->max_sequences);
}

rc_status remote_compile(rc_plugin_device* device,
                         const rc_plugin_program* program,
                         rc_plugin_compiled** compiled, char* message) {
  struct frame request = {0};
  rc_plugin_compiled* made =
      calloc(1, sizeof *made + program->value_count * sizeof *made->values);
  rc_status status;
  if (made == NULL) return no_memory(message);
  made->input_count = program->input_count;
  made->output_count = program->output_count;
  for (size_t i = 0; i < program->value_count; ++i) {
    const rc_plugin_value* value = program->values[i];
    if (value->storage == RC_STORAGE_INPUT ||
        value->storage == RC_STORAGE_OUTPUT) {
      made->values[made->value_count++] = *value;
    }
  }
  frame_begin(&request, REMOTE_COMPILE);
  put_program(&request, program);
  status = make(device, &request, NULL, 0, &made->number, message);
  if (status != RC_OK) {
    free(made);
    return status;
  }
  *compiled = made;
  return RC_OK;
}

void remote_destroy_compiled(rc_plugin_device* device,
                             rc_plugin_compiled* compiled) {
  destroy(device, REMOTE_DESTROY_PROGRAM, compiled->number);
  free(compiled);
}

static uint64_t bytes_of(const rc_plugin_device* device, int32_t storage,
                         size_t index) {
  const rc_plugin_compiled* program = device->program;
  const struct rows rows = {device->run->rows, device->run->outputs,
                            device->run->sequences};
  return transfer_bytes(program->values, program->value_count, storage,
                        (int32_t)index, &rows);
}

/* Sends a RUN or WAIT, and takes the state of the run from its answer. */
static rc_status ask_after_run(rc_plugin_device* device, struct frame* request,
                               int64_t limit_ms, char* message) {
  struct frame answer;
  rc_status status =
      call(device->connection, request, NULL, 0, limit_ms, &answer, message);
  if (status == RC_OK && get_i32(&answer) != 0) {
    device->over = 1;
    device->result = get_i32(&answer);
    get_text(&answer, device->message, sizeof device->message);
    for (size_t i = 0;
         device->result == RC_OK && i < device->program->output_count; ++i) {
      const uint64_t bytes = bytes_of(device, RC_STORAGE_OUTPUT, i);
      const void* output = get_bytes(&answer, (size_t)bytes);
      if (output != NULL && bytes > 0) {
        memcpy(device->run->outputs_data[i], output, (size_t)bytes);
      }
    }
  }
  status = finish(device->connection, status, 1, &answer, message);
  if (status != RC_OK) device->run = NULL;
  return status;
}

rc_status remote_start_run(rc_plugin_device* device,
                           rc_plugin_compiled* compiled,
                           const rc_plugin_run* run, char* message) {
  struct frame request = {0};
  device->run = run;
  device->program = compiled;
  device->over = 0;
  frame_begin(&request, REMOTE_RUN);
  put_u32(&request, compiled->number);
  put_i64(&request, run->rows);
  put_i64(&request, run->outputs);
  put_i64(&request, run->sequences);
  for (size_t i = 0; i < compiled->input_count; ++i) {
    put_bytes(&request, run->inputs[i],
              (size_t)bytes_of(device, RC_STORAGE_INPUT, i));
  }
  return ask_after_run(device, &request, NO_LIMIT, message);
}

rc_status remote_wait(rc_plugin_device* device, int64_t timeout_ms,
                      char* message) {
  const uint64_t begin = uv_hrtime();
  if (device->run == NULL) {
    snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "no run is under way");
    return RC_E_INVALID_ARGUMENT;
  }
  while (!device->over) {
    const rc_plugin_run* run = device->run;
    const int64_t passed = (int64_t)((uv_hrtime() - begin) / 1000000);
    int64_t left = timeout_ms < 0 ? NO_LIMIT : timeout_ms - passed;
    struct frame request = {0};
    rc_status status;
    if (left <= 0 && passed > 0) {
      snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "the run is not over");
      return RC_E_TIMEOUT;
    }
    frame_begin(&request, REMOTE_WAIT);
    put_i32(&request,
            run->should_stop != NULL && run->should_stop(run->user) != 0);
    put_u32(&request,
            (uint32_t)(left < REMOTE_TICK_MS ? left : REMOTE_TICK_MS));
    status = ask_after_run(device, &request, left + GRACE_MS, message);
    if (status != RC_OK) {
      return give_up(device->connection, "a run cannot be waited for", message);
    }
  }
  device->run = NULL;
  memcpy(message, device->message, sizeof device->message);
  return device->result;
}

rc_status remote_op_time(rc_plugin_device* device, size_t i,
                         rc_plugin_op_time* time, char* message) {
  struct frame request = {0}, answer;
  rc_plugin_op_time found;
  rc_status status;
  memset(&found, 0, sizeof found);
  frame_begin(&request, REMOTE_TIME);
  put_u64(&request, i);
  status =
      call(device->connection, &request, NULL, 0, NO_LIMIT, &answer, message);
  if (status == RC_OK) {
    found.op = get_i64(&answer);
    found.begin_ns = get_i64(&answer);
    found.end_ns = get_i64(&answer);
  }
  status = finish(device->connection, status, 1, &answer, message);
  if (status != RC_OK) return status;
  found.struct_size = time->struct_size;
  memcpy(time, &found,
         time->struct_size < sizeof found ? time->struct_size : sizeof found);
  return RC_OK;
}
