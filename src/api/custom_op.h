// The handle of a custom op.
#pragma once

#include <memory>

#include "api/handle.h"
#include "compute/custom/op.h"
#include "runcible/custom_op.h"

struct rc_custom_op {
  static constexpr rc::api::Kind kKind = rc::api::Kind::kCustomOp;
  const std::shared_ptr<const rc::compute::CustomOp> op;
};
