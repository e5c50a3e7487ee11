#include "opencl/library.h"

#include "base/error.h"
#include "gpu/c_kernels.h"
#include "opencl/kernel_files.h"

namespace rc::opencl {
cl_program Library::compiled(const std::string& file,
                             const std::string& options) {
  CompiledSource& program = programs_[file + options];
  if (program != nullptr) return program.get();
  const std::string source =
      gpu::kernel_source(kKernelFiles, "prelude_opencl.cl") +
      gpu::kernel_source(kKernelFiles, file);
  const char* text = source.c_str();
  const size_t length = source.size();
  cl_int code = CL_SUCCESS;
  CompiledSource made(
      api().CreateProgramWithSource(context_, 1, &text, &length, &code));
  check(code, "clCreateProgramWithSource");
  code = api().BuildProgram(made.get(), 1, &device_, options.c_str(), nullptr,
                            nullptr);
  if (code == CL_BUILD_PROGRAM_FAILURE) {
    fail(RC_E_DEVICE, "the driver does not compile ", file, " with ", options,
         ": ", build_log(made.get(), device_));
  }
  check(code, "clBuildProgram");
  program = std::move(made);
  return program.get();
}

Kernel Library::kernel(const gpu::Variant& variant) {
  const char* name = gpu::kernel_name(variant.first);
  const bool divides_exactly =
      gpu::c_divides_exactly(variant.first) &&
      (floats_ & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  const std::string options =
      cat("-cl-std=CL1.2 -w", gpu::c_definitions(variant, tuning_.vector),
          (floats_ & CL_FP_FMA) != 0 ? " -DFAST_FMA" : "",
          divides_exactly ? " -cl-fp32-correctly-rounded-divide-sqrt" : "");
  cl_int code = CL_SUCCESS;
  Kernel made(
      api().CreateKernel(compiled(cat(name, ".cl"), options), name, &code));
  check(code, "clCreateKernel");
  return made;
}

}  // namespace rc::opencl
