// Tensor ops that look at one element or block at a time.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <vector>

#include "gpu/tensor_appender.h"
#include "gpu/words.h"
#include "tensor/dtype.h"

namespace rc::gpu {
namespace {

constexpr uint32_t kEach = 8;  // vectors of elements or words of a lane
// Of an element, in multiply-adds: mostly memory.
constexpr double kElementWork = 8;
constexpr double kDecodeWork = 32;
constexpr double kEncodeWork = 64;

// From so many elements on there is enough for every lane to do.
constexpr uint64_t kMany = 1 << 20;

// The distribution of elements or words by COPY, UNARY, BINARY and WHERE.
struct Shared {
  uint32_t each;   // of a lane, or vectors
  uint64_t group;  // of a work-group
};

Shared shared_out(const Tuning& tuning, uint64_t count) {
  const uint32_t each = count < kMany ? tuning.tensor_each : kEach;
  return {each, uint64_t{tuning.plain} * each * tuning.vector};
}

using Four = std::array<uint32_t, RC_PLUGIN_MAX_RANK>;

// Of rank 4 by leading ones.
Four padded_shape(const rc_plugin_value& value) {
  Four shape = {1, 1, 1, 1};
  for (int i = 1; i <= value.rank; ++i) {
    shape[shape.size() - i] = narrow(value.shape[value.rank - i]);
  }
  return shape;
}

// From element to element of a dense tensor; 0 along dimensions of 1, which are
// repeated.
Four padded_strides(const rc_plugin_value& value) {
  const Four shape = padded_shape(value);
  Four strides = {};
  uint32_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = shape[i] == 1 ? 0 : stride;
    stride *= shape[i];
  }
  return strides;
}

// Joins neighbouring dimensions that every operand walks along as along one, so
// that the last one is long. Those that are left over come first.
void join(Four& shape, std::initializer_list<Four*> operands) {
  size_t place = shape.size();
  const Four old = shape;
  std::vector<Four> strides;
  for (const Four* operand : operands) strides.push_back(*operand);
  for (Four* operand : operands) operand->fill(0);
  shape.fill(1);
  for (size_t i = old.size(); i-- > 0;) {
    if (old[i] == 1) continue;
    bool joined = place < shape.size();
    size_t number = 0;
    for (const Four* operand : operands) {
      joined = joined && strides[number++][i] ==
                             uint64_t{(*operand)[place]} * shape[place];
    }
    if (joined) {
      shape[place] *= old[i];
      continue;
    }
    shape[--place] = old[i];
    number = 0;
    for (Four* operand : operands) (*operand)[place] = strides[number++][i];
  }
}

void add(std::vector<uint32_t>& parameters, const Four& four) {
  parameters.insert(parameters.end(), four.begin(), four.end());
}

void append_copy(TensorAppender& a) {
  const rc_plugin_value& y = a.out();
  const DTypeInfo& type = *dtype_info(y.dtype);
  const uint32_t grain = type.block_bytes % 4 == 0   ? 4
                         : type.block_bytes % 2 == 0 ? 2
                                                     : 1;
  auto unit = static_cast<uint32_t>(type.block_bytes) / grain;
  const auto block = static_cast<uint32_t>(type.block_size);
  Four shape = padded_shape(y);
  shape.back() /= block;
  Four strides = {};
  const size_t missing = strides.size() - y.rank;
  for (int i = 0; i < y.rank; ++i) {
    // Of blocks the last is 1: from block to block.
    const int64_t stride = a.op.params.copy.strides[i];
    strides[missing + i] = y.shape[i] <= block && i == y.rank - 1 ? 0
                           : y.shape[i] == 1                      ? 0
                           : i == y.rank - 1 ? narrow(stride) * unit
                                             : narrow(stride / block) * unit;
  }
  const auto units = element_count(y) / block;
  const auto count = static_cast<uint32_t>(units * unit);
  if (strides.back() == unit || shape.back() == 1) {
    // The last dimension is dense in grains, too.
    shape.back() *= unit;
    strides.back() = 1;
    unit = 1;
  }
  join(shape, {&strides});
  const uint32_t base = a.base(a.placed_out(), grain);
  std::vector<uint32_t> parameters = {a.base(a.placed(0), grain), base, count,
                                      unit};
  add(parameters, shape);
  add(parameters, strides);
  const uint32_t grains = 4 / grain;
  const uint32_t words = divided(uint64_t{base % grains} + count, grains);
  const Shared shared = shared_out(a.tuning, words);
  a.append(Kernel::kCopy, {a.tuning.plain, grain, shared.each},
           {{1, &a.placed(0)}, {8, &a.placed_out()}}, parameters,
           divided(words, shared.group),
           kElementWork * static_cast<double>(shared.group));
}

std::vector<uint32_t> type_constants(uint32_t lanes, DType dtype) {
  const DTypeInfo& type = *dtype_info(dtype);
  return {lanes, static_cast<uint32_t>(dtype),
          static_cast<uint32_t>(type.block_size),
          static_cast<uint32_t>(type.block_bytes)};
}

// Rows of a table by number, or all of them.
void decode(TensorAppender& a, bool gather) {
  const rc_plugin_value& x = a.in(0);
  const uint64_t columns = x.shape[x.rank - 1];
  const uint64_t count = element_count(a.out());
  std::vector<uint32_t> constants = type_constants(a.tuning.plain, x.dtype);
  constants.push_back(gather);
  constants.push_back(a.tuning.decode_each);
  const uint64_t each = uint64_t{a.tuning.plain} * a.tuning.decode_each;
  a.append(Kernel::kDecode, std::move(constants),
           {{1, &a.placed(0)}, {2, &a.placed(1)}, {8, &a.placed_out()}},
           {a.base(a.placed(0), 1), a.base(a.placed(1), 4),
            a.base(a.placed_out(), 4), static_cast<uint32_t>(count),
            static_cast<uint32_t>(columns),
            static_cast<uint32_t>(*row_bytes(x.dtype, columns)),
            static_cast<uint32_t>(element_count(x) / columns),
            static_cast<uint32_t>(a.number)},
           divided(count, each), kDecodeWork * static_cast<double>(each));
}

void append_convert(TensorAppender& a) {
  const rc_plugin_value& y = a.out();
  if (y.dtype == RC_DTYPE_F32) return decode(a, false);
  const DTypeInfo& type = *dtype_info(y.dtype);
  const uint64_t count = element_count(y);
  const uint32_t base = a.base(a.placed_out(), 1);
  const uint32_t lanes = a.tuning.plain;
  // Words, of which a lane has several, or blocks.
  const uint64_t units = type.block_size > 1 ? count / type.block_size
                         : type.block_bytes > 4
                             ? count
                             : divided(base % 4 + count * type.block_bytes, 4);
  const uint32_t each = type.block_size > 1 ? 1 : kEach;
  a.append(Kernel::kEncode, type_constants(lanes, y.dtype),
           {{1, &a.placed(0)}, {8, &a.placed_out()}},
           {a.base(a.placed(0), 4), base, static_cast<uint32_t>(count)},
           divided(units, uint64_t{lanes} * each),
           kEncodeWork * lanes * each * static_cast<double>(type.block_size));
}

void append_get_rows(TensorAppender& a) { decode(a, true); }

// As in the kernel map: functions of two numbers come after this.
constexpr uint32_t kOfTwo = 16;

void map(TensorAppender& a, uint32_t function, const Placed& second) {
  const rc_plugin_value& y = a.out();
  const auto count = static_cast<uint32_t>(element_count(y));
  const bool broadcast = element_count(a.placed(0).value) != count ||
                         element_count(second.value) != count;
  std::vector<uint32_t> parameters = {a.base(a.placed(0), 4), a.base(second, 4),
                                      a.base(a.placed_out(), 4), count};
  Four shape = padded_shape(y);
  Four first_strides = padded_strides(a.placed(0).value);
  Four second_strides = padded_strides(second.value);
  join(shape, {&first_strides, &second_strides});
  add(parameters, shape);
  add(parameters, first_strides);
  add(parameters, second_strides);
  const Shared shared = shared_out(a.tuning, count);
  a.append(Kernel::kMap, {a.tuning.plain, function, broadcast, shared.each},
           {{1, &a.placed(0)}, {2, &second}, {8, &a.placed_out()}}, parameters,
           divided(count, shared.group),
           kElementWork * static_cast<double>(shared.group));
}

void append_unary(TensorAppender& a) {
  map(a, static_cast<uint32_t>(a.op.params.unary.function), a.placed(0));
}

void append_binary(TensorAppender& a) {
  map(a, kOfTwo + static_cast<uint32_t>(a.op.params.binary.function),
      a.placed(1));
}

void append_where(TensorAppender& a) {
  const rc_plugin_value& y = a.out();
  const auto count = static_cast<uint32_t>(element_count(y));
  std::vector<uint32_t> parameters;
  Four shape = padded_shape(y);
  Four strides[3];
  bool broadcast = false;
  for (int i = 0; i < 3; ++i) {
    const rc_plugin_value& operand = a.placed(i).value;
    parameters.push_back(a.base(a.placed(i), 4));
    strides[i] = padded_strides(operand);
    broadcast = broadcast || element_count(operand) != count;
  }
  parameters.insert(parameters.end(), {a.base(a.placed_out(), 4), count});
  join(shape, {&strides[0], &strides[1], &strides[2]});
  add(parameters, shape);
  for (const Four& each : strides) add(parameters, each);
  const Shared shared = shared_out(a.tuning, count);
  a.append(Kernel::kWhere, {a.tuning.plain, broadcast, shared.each},
           {{1, &a.placed(0)},
            {2, &a.placed(1)},
            {3, &a.placed(2)},
            {8, &a.placed_out()}},
           parameters, divided(count, shared.group),
           kElementWork * static_cast<double>(shared.group));
}

}  // namespace

std::span<const TensorOp> tensor_element_ops() {
  static constexpr TensorOp kOps[] = {
      {RC_OP_COPY, append_copy},         {RC_OP_CONVERT, append_convert},
      {RC_OP_GET_ROWS, append_get_rows}, {RC_OP_UNARY, append_unary},
      {RC_OP_BINARY, append_binary},     {RC_OP_WHERE, append_where}};
  return kOps;
}

}  // namespace rc::gpu
