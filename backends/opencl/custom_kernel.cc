#include "opencl/custom_kernel.h"

#include "base/error.h"
#include "opencl/buffer.h"
#include "opencl/wait.h"

namespace rc::opencl {

CustomKernel::CustomKernel(OpenClDevice& device, cl_device_id id,
                           const rc_plugin_kernel_info& info)
    : gpu::CustomKernel(info.buffer_count, info.parameter_words),
      device_(device),
      group_{info.group[0], info.group[1], info.group[2]} {
  gpu::check_group(info,
                   device_property<size_t>(id, CL_DEVICE_MAX_WORK_GROUP_SIZE));
  const auto* text = static_cast<const char*>(info.source);
  const size_t length = info.source_bytes;
  cl_int code = CL_SUCCESS;
  program_.reset(api().CreateProgramWithSource(device.context(), 1, &text,
                                               &length, &code));
  check(code, "clCreateProgramWithSource");
  code = api().BuildProgram(program_.get(), 1, &id, "-cl-std=CL1.2", nullptr,
                            nullptr);
  if (code == CL_BUILD_PROGRAM_FAILURE) {
    const std::string said = build_log(program_.get(), id);
    if (info.log != nullptr) info.log(info.log_user, said.c_str());
    fail(RC_E_FORMAT, info.name, ": the driver does not compile it: ", said);
  }
  check(code, "clBuildProgram");
  kernel_.reset(api().CreateKernel(program_.get(), "custom_op", &code));
  check(code, "clCreateKernel");
}

bool CustomKernel::run(const gpu::KernelRun& run) {
  cl_uint next = 0;
  const auto add = [&](const void* value, size_t bytes) {
    check(api().SetKernelArg(kernel_.get(), next++, bytes, value),
          "clSetKernelArg");
  };
  for (const gpu::Region& tensor : run.tensors) {
    const cl_mem memory = memory_of(tensor.buffer);
    add(&memory, sizeof memory);
  }
  for (const gpu::Region& tensor : run.tensors) {
    const cl_ulong offset = tensor.offset;
    add(&offset, sizeof offset);
  }
  for (const uint32_t word : run.words) add(&word, sizeof word);
  size_t items[3];
  for (int i = 0; i < 3; ++i) items[i] = run.groups[i] * group_[i];
  cl_event event = nullptr;
  check(api().EnqueueNDRangeKernel(device_.queue(), kernel_.get(), 3, nullptr,
                                   items, group_, 0, nullptr, &event),
        "clEnqueueNDRangeKernel");
  const Event end(event);
  check(api().Flush(device_.queue()), "clFlush");
  return wait_for(event, run.timeout_ms);
}

}  // namespace rc::opencl
