#include "tensor/op_work.h"

#include <algorithm>
#include <cmath>

#include "tensor/dtype.h"

namespace rc {
namespace {

constexpr const char* kNames[kOpFamilies] = {
    "elements",       "exponentials",  "specials",      "powers",
    "copies",         "conversions",   "decoding",      "encoding",
    "gathering",      "turning",       "norms",         "softmax_lines",
    "softmax_across", "reduce_lines",  "reduce_across", "reduce_whole",
    "argmax_lines",   "argmax_across", "argmax_whole",  "products_f32",
    "products_f16",   "products_q8",   "products_q4",   "vectors_f32",
    "vectors_f16",    "vectors_q8",    "vectors_q4",    "convolutions",
    "depthwise",      "attention",
};

// Below so many results a reduction cannot be shared among them.
constexpr double kFewResults = 64;
// Below so many channels of a group a convolution is no product of matrices.
constexpr int64_t kFewChannels = 4;

OpFamily moved_by(OpFamily family, int steps) {
  return static_cast<OpFamily>(static_cast<int>(family) + steps);
}

double elements_of(const rc_plugin_value& value) {
  double count = 1;
  for (int i = 0; i < value.rank; ++i) {
    count *= static_cast<double>(value.shape[i]);
  }
  return count;
}

double bytes_of(const rc_plugin_value& value) {
  const DTypeInfo* type = dtype_info(value.dtype);
  if (type == nullptr) return 0;
  return elements_of(value) * static_cast<double>(type->block_bytes) /
         static_cast<double>(type->block_size);
}

bool has_blocks(DType dtype) {
  const DTypeInfo* type = dtype_info(dtype);
  return type != nullptr && type->block_size > 1;
}

OpFamily unary_family(int32_t function) {
  switch (function) {
    case RC_FUNCTION_RELU:
    case RC_UNARY_SQRT:
    case RC_UNARY_ABS:
    case RC_UNARY_NEG:
      return OpFamily::kElements;
    case RC_FUNCTION_GELU:
    case RC_UNARY_LOG:
      return OpFamily::kSpecials;
    default:
      return OpFamily::kExponentials;
  }
}

// Returns the distance from the family of F32 to that of the type.
int type_steps(DType dtype) {
  if (dtype == RC_DTYPE_F32) return 0;
  if (!has_blocks(dtype)) return 1;
  return dtype == RC_DTYPE_Q8_0 ? 2 : 3;
}

NumberKind kind_of(DType dtype) {
  if (dtype == RC_DTYPE_F32) return NumberKind::kF32;
  return has_blocks(dtype) ? NumberKind::kBlocks : NumberKind::kF16;
}

class Counter {
 public:
  Counter(const Op& op, std::span<const rc_plugin_value> values)
      : op_(op), values_(values) {
    for (const int32_t input : op.inputs) {
      if (input >= 0) work_.bytes += bytes_of(values[input]);
    }
    work_.bytes += bytes_of(output());
  }

