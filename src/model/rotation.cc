#include "model/rotation.h"

namespace rc::model {

runtime::Value add_rotation(runtime::ProgramBuilder& builder,
                            const Rotation& rotation, runtime::Value x) {
  const auto rotated = [&](runtime::Value frequencies) {
    return builder.rope(x, rotation.positions, frequencies, rotation.style,
                        rotation.scale);
  };
  const runtime::Value usual = rotated(rotation.frequencies);
  if (rotation.long_frequencies == runtime::kAbsent) return usual;
  // A sum over both, of which one counts as 1 and the other as 0.
  const runtime::ProgramBuilder::Shape shape = builder.shape(x);
  const int64_t size = shape[1] * shape[2];
  const auto flat = [&](runtime::Value y) {
    return builder.reshape(y, {RC_DIM_ROWS, 1, size});
  };
  const runtime::Value both = builder.reshape(
      builder.join(flat(usual), flat(rotated(rotation.long_frequencies))),
      {RC_DIM_ROWS, 2, size});
  const runtime::Value choice = builder.get_rows(
      builder.weight(kRotationChoiceWeight, RC_DTYPE_F32, {2, 2}, RC_USE_ROWS),
      rotation.longer);
  return builder.reshape(builder.expert_sum(both, choice), shape);
}

}  // namespace rc::model
