/* Programs of a client. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdings.h"

/* A program as received, before it is compiled. */
struct draft {
  rc_plugin_program given;
  rc_plugin_value* values;
  struct whole_op* ops;
  const rc_plugin_value** value_pointers;
  const rc_plugin_op** op_pointers;
  uint32_t *weights, *caches;             /* their numbers */
  void **weight_handles, **cache_handles; /* the module's */
};

rc_status no_memory(char* message) {
  snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "out of memory");
  return RC_E_OUT_OF_MEMORY;
}
rc_status impossible(char* message, const char* what, size_t number) {
  snprintf(message, RC_PLUGIN_MESSAGE_BYTES,
           "%s %zu of the program is impossible", what, number);
  return RC_E_INVALID_ARGUMENT;
}

void* array(size_t count, size_t size) {
  return calloc(count > 0 ? count : 1, size);
}

static void free_draft(struct draft* draft) {
  free(draft->values);
  free(draft->ops);
  free(draft->value_pointers);
  free(draft->op_pointers);
  free(draft->weights);
  free(draft->caches);
  free(draft->weight_handles);
  free(draft->cache_handles);
}

/* Returns 0 without memory. */
static int get_numbers(struct frame* request, uint32_t** numbers, void*** room,
                       size_t* count) {
  *count = get_count(request, sizeof **numbers);
  *numbers = array(*count, sizeof **numbers);
  *room = array(*count, sizeof **room);
  if (*numbers == NULL || *room == NULL) return 0;
  for (size_t i = 0; i < *count; ++i) (*numbers)[i] = get_u32(request);
  return 1;
}

static int get_draft(struct frame* request, struct draft* draft) {
  rc_plugin_program* given = &draft->given;
  given->struct_size = sizeof *given;
  given->value_count = get_count(request, VALUE_BYTES);
  draft->values = array(given->value_count, sizeof *draft->values);
  draft->value_pointers =
      array(given->value_count, sizeof *draft->value_pointers);
  if (draft->values == NULL || draft->value_pointers == NULL) return 0;
  for (size_t i = 0; i < given->value_count; ++i) {
    get_value(request, &draft->values[i]);
    draft->value_pointers[i] = &draft->values[i];
  }
  given->op_count = get_count(request, OP_BYTES);
  draft->ops = array(given->op_count, sizeof *draft->ops);
  draft->op_pointers = array(given->op_count, sizeof *draft->op_pointers);
  if (draft->ops == NULL || draft->op_pointers == NULL) return 0;
  for (size_t i = 0; i < given->op_count; ++i) {
    get_op(request, &draft->ops[i]);
    draft->op_pointers[i] = &draft->ops[i].op;
  }
  if (!get_numbers(request, &draft->weights, &draft->weight_handles,
                   &given->weight_count) ||
      !get_numbers(request, &draft->caches, &draft->cache_handles,
                   &given->cache_count)) {
    return 0;
  }
  given->values = draft->value_pointers;
  given->ops = draft->op_pointers;
  given->weights = (rc_plugin_weight**)draft->weight_handles;
  given->caches = (rc_plugin_buffer**)draft->cache_handles;
  given->input_count = get_u32(request);
  given->output_count = get_u32(request);
  given->scratch_bytes = get_u64(request);
  given->max_rows = get_i64(request);
  given->max_outputs = get_i64(request);
  given->max_sequences = get_i64(request);
  return 1;
}

/* Sets the bytes of the place of the value; for inputs and outputs, as many as
 * it needs. Returns 0 if there is no such place. */
static int place_bytes(struct holdings* holdings, const struct draft* draft,
                       const rc_plugin_value* value, uint64_t wanted,
                       uint64_t* bytes) {
  const rc_plugin_program* given = &draft->given;
  const size_t index = (size_t)value->index; /* a negative one is too large */
  *bytes = wanted;
  switch (value->storage) {
    case RC_STORAGE_WEIGHT:
      if (index >= given->weight_count) return 0;
      *bytes = holdings->things[draft->weights[index] - 1].bytes;
      return 1;
    case RC_STORAGE_CACHE:
      if (index >= given->cache_count) return 0;
      *bytes = holdings->things[draft->caches[index] - 1].bytes;
      return 1;
    case RC_STORAGE_SCRATCH:
      *bytes = given->scratch_bytes;
      return 1;
    case RC_STORAGE_INPUT:
      return index < given->input_count;
    case RC_STORAGE_OUTPUT:
      return index < given->output_count;
  }
  return 0;
}

