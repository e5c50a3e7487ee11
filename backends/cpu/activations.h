// Rows of activations as products take them.
#pragma once

#include "cpu/kernels.h"

namespace rc::cpu {

enum class ActivationForm {
  kFloats,
  kQuants,   // ActivationBlock
  kQuants16  // ActivationBlock16
};

// The form of activations in products with tiles of this type.
ActivationForm activation_form(rc_dtype tile);

// Elements of a block; 1 of floats.
constexpr int64_t block_elements(ActivationForm form) {
  return form == ActivationForm::kQuants     ? 32
         : form == ActivationForm::kQuants16 ? kColumns16
                                             : 1;
}

// Of so many elements, which are whole blocks.
constexpr int64_t activation_bytes(ActivationForm form, int64_t elements) {
  const size_t bytes = form == ActivationForm::kQuants ? sizeof(ActivationBlock)
                       : form == ActivationForm::kQuants16
                           ? sizeof(ActivationBlock16)
                           : sizeof(float);
  return elements / block_elements(form) * static_cast<int64_t>(bytes);
}

// Makes blocks of n elements. Not of kFloats.
inline void quantize(const Kernels& kernels, ActivationForm form,
                     const float* x, int64_t n, uint8_t* blocks) {
  if (form == ActivationForm::kQuants) {
    kernels.quantize(x, n, reinterpret_cast<ActivationBlock*>(blocks));
  } else {
    kernels.quantize16(x, n, reinterpret_cast<ActivationBlock16*>(blocks));
  }
}

}  // namespace rc::cpu