  std::optional<OpWork> count() {
    const double in = elements_of(input(0));
    const double out = elements_of(output());
    switch (op_.code) {
      case RC_OP_UNARY: {
        const OpFamily family = unary_family(op_.params.unary.function);
        add(family, family == OpFamily::kElements ? work_.bytes : out);
        break;
      }
      case RC_OP_BINARY:
        if (op_.params.binary.function == RC_BINARY_POW) {
          add(OpFamily::kPowers, out);
        } else {
          add(OpFamily::kElements, work_.bytes);
        }
        break;
      case RC_OP_WHERE:
        add(OpFamily::kElements, work_.bytes);
        break;
      case RC_OP_COPY:
        // Of what the view walks over only the view is read.
        work_.bytes = 2 * bytes_of(output());
        add(OpFamily::kCopies, bytes_of(output()));
        break;
      case RC_OP_CONVERT:
        add(has_blocks(output().dtype)   ? OpFamily::kEncoding
            : has_blocks(input(0).dtype) ? OpFamily::kDecoding
                                         : OpFamily::kConversions,
            out);
        break;
      case RC_OP_GET_ROWS:
        // Of the table only the rows that are asked for are read.
        work_.bytes =
            bytes_of(input(1)) + bytes_of(output()) +
            bytes_of(input(0)) * std::min(1.0, out / std::max(1.0, in));
        add(OpFamily::kGathering, bytes_of(output()));
        break;
      case RC_OP_ROPE:
        add(OpFamily::kTurning, out);
        break;
      case RC_OP_LAYER_NORM:
        add(OpFamily::kNorms, out);
        break;
      case RC_OP_SOFTMAX:
        add(input(0).shape[2] > 1 ? OpFamily::kSoftmaxAcross
                                  : OpFamily::kSoftmaxLines,
            in);
        break;
      case RC_OP_REDUCE:
        add(moved_by(OpFamily::kReduceLines, reduction_steps(out)), in);
        break;
      case RC_OP_ARGMAX:
        add(moved_by(OpFamily::kArgmaxLines, reduction_steps(out)), in);
        break;
      case RC_OP_MATMUL: {
        const DType type = input(1).dtype;
        work_.multiplications = out * static_cast<double>(input(0).shape[2]);
        work_.kind = kind_of(type);
        add(moved_by(OpFamily::kProductsF32, type_steps(type)),
            work_.multiplications);
        add(moved_by(OpFamily::kVectorsF32, type_steps(type)),
            elements_of(input(1)));
        break;
      }
      case RC_OP_CONV2D: {
        const rc_plugin_value& weight = input(1);
        work_.multiplications =
            out * static_cast<double>(weight.shape[1] * weight.shape[2]) *
            static_cast<double>(weight.shape[3]);
        const bool few =
            op_.params.conv2d.groups > 1 && weight.shape[1] < kFewChannels;
        add(few ? OpFamily::kDepthwise : OpFamily::kConvolutions,
            work_.multiplications);
        break;
      }
      case RC_OP_ATTEND: {
        const double positions = static_cast<double>(input(1).shape[1]);
        const double share = op_.params.attend.causal != 0 ? 1 : 2;
        work_.multiplications = share * out * positions;
        add(OpFamily::kAttention, work_.multiplications);
        break;
      }
      case RC_OP_CONCAT:
      case RC_OP_PAD:
        add(OpFamily::kCopies, bytes_of(output()));
        break;
      case RC_OP_TAKE:
        add(OpFamily::kGathering, bytes_of(output()));
        break;
      case RC_OP_CUMSUM:
        add(moved_by(OpFamily::kReduceLines, reduction_steps(in)), in);
        break;
      case RC_OP_ORDER:
        // A comparison is what argmax does with an element.
        add(moved_by(OpFamily::kArgmaxLines, input(0).shape[2] > 1 ? 1 : 0),
            in * std::max(1.0,
                          std::log2(static_cast<double>(input(0).shape[1]))));
        break;
      default:
        return std::nullopt;
    }
    return work_;
  }

 private:
  const rc_plugin_value& input(int i) const { return values_[op_.inputs[i]]; }
  const rc_plugin_value& output() const { return values_[op_.outputs[0]]; }

  void add(OpFamily family, double units) {
    work_.parts[work_.part_count++] = {family, units};
  }

  // From the family of lines to the op's.
  int reduction_steps(double results) const {
    if (results < kFewResults) return 2;
    return input(0).shape[2] > 1 ? 1 : 0;
  }

  const Op& op_;
  const std::span<const rc_plugin_value> values_;
  OpWork work_;
};

}  // namespace

const char* op_family_name(OpFamily family) {
  return kNames[static_cast<size_t>(family)];
}

std::optional<OpFamily> find_op_family(std::string_view name) {
  const auto* const found =
      std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return std::nullopt;
  return static_cast<OpFamily>(found - std::begin(kNames));
}

const char* number_kind_name(NumberKind kind) {
  constexpr const char* kKinds[kNumberKinds] = {"f32", "f16", "blocks"};
  return kKinds[static_cast<size_t>(kind)];
}

std::optional<OpWork> work_of(const Op& op,
                              std::span<const rc_plugin_value> values) {
  return Counter(op, values).count();
}

}  // namespace rc
