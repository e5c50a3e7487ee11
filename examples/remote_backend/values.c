#include "values.h"

#include <string.h>

/* Elements and bytes of a block; types without blocks have 1 element. */
static const struct {
  rc_dtype dtype;
  uint32_t elements, bytes;
} layouts[] = {
    {RC_DTYPE_F32, 1, 4},      {RC_DTYPE_F16, 1, 2},
    {RC_DTYPE_Q4_0, 32, 18},   {RC_DTYPE_Q4_1, 32, 20},
    {RC_DTYPE_Q5_0, 32, 22},   {RC_DTYPE_Q5_1, 32, 24},
    {RC_DTYPE_Q8_0, 32, 34},   {RC_DTYPE_Q8_1, 32, 36},
    {RC_DTYPE_Q2_K, 256, 84},  {RC_DTYPE_Q3_K, 256, 110},
    {RC_DTYPE_Q4_K, 256, 144}, {RC_DTYPE_Q5_K, 256, 176},
    {RC_DTYPE_Q6_K, 256, 210}, {RC_DTYPE_Q8_K, 256, 292},
    {RC_DTYPE_IQ4_NL, 32, 18}, {RC_DTYPE_IQ4_XS, 256, 136},
    {RC_DTYPE_I8, 1, 1},       {RC_DTYPE_I16, 1, 2},
    {RC_DTYPE_I32, 1, 4},      {RC_DTYPE_I64, 1, 8},
    {RC_DTYPE_F64, 1, 8},      {RC_DTYPE_BF16, 1, 2},
    {RC_DTYPE_MXFP4, 32, 17},
};

/* Multiplies; returns 0 if the product is too large for a size. */
static int multiply(uint64_t* product, uint64_t factor) {
  if (factor != 0 && *product > (SIZE_MAX / 2) / factor) return 0;
  *product *= factor;
  return 1;
}

int tensor_bytes(rc_dtype dtype, int32_t rank, const int64_t* shape,
                 const struct rows* rows, uint64_t* bytes) {
  const int64_t symbols[] = {0, rows->rows, rows->outputs, rows->sequences};
  const size_t types = sizeof layouts / sizeof *layouts;
  size_t type = 0;
  while (type < types && layouts[type].dtype != dtype) ++type;
  if (type == types || rank < 1 || rank > RC_PLUGIN_MAX_RANK) return 0;
  *bytes = layouts[type].bytes;
  for (int i = 0; i < rank; ++i) {
    int64_t n = shape[i];
    if (i == 0 && n < 0 && n >= RC_DIM_SEQUENCES) n = symbols[-n];
    if (n < 0) return 0;
    if (i == rank - 1) {
      if (n % layouts[type].elements != 0) return 0;
      n /= layouts[type].elements;
    }
    if (!multiply(bytes, (uint64_t)n)) return 0;
  }
  return 1;
}

uint64_t transfer_bytes(const rc_plugin_value* values, size_t count,
                        int32_t storage, int32_t index,
                        const struct rows* rows) {
  uint64_t most = 0, bytes;
  for (size_t i = 0; i < count; ++i) {
    const rc_plugin_value* value = &values[i];
    if (value->storage == storage && value->index == index &&
        tensor_bytes(value->dtype, value->rank, value->shape, rows, &bytes) &&
        bytes > most) {
      most = bytes;
    }
  }
  return most;
}

static void put_shape(struct frame* frame, int32_t rank, const int64_t* shape) {
  put_i32(frame, rank);
  put_bytes(frame, shape, RC_PLUGIN_MAX_RANK * sizeof *shape);
}
static void get_shape(struct frame* frame, int32_t* rank, int64_t* shape) {
  *rank = get_i32(frame);
  for (int i = 0; i < RC_PLUGIN_MAX_RANK; ++i) shape[i] = get_i64(frame);
}

void put_value(struct frame* frame, const rc_plugin_value* value) {
  put_i32(frame, value->dtype);
  put_shape(frame, value->rank, value->shape);
  put_i32(frame, value->storage);
  put_i32(frame, value->index);
  put_u64(frame, value->offset);
}
void get_value(struct frame* frame, rc_plugin_value* value) {
  value->dtype = get_i32(frame);
  get_shape(frame, &value->rank, value->shape);
  value->storage = get_i32(frame);
  value->index = get_i32(frame);
  value->offset = get_u64(frame);
}

int op_is_known(int32_t code) {
  return (code >= RC_OP_GET_ROWS && code <= RC_OP_EXPERT_SUM) ||
         (code >= RC_OP_COPY && code <= RC_OP_ATTEND);
}

static void put_numbers(struct frame* frame, const int32_t* numbers,
                        size_t count) {
  put_u32(frame, (uint32_t)count);
  for (size_t i = 0; i < count; ++i) put_i32(frame, numbers[i]);
}
static size_t get_numbers(struct frame* frame, int32_t* numbers, size_t most) {
  const size_t count = get_count(frame, sizeof *numbers);
  if (count > most) frame->broken = 1;
  for (size_t i = 0; i < count && i < most; ++i) numbers[i] = get_i32(frame);
  return count < most ? count : most;
}

/* The parameters are sent as their bytes in the ABI. */
void put_op(struct frame* frame, const rc_plugin_op* op) {
  put_i32(frame, op->code);
  put_numbers(frame, op->inputs, op->input_count);
  put_numbers(frame, op->outputs, op->output_count);
  put_bytes(frame, op->params, sizeof *op->params);
}
void get_op(struct frame* frame, struct whole_op* op) {
  const void* params;
  memset(op->inputs, -1, sizeof op->inputs);
  memset(op->outputs, -1, sizeof op->outputs);
  op->op.code = get_i32(frame);
  op->op.input_count = get_numbers(frame, op->inputs, MAX_INPUTS);
  op->op.inputs = op->inputs;
  op->op.output_count = get_numbers(frame, op->outputs, MAX_OUTPUTS);
  op->op.outputs = op->outputs;
  params = get_bytes(frame, sizeof op->params);
  if (params != NULL) memcpy(&op->params, params, sizeof op->params);
  op->op.params = &op->params;
  if (!op_is_known(op->op.code)) frame->broken = 1;
}

void put_weight_info(struct frame* frame, const rc_plugin_weight_info* info) {
  put_text(frame, info->name);
  put_i32(frame, info->dtype);
  put_shape(frame, info->rank, info->shape);
  put_u32(frame, info->uses);
}
void get_weight_info(struct frame* frame, rc_plugin_weight_info* info,
                     char* name, size_t capacity) {
  get_text(frame, name, capacity);
  info->name = name;
  info->dtype = get_i32(frame);
  get_shape(frame, &info->rank, info->shape);
  info->uses = get_u32(frame);
}

void put_device_info(struct frame* frame, const rc_plugin_device_info* info) {
  put_text(frame, info->name);
  put_i32(frame, info->kind);
  put_u64(frame, info->total_memory);
  put_u64(frame, info->free_memory);
  put_i32(frame, info->unified_memory);
  put_i32(frame, info->cores);
  put_text(frame, info->features);
  put_text(frame, info->driver);
  put_text(frame, info->physical_id);
}
void get_device_info(struct frame* frame, rc_plugin_device_info* info) {
  get_text(frame, info->name, sizeof info->name);
  info->kind = get_i32(frame);
  info->total_memory = get_u64(frame);
  info->free_memory = get_u64(frame);
  info->unified_memory = get_i32(frame);
  info->cores = get_i32(frame);
  get_text(frame, info->features, sizeof info->features);
  get_text(frame, info->driver, sizeof info->driver);
  get_text(frame, info->physical_id, sizeof info->physical_id);
}