/* Checks that all places of the program exist and are large enough. */
static rc_status check_draft(struct holdings* holdings, struct draft* draft,
                             char* message) {
  const rc_plugin_program* given = &draft->given;
  const struct rows limits = {given->max_rows, given->max_outputs,
                              given->max_sequences};
  for (size_t i = 0; i < given->weight_count; ++i) {
    const struct thing* weight =
        holdings_find(holdings, WEIGHT, draft->weights[i], message);
    if (weight == NULL) return RC_E_INVALID_ARGUMENT;
    draft->weight_handles[i] = weight->handle;
  }
  for (size_t i = 0; i < given->cache_count; ++i) {
    const struct thing* buffer =
        holdings_find(holdings, BUFFER, draft->caches[i], message);
    if (buffer == NULL) return RC_E_INVALID_ARGUMENT;
    draft->cache_handles[i] = buffer->handle;
  }
  /* Each is the place of a value. */
  if (given->input_count > given->value_count ||
      given->output_count > given->value_count) {
    return impossible(message, "input or output", given->value_count);
  }
  if (limits.rows < 0 || limits.outputs < 0 || limits.sequences < 0) {
    return impossible(message, "the limit of", 0);
  }
  for (size_t i = 0; i < given->value_count; ++i) {
    const rc_plugin_value* value = &draft->values[i];
    const int offset_counts = value->storage == RC_STORAGE_CACHE ||
                              value->storage == RC_STORAGE_SCRATCH;
    const uint64_t offset = offset_counts ? value->offset : 0;
    uint64_t wanted, bytes;
    if (!tensor_bytes(value->dtype, value->rank, value->shape, &limits,
                      &wanted) ||
        !place_bytes(holdings, draft, value, wanted, &bytes) ||
        offset > bytes || wanted > bytes - offset) {
      return impossible(message, "value", i);
    }
  }
  for (size_t i = 0; i < given->op_count; ++i) {
    const struct whole_op* op = &draft->ops[i];
    const int64_t count = (int64_t)given->value_count;
    for (int k = 0; k < MAX_INPUTS; ++k) {
      if (op->inputs[k] < -1 || op->inputs[k] >= count) {
        return impossible(message, "op", i);
      }
    }
    for (int k = 0; k < MAX_OUTPUTS; ++k) {
      if (op->outputs[k] < -1 || op->outputs[k] >= count) {
        return impossible(message, "op", i);
      }
    }
  }
  return RC_OK;
}

/* Keeps the part of a draft that a compiled program needs. NULL: no memory. */
static struct program* make_program(const struct draft* draft) {
  const rc_plugin_program* given = &draft->given;
  struct program* program = calloc(1, sizeof *program);
  if (program == NULL) return NULL;
  program->values = array(given->value_count, sizeof *program->values);
  program->uses =
      array(given->weight_count + given->cache_count, sizeof *program->uses);
  if (program->values == NULL || program->uses == NULL) {
    free(program->values);
    free(program->uses);
    free(program);
    return NULL;
  }
  program->limits.rows = given->max_rows;
  program->limits.outputs = given->max_outputs;
  program->limits.sequences = given->max_sequences;
  program->input_count = given->input_count;
  program->output_count = given->output_count;
  for (size_t i = 0; i < given->value_count; ++i) {
    if (draft->values[i].storage == RC_STORAGE_INPUT ||
        draft->values[i].storage == RC_STORAGE_OUTPUT) {
      program->values[program->value_count++] = draft->values[i];
    }
  }
  for (size_t i = 0; i < given->weight_count; ++i) {
    program->uses[program->use_count++] = draft->weights[i];
  }
  for (size_t i = 0; i < given->cache_count; ++i) {
    program->uses[program->use_count++] = draft->caches[i];
  }
  return program;
}

static void free_program(struct program* program) {
  free(program->values);
  free(program->uses);
  free(program);
}

void destroy_program(struct holdings* holdings, struct program* program) {
  holdings->plugin->destroy_compiled(holdings->device, program->compiled);
  for (size_t i = 0; i < program->use_count; ++i) {
    --holdings->things[program->uses[i] - 1].users;
  }
  free_program(program);
}

static rc_status compile_draft(struct holdings* holdings, struct draft* draft,
                               struct frame* answer, char* message) {
  struct program* program = make_program(draft);
  uint32_t number;
  rc_status status;
  if (program == NULL) return no_memory(message);
  status = holdings->plugin->compile(holdings->device, &draft->given,
                                     &program->compiled, message);
  if (status == RC_OK && program->compiled == NULL) {
    snprintf(message, RC_PLUGIN_MESSAGE_BYTES, "the module gave no program");
    status = RC_E_DEVICE;
  }
  if (status != RC_OK) {
    free_program(program);
    return status;
  }
  for (size_t i = 0; i < program->use_count; ++i) {
    ++holdings->things[program->uses[i] - 1].users;
  }
  number = holdings_add(holdings, PROGRAM, program, 0);
  if (number == 0) {
    destroy_program(holdings, program);
    return no_memory(message);
  }
  put_u32(answer, number);
  return RC_OK;
}

rc_status compile_program(struct holdings* holdings, struct frame* request,
                          struct frame* answer, char* message) {
  struct draft draft;
  rc_status status;
  memset(&draft, 0, sizeof draft);
  if (!get_draft(request, &draft)) {
    status = no_memory(message);
  } else if (request->broken || frame_rest(request) != 0) {
    status = impossible(message, "byte", request->at);
  } else {
    status = check_draft(holdings, &draft, message);
    if (status == RC_OK)
      status = compile_draft(holdings, &draft, answer, message);
  }
  free_draft(&draft);
  return status;
}
