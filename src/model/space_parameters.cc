#include "model/space_parameters.h"

#include <algorithm>

#include "base/error.h"
#include "model/limits.h"
#include "model/time_mix.h"

namespace rc::model {
namespace {

// Of heads with a number of elements each; head_size is that of inner_size.
void read_space_heads(const Metadata& metadata, StateSpace& space) {
  space.heads = metadata.get("ssm.time_step_rank", 1, kMaxHeads);
  const int64_t inner = metadata.get("ssm.inner_size", 1, kMaxWidth);
  if (inner % space.heads != 0) {
    metadata.refuse("ssm.inner_size", inner,
                    cat("must be a multiple of the ", space.heads, " heads of ",
                        metadata.key("ssm.time_step_rank")));
  }
  space.head_size = inner / space.heads;
  space.groups = metadata.get("ssm.group_count", 1, kMaxHeads);
  if (space.heads % space.groups != 0) {
    metadata.refuse("ssm.group_count", space.groups,
                    cat("must divide the ", space.heads, " heads of ",
                        metadata.key("ssm.time_step_rank")));
  }
  constexpr const char* kLeast = "ssm.time_step_min";
  constexpr const char* kMost = "ssm.time_step_max";
  space.least_step =
      metadata.find_number(kLeast, 0.0, 1e3).value_or(space.least_step);
  space.most_step =
      metadata.find_number(kMost, 1e-9, 1e9).value_or(space.most_step);
  if (space.most_step <= space.least_step) {
    metadata.refuse(
        kMost, space.most_step,
        cat("must be above ", metadata.key(kLeast), ", ", space.least_step));
  }
}

void read_channels(const Metadata& metadata, HyperParameters& hyper) {
  StateSpace& space = hyper.state_space;
  space.heads = metadata.get("ssm.inner_size", 1, kMaxWidth);
  space.head_size = 1;
  space.groups = 1;
  space.rank = metadata.get("ssm.time_step_rank", 1, kMaxWidth);
  if (!metadata.find_flag("ssm.dt_b_c_rms").value_or(false)) return;
  // Only files that folders become say it.
  space.plain_epsilon =
      metadata.find_number("ssm.dt_b_c_rms_epsilon", 1e-20, 1.0)
          .value_or(hyper.norm_epsilon);
}

}  // namespace

void read_state_space(const Metadata& metadata,
                      const Architecture& architecture,
                      HyperParameters& hyper) {
  const Mixer kind = architecture.recurrence.mixer;
  if (std::none_of(hyper.layers.begin(), hyper.layers.end(),
                   [kind](const Layer& layer) {
                     return layer.mixer == kind && kind != Mixer::kAttention;
                   })) {
    return;
  }
  if (mixes_time(kind)) return read_time_mix(metadata, kind, hyper);
  StateSpace& space = hyper.state_space;
  if (kind == Mixer::kLightning) {
    space.heads = space.groups = metadata.get_each(
        "attention.head_count", 1, kMaxHeads, hyper.layer_count())[0];
    space.head_size = space.size = hyper.key_size;
    return;
  }
  if (kind == Mixer::kColumnRule) {
    space.conv_width = metadata.get("ssm.conv_kernel", 2, kMaxConvWidth);
    space.heads = space.groups = metadata.get_each(
        "attention.head_count", 1, kMaxHeads, hyper.layer_count())[0];
    space.head_size = space.size =
        metadata.get("kda.head_dim", 1, kMaxHeadSize);
    return;
  }
  if (kind == Mixer::kShortConv) {
    space.conv_width = metadata.get("shortconv.l_cache", 2, kMaxConvWidth);
    return;
  }
  space.conv_width = metadata.get("ssm.conv_kernel", 2, kMaxConvWidth);
  space.size = metadata.get("ssm.state_size", 1, kMaxHeadSize);
  if (kind == Mixer::kChannelSpace) return read_channels(metadata, hyper);
  read_space_heads(metadata, space);
}

}  // namespace rc::model
