// The common beginning of every shader: access to memory, and the numbers of
// the run.
//
// Inputs are read as words of 32 bits, or as quads of four words, through
// WORD(name, i) and QUAD(name, i). Each shader is compiled three times: with
// TEXELS inputs are texel buffers, and where lanes exchange numbers a work-group
// is one sub-group of eight that shuffles (software devices, where a fetch of
// texels is a vector gather and other loads go lane by lane); without, inputs are
// storage buffers and lanes meet in shared memory, which needs nothing beyond
// Vulkan 1.1. With WGSL it is the latter, in what can be translated to the
// WebGPU Shading Language: see backends/webgpu/wgsl/write_wgsl.cc.
#extension GL_EXT_control_flow_attributes : require

// CONSTANT declares what is known when a pipeline is made, and SIZE(number, n)
// says that an array has n elements, where these depend on such constants; each
// size has a number within its shader. What follows from constants is a macro.
//
// PARAMETERS begins the parameters of the op; those with arrays want
// PARAMETERS_WITH_ARRAYS.
#ifdef WGSL
layout(local_size_x = 1) in;  // kLanes, when it is translated
// Variables that are never assigned become constants of the translated shader.
#define CONSTANT(id, type, name, value)                  \
  layout(constant_id = id) const type name##_id = value; \
  type name = name##_id;
#ifdef SIZES
#define SIZE(number, count) size_is(number, count)
#else
#define SIZE(number, count) (7000000 + number)
#endif
#define PARAMETERS layout(std140, binding = 31) uniform Parameters
#define PARAMETERS_WITH_ARRAYS \
  layout(std430, binding = 31) readonly buffer Parameters
#else
layout(local_size_x_id = 0, local_size_y = 1, local_size_z = 1) in;
#define CONSTANT(id, type, name, value) \
  layout(constant_id = id) const type name = value;
#define SIZE(number, count) (count)
#define PARAMETERS layout(push_constant) uniform Parameters
#define PARAMETERS_WITH_ARRAYS PARAMETERS
#endif

CONSTANT(0, uint, kLanes, 8)

// WGSL has no functions that know these, and no constants that are such.
#ifdef WGSL
uint infinity_bits = 0x7F800000u;
#define INFINITY uintBitsToFloat(infinity_bits)
#define NEGATIVE_INFINITY uintBitsToFloat(infinity_bits | 0x80000000u)
#define NOT_A_NUMBER uintBitsToFloat(infinity_bits | 0x400000u)
#define isnan(x) ((floatBitsToUint(x) & 0x7FFFFFFFu) > 0x7F800000u)
#define isinf(x) ((floatBitsToUint(x) & 0x7FFFFFFFu) == 0x7F800000u)
#else
#define INFINITY uintBitsToFloat(0x7F800000u)
#define NEGATIVE_INFINITY uintBitsToFloat(0xFF800000u)
#define NOT_A_NUMBER uintBitsToFloat(0x7FC00000u)
#endif

#ifdef TEXELS
#extension GL_KHR_shader_subgroup_shuffle : require
#extension GL_KHR_shader_subgroup_arithmetic : require
#define INPUT(slot, name) layout(binding = slot) uniform usamplerBuffer name;
#define INPUT_QUADS(slot, name) INPUT(slot, name)
#define WORD(name, i) texelFetch(name, int(i)).x
#define QUAD(name, i) texelFetch(name, int(i))
#else
#define INPUT(slot, name)                                  \
  layout(std430, binding = slot) readonly buffer name##_ { \
    uint words[];                                          \
  }                                                        \
  name;
#define INPUT_QUADS(slot, name)                            \
  layout(std430, binding = slot) readonly buffer name##_ { \
    uvec4 quads[];                                         \
  }                                                        \
  name;
#define WORD(name, i) name.words[i]
#define QUAD(name, i) name.quads[i]
#endif
#define NUMBER(name, i) uintBitsToFloat(WORD(name, i))

// Inputs of which QUAD, too, can be read if they are no texels: words through
// WORD_OF.
#ifdef TEXELS
#define INPUT_BOTH(slot, name) INPUT(slot, name)
#define WORD_OF(name, i) WORD(name, i)
#else
#define INPUT_BOTH(slot, name) INPUT_QUADS(slot, name)
#define WORD_OF(name, i) QUAD(name, (i) / 4)[(i) % 4]
#endif

#define OUTPUT(slot, type, name)                  \
  layout(std430, binding = slot) buffer name##_ { \
    type name[];                                  \
  };

// Rows, outputs and sequences of the run, and whether it shall stop.
#ifdef WGSL
layout(std140, binding = 0) uniform Counts { uvec4 counts; };
#else
layout(std430, binding = 0) readonly buffer Counts {
  uint counts[4];
};
#endif

// The number of a work-group within a row, which may have more work-groups than
// a dispatch can have along one dimension.
#define COLUMN_GROUP \
  (gl_WorkGroupID.z * gl_NumWorkGroups.x + gl_WorkGroupID.x)

// Every op's parameters begin with these: the rows of counts[symbol] from
// first_row on, at most row_limit; buffers are bound from first_row on.
#define ROW_PARAMETERS \
  uint symbol;         \
  uint first_row;      \
  uint row_limit;
#define ROW_COUNT                                               \
  (counts[3] != 0 ? 0                                           \
                  : min(max(counts[p.symbol], p.first_row) -    \
                            p.first_row,                        \
                        p.row_limit))
