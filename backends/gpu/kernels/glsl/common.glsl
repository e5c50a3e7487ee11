// What every shader begins with: how memory is read, and the numbers of the
// run.
//
// Inputs are read as words of 32 bits, or as quads of four words, through
// WORD(name, i) and QUAD(name, i). Each shader is compiled twice: with TEXELS
// inputs are texel buffers, and where lanes exchange numbers a work-group is one
// sub-group of eight that shuffles (software devices, where a fetch of texels is
// a vector gather and other loads go lane by lane); without, inputs are storage
// buffers and lanes meet in shared memory, which needs nothing beyond Vulkan
// 1.1.
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x_id = 0, local_size_y = 1, local_size_z = 1) in;
layout(constant_id = 0) const uint kLanes = 8;

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

#define OUTPUT(slot, type, name)                  \
  layout(std430, binding = slot) buffer name##_ { \
    type name[];                                  \
  };

// Rows, outputs and sequences of the run, and whether it shall stop.
layout(std430, binding = 0) readonly buffer Counts {
  uint counts[4];
};

// Of the work-groups within a row, which may be more than a dispatch can have
// along one dimension.
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
