// The choices for each device: how many lanes do which work.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace rc::gpu {

// Of square.glsl: lanes of a work-group, its rows of either side, and the
// memory that they share.
inline constexpr uint32_t kSquareLanes = 128;
inline constexpr uint32_t kSquareSide = 64;
inline constexpr uint32_t kSquareBytes = 2 * kSquareSide * 32 * sizeof(float);
// Of matrices.glsl and linear_matrices.cl: lanes of a work-group, its rows of
// the weight, and of x.
inline constexpr uint32_t kMatrixLanes = 128;
inline constexpr uint32_t kMatrixOutputs = 128;
inline constexpr uint32_t kMatrixRows = 64;
// Of linear_matrices.cl: the most memory that a work-group shares, with steps
// of 64 columns.
inline constexpr uint32_t kMatrixBytes =
    (kMatrixOutputs + 2 * kMatrixRows) * (64 + 8) * 2 +
    kMatrixLanes / 32 * 1024;

// The method of a work-group of LINEAR: a constant of linear.comp.
enum LinearWay : uint32_t { kByLanes = 0, kBySquares = 1, kByMatrices = 2 };
inline constexpr uint32_t kWayOfLinear = 14;  // its number

struct Tuning {
  uint32_t texels = 0;  // 1: inputs are texel buffers, lanes are sub-groups
  uint32_t tile = 32;   // rows of a tile of weights
  uint32_t parts = 4;   // that share the columns of a product
  uint32_t chunk = 2;   // groups of columns that a part has at least
  uint32_t tiles = 1;   // of a work-group, with one row
  uint32_t batch = 8;   // rows of a work-group, if there are many
  uint32_t batch_tiles = 1;
  uint32_t few = 3;  // up to so many rows are done one by one
  // From so many on GLSL kernels take squares of rows and outputs; 0: never.
  uint32_t many = 0;
  // From so many on of two squares, if there are so many outputs; 0: never.
  uint32_t most = 0;
  uint32_t wide = 4096;
  // From so many on by cooperative matrices, if the weight is not F32; 0:
  // never.
  uint32_t matrices = 0;
  uint32_t reduce = 128;    // lanes of RMS_NORM
  uint32_t attention = 64;  // lanes of ATTENTION
  // Of shaders: rows of one sequence that a work-group of ATTENTION does
  // together; 0: it has one row always. Up to so few are done one by one.
  uint32_t attention_rows = 0;
  uint32_t attention_few = 1;
  uint32_t plain = 64;  // lanes where it matters little
  // Elements that a lane works on at once: 1, or of C kernels 4, 8 or 16, the
  // width of a vector register, on processors. A tile is a multiple of it.
  uint32_t vector = 1;
  uint32_t each = 8;         // elements of a lane in elementwise ops
  uint32_t tensor_each = 8;  // the same, of shaders, in small tensors
  uint32_t batch_parts = 0;  // parts if there are many rows; 0: as for few
  uint32_t rope_heads = 1;   // that a work-group of ROPE turns
  uint32_t route = 32;       // lanes of ROUTE
  uint32_t scan = 64;        // lanes of SELECTIVE_SCAN ...
  uint32_t scan_parts = 8;   // ... of which so many share an element
  uint32_t decode_each = 8;  // elements of a lane that decodes tensors
  // Numbers of a part of lines that are more than four times as long, so that
  // there is enough to do at once; 0: they are cut only where loops end.
  uint32_t line_part = 0;
  // Of C kernels: lanes along the outputs of a small product of tensors; a tile
  // of a large one, of the result, and how many columns are summed at a time:
  // multiples of 4, of 64, and of 32.
  uint32_t product_lanes = 0;
  uint32_t product_rows = 0;
  uint32_t product_columns = 0;
  uint32_t product_depth = 0;
  uint64_t local_bytes = UINT64_MAX;  // of memory that a work-group shares
  // The same, for ATTENTION with several rows: what every device has.
  uint64_t shared_bytes = 16384;
  // Iterations of all its loops together that a lane may do. llvmpipe ends
  // loops after so many, and does not report it.
  uint32_t loops = UINT32_MAX;
  // Work-groups along a dimension of a dispatch, if less than the device's own
  // limit.
  uint32_t groups = UINT32_MAX;
  uint64_t range = 0;  // bytes of a bound buffer

  // Lanes of attention with heads of `head` numbers: as many as have room.
  uint32_t attention_lanes(uint64_t head) const;
  // Elements at once along so many: no more than those.
  uint32_t vector_for(uint64_t count) const;
  // Sets the division of LINEAR by GLSL kernels for GPUs: as many lanes as a
  // work-group may have, and squares where there is shared memory for them.
  void fit_products(uint32_t most_lanes, uint64_t shared_bytes);
  // Shared memory of GLSL's LINEAR.
  uint64_t product_bytes() const;
  // Parts that share so many groups of columns.
  uint32_t parts_for(uint32_t column_groups) const;
};

// A choice that a variable of the environment may replace.
struct Choice {
  std::string_view name;
  uint32_t* value;
  uint32_t least, most;
};

// Replaces choices as `text` says: names and numbers, separated by commas, as
// in "parts=8,batch=4". Throws RC_E_INVALID_ARGUMENT, naming the variable that
// contains the text, if the text is malformed, a name is not among the choices,
// or a number is out of range.
void apply_choices(const char* variable, std::string_view text,
                   const std::vector<Choice>& choices);

// Throws RC_E_INVALID_ARGUMENT, naming the variable, if tiles do not divide the
// outputs of a work-group of products of matrices where these are chosen.
void check_matrices(const char* variable, const Tuning& tuning);

// The number that the whole text is. Throws as above.
uint64_t number_of(const char* variable, std::string_view text);

}  // namespace rc::gpu
