/* The structs of the plugin ABI in frames, field by field, and the sizes of
 * values, which both sides need. */
#ifndef REMOTE_BACKEND_VALUES_H
#define REMOTE_BACKEND_VALUES_H

#include <runcible/plugin.h>

#include "protocol.h"

/* The numbers that symbolic dimensions stand for. */
struct rows {
  int64_t rows, outputs, sequences;
};

/* Computes the bytes of a tensor of this type and shape. Returns 0 if type or
 * shape are impossible, or the bytes are more than memory can hold. */
int tensor_bytes(rc_dtype dtype, int32_t rank, const int64_t* shape,
                 const struct rows* rows, uint64_t* bytes);

/* Returns the bytes that a run copies for input or output `index`: those of the
 * largest value in this place; 0 without a value. */
uint64_t transfer_bytes(const rc_plugin_value* values, size_t count,
                        int32_t storage, int32_t index,
                        const struct rows* rows);

enum { MAX_INPUTS = 8, MAX_OUTPUTS = 2 }; /* of the ops of plugin.h */

/* An op with the data that it points to. */
struct whole_op {
  rc_plugin_op op;
  int32_t inputs[MAX_INPUTS], outputs[MAX_OUTPUTS];
  rc_plugin_params params;
};

/* Whether plugin.h had the op when this was built: the parameters of other ops
 * may be larger. */
int op_is_known(int32_t code);

enum { VALUE_BYTES = 56, OP_BYTES = 44 }; /* of them in a frame, at least */
void put_value(struct frame* frame, const rc_plugin_value* value);
void get_value(struct frame* frame, rc_plugin_value* value);
void put_op(struct frame* frame, const rc_plugin_op* op); /* a known one */
void get_op(struct frame* frame, struct whole_op* op);

/* `name` holds the name. */
void put_weight_info(struct frame* frame, const rc_plugin_weight_info* info);
void get_weight_info(struct frame* frame, rc_plugin_weight_info* info,
                     char* name, size_t capacity);

void put_device_info(struct frame* frame, const rc_plugin_device_info* info);
void get_device_info(struct frame* frame, rc_plugin_device_info* info);

#endif
