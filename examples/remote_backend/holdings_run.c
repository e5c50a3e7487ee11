/* The run that a client may have under way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdings.h"

static int32_t should_stop(void* user) {
  struct run* run = user;
  int32_t stop;
  uv_mutex_lock(&run->mutex);
  stop = run->stop;
  uv_mutex_unlock(&run->mutex);
  return stop;
}

void holdings_stop_run(struct holdings* holdings) {
  uv_mutex_lock(&holdings->run.mutex);
  holdings->run.stop = 1;
  uv_mutex_unlock(&holdings->run.mutex);
}

static uint64_t bytes_of(const struct run* run, int32_t storage, size_t index) {
  return transfer_bytes(run->program->values, run->program->value_count,
                        storage, (int32_t)index, &run->rows);
}

static void forget(struct run* run) {
  free(run->memory);
  free(run->places);
  run->memory = NULL;
  run->places = NULL;
  run->under_way = 0;
}

/* Allocates places for all inputs and outputs in one block of memory, each
 * aligned for any type, and copies the inputs to their places. */
static rc_status place(struct run* run, struct frame* request, char* message) {
  enum { ALIGNMENT = 64 };
  const size_t inputs = run->program->input_count;
  const size_t all = inputs + run->program->output_count;
  uint64_t total = 0;
  size_t offset = 0;
  for (size_t i = 0; i < all; ++i) {
    const int is_input = i < inputs;
    total += bytes_of(run, is_input ? RC_STORAGE_INPUT : RC_STORAGE_OUTPUT,
                      is_input ? i : i - inputs) +
             ALIGNMENT;
    if (total > REMOTE_MAX_PAYLOAD) return impossible(message, "place", i);
  }
  run->places = array(all, sizeof *run->places);
  run->memory = array((size_t)total, 1);
  if (run->places == NULL || run->memory == NULL) return no_memory(message);
  for (size_t i = 0; i < all; ++i) {
    const int is_input = i < inputs;
    const size_t bytes =
        (size_t)bytes_of(run, is_input ? RC_STORAGE_INPUT : RC_STORAGE_OUTPUT,
                         is_input ? i : i - inputs);
    const void* data = is_input ? get_bytes(request, bytes) : NULL;
    run->places[i] = run->memory + offset;
    if (data != NULL) memcpy(run->places[i], data, bytes);
    offset += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  if (request->broken || frame_rest(request) != 0) {
    return impossible(message, "byte", request->at);
  }
  return RC_OK;
}

rc_status holdings_start_run(struct holdings* holdings, struct frame* request,
                             char* message) {
  struct run* run = &holdings->run;
  const uint32_t number = get_u32(request);
  const struct thing* thing;
  rc_status status;
  if (run->under_way) {
    snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "a run is under way");
    return RC_E_INVALID_ARGUMENT;
  }
  thing = holdings_find(holdings, PROGRAM, number, message);
  if (thing == NULL) return RC_E_INVALID_ARGUMENT;
  run->program = thing->handle;
  run->rows.rows = get_i64(request);
  run->rows.outputs = get_i64(request);
  run->rows.sequences = get_i64(request);
  if (run->rows.rows < 0 || run->rows.rows > run->program->limits.rows ||
      run->rows.outputs < 0 ||
      run->rows.outputs > run->program->limits.outputs ||
      run->rows.sequences < 0 ||
      run->rows.sequences > run->program->limits.sequences) {
    return impossible(message, "row", (size_t)run->rows.rows);
  }
  status = place(run, request, message);
  if (status != RC_OK) {
    forget(run);
    return status;
  }
  memset(&run->given, 0, sizeof run->given);
  run->given.struct_size = sizeof run->given;
  run->given.rows = run->rows.rows;
  run->given.outputs = run->rows.outputs;
  run->given.sequences = run->rows.sequences;
  run->given.inputs = (const void* const*)run->places;
  run->given.outputs_data = run->places + run->program->input_count;
  run->given.should_stop = should_stop;
  run->given.user = run;
  run->stop = 0;
  run->under_way = 1;
  return RC_OK;
}

void holdings_run(struct holdings* holdings) {
  struct run* run = &holdings->run;
  const rc_plugin* plugin = holdings->plugin;
  memset(run->message, 0, sizeof run->message);
  run->result = plugin->run(holdings->device, run->program->compiled,
                            &run->given, run->message);
  if (run->result == RC_OK) {
    run->result = plugin->wait(holdings->device, -1, run->message);
  }
  run->message[sizeof run->message - 1] = '\0';
}

void holdings_end_run(struct holdings* holdings, struct frame* answer) {
  struct run* run = &holdings->run;
  frame_begin(answer, RC_OK);
  put_i32(answer, 1);
  put_i32(answer, run->result);
  put_text(answer, run->message);
  for (size_t i = 0; run->result == RC_OK && i < run->program->output_count;
       ++i) {
    put_bytes(answer, run->given.outputs_data[i],
              (size_t)bytes_of(run, RC_STORAGE_OUTPUT, i));
  }
  forget(run);
}
