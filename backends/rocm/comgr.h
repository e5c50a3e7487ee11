// AMD's compiler as a library, the Code Object Manager, which comes with HIP:
// it makes code of the kernels for the GPU that is there.
//
// The declarations follow amd_comgr.h of versions 2 (ROCm 4 to 6) and 3 (ROCm
// 7). Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace rc::rocm {

// All handles of the library are passed like this.
struct ComgrHandle {
  uint64_t handle = 0;
};

// Every function that is called: its member of Comgr, and its arguments; in the
// library its name begins with "amd_comgr_".
#define RC_COMGR_FUNCTIONS(F)                                                  \
  F(create_data, (int kind, ComgrHandle*))                                     \
  F(release_data, (ComgrHandle))                                               \
  F(set_data, (ComgrHandle, size_t, const char*))                              \
  F(set_data_name, (ComgrHandle, const char*))                                 \
  F(get_data, (ComgrHandle, size_t*, char*))                                   \
  F(create_data_set, (ComgrHandle*))                                           \
  F(destroy_data_set, (ComgrHandle))                                           \
  F(data_set_add, (ComgrHandle, ComgrHandle))                                  \
  F(action_data_count, (ComgrHandle, int kind, size_t*))                       \
  F(action_data_get_data, (ComgrHandle, int kind, size_t index, ComgrHandle*)) \
  F(create_action_info, (ComgrHandle*))                                        \
  F(destroy_action_info, (ComgrHandle))                                        \
  F(action_info_set_isa_name, (ComgrHandle, const char*))                      \
  F(action_info_set_language, (ComgrHandle, int))                              \
  F(action_info_set_option_list, (ComgrHandle, const char**, size_t))          \
  F(action_info_set_logging, (ComgrHandle, bool))                              \
  F(do_action, (int kind, ComgrHandle, ComgrHandle, ComgrHandle))

struct Comgr {
#define RC_COMGR_MEMBER(member, arguments) int(*member) arguments = nullptr;
  RC_COMGR_FUNCTIONS(RC_COMGR_MEMBER)
#undef RC_COMGR_MEMBER
  void (*get_version)(size_t* major, size_t* minor) = nullptr;
  std::string version;  // "2.8"
  int major = 0;
};

// Loads the library at the first call: RUNCIBLE_COMGR_LIBRARY, else version 3
// or 2. Throws RC_E_BACKEND_UNAVAILABLE, saying why and what to do; the next
// call tries again.
const Comgr& comgr();

// A kernel to compile.
struct KernelText {
  // In the language of the kernels, by their prelude, or in OpenCL C 1.2 with
  // its header and its functions.
  bool is_opencl_c = false;
  std::string name;  // "linear.cl", for messages
  std::string source;
  std::vector<std::string> definitions;  // "-DROWS=8"
  std::string isa;  // "gfx90a:sramecc+:xnack-", as HIP calls the GPU
};

// The code object of a kernel; or, if it does not compile, "" and the words of
// the compiler.
struct Compiled {
  std::string code;
  std::string log;
};
Compiled compile(const KernelText& text);

}  // namespace rc::rocm
