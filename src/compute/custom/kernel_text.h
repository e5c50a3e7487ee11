// The kernels of custom ops as compilers get them: the caller's body, and
// around it what gives it the tensors and numbers by their names.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "compute/custom/signature.h"

namespace rc::compute {

struct KernelBody {
  std::string body;
  std::string head;
};

using GroupSize = std::array<uint32_t, 3>;

// The types are those of all tensors, inputs first. Lines of messages are those
// of the body, in a file with the name of the op. Throws RC_E_UNSUPPORTED for a
// type that the language does not have.
std::string opencl_c_text(const std::string& op, const KernelBody& kernel,
                          const CustomSignature& signature,
                          std::span<const DType> types, const GroupSize& group);
std::string glsl_text(const std::string& op, const KernelBody& kernel,
                      const CustomSignature& signature,
                      std::span<const DType> types, const GroupSize& group);

// For messages of compilers that count the lines of the whole text instead, as
// NVIDIA's does: where the body and the head of `op` begin in it. "" if `said`
// names one of them.
std::string where_lines_begin(const std::string& op, const std::string& text,
                              const std::string& said);

// The parameters of such a kernel: the dimensions, the attributes, and the
// elements of the tensors. Throws RC_E_UNSUPPORTED for one that has no room in
// 32 bits.
std::vector<uint32_t> kernel_words(const std::string& op,
                                   const CustomSignature& signature,
                                   std::span<const int64_t> numbers,
                                   std::span<const double> attributes);

}  // namespace rc::compute
