// Rules that the folders of models with selective state spaces share.
#pragma once

#include "files/folder/description.h"
#include "files/folder/rules.h"

namespace rc::folder {

// Mamba 2 as the mixer of a layer.
inline constexpr Rule kMixerSpaceRules[] = {
    {"backbone.layers.*.mixer.in_proj.weight", "blk.*.ssm_in.weight"},
    {"backbone.layers.*.mixer.conv1d.weight", "blk.*.ssm_conv1d.weight",
     convolution},
    {"backbone.layers.*.mixer.conv1d.bias", "blk.*.ssm_conv1d.bias"},
    {"backbone.layers.*.mixer.dt_bias", "blk.*.ssm_dt.bias"},
    {"backbone.layers.*.mixer.A_log", "blk.*.ssm_a", decay_column},
    {"backbone.layers.*.mixer.D", "blk.*.ssm_d", skip_column},
    {"backbone.layers.*.mixer.norm.weight", "blk.*.ssm_norm.weight",
     group_norm},
    {"backbone.layers.*.mixer.out_proj.weight", "blk.*.ssm_out.weight"},
};

// The same together with attention or in its place.
inline constexpr Rule kSpaceRules[] = {
    {"model.layers.*.mamba.in_proj.weight", "blk.*.ssm_in.weight"},
    {"model.layers.*.mamba.conv1d.weight", "blk.*.ssm_conv1d.weight",
     convolution},
    {"model.layers.*.mamba.conv1d.bias", "blk.*.ssm_conv1d.bias"},
    {"model.layers.*.mamba.dt_bias", "blk.*.ssm_dt.bias"},
    {"model.layers.*.mamba.A_log", "blk.*.ssm_a", decay_column},
    {"model.layers.*.mamba.D", "blk.*.ssm_d", skip_column},
    {"model.layers.*.mamba.norm.weight", "blk.*.ssm_norm.weight", group_norm},
    {"model.layers.*.mamba.out_proj.weight", "blk.*.ssm_out.weight"},
};

// Limits of steps: time_step_limit, where it is there.
void add_step_limits(Description& model);

// The value of `key`; a sixteenth of the width, rounded up, where it is "auto".
int64_t step_rank(const Config& config, std::string_view key);

}  // namespace rc::folder
