// The common beginning of shaders of tensor ops. Their shapes are fixed: the
// work-groups of an op are numbered, and a dispatch has those from first_group
// to before end_group, in as many rows as the device's limits want.
//
// Every operand has a base: the distance from where it is bound to where it
// begins, for views may begin anywhere.
#include "common.glsl"

#define GROUP_PARAMETERS \
  uint first_group;      \
  uint end_group;
#define GROUP                                                   \
  (p.first_group + gl_WorkGroupID.y * gl_NumWorkGroups.x + \
   gl_WorkGroupID.x)
#define NOTHING_TO_DO(group) (counts[3] != 0 || group >= p.end_group)
