// A stand-in for AMD's compiler, the Code Object Manager: it checks what it is
// asked, and passes the source on to that for HIP.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/cat.h"
#include "base/words.h"
#include "code.h"
#include "kernel_library.h"
#include "rocm/comgr.h"

#define RC_STAND_IN extern "C" __attribute__((visibility("default")))

using rc::rocm::ComgrHandle;

namespace {

constexpr int kSuccess = 0;
constexpr int kError = 1;
constexpr int kInvalid = 2;
constexpr int kHeader = 3;  // a kind of data: precompiled

struct Data {
  int kind = 0;
  int users = 1;
  std::string name, content;
};
struct Set {
  std::vector<uint64_t> data;
};
struct Info {
  std::string isa;
  int language = 0;
  std::vector<std::string> options;
};

std::mutex& mutex = *new std::mutex;
uint64_t next_handle = 1;
auto& all_data = *new std::map<uint64_t, Data>;
auto& all_sets = *new std::map<uint64_t, Set>;
auto& all_infos = *new std::map<uint64_t, Info>;

template <class Object>
Object* find(std::map<uint64_t, Object>& objects, ComgrHandle handle) {
  const auto found = objects.find(handle.handle);
  return found == objects.end() ? nullptr : &found->second;
}
template <class Object>
int make(std::map<uint64_t, Object>& objects, ComgrHandle* handle) {
  handle->handle = next_handle++;
  objects[handle->handle] = {};
  return kSuccess;
}
void release(uint64_t data) {
  const auto found = all_data.find(data);
  if (found != all_data.end() && --found->second.users == 0) {
    all_data.erase(found);
  }
}

Data* first_of(const Set& set, int kind) {
  for (const uint64_t one : set.data) {
    if (all_data[one].kind == kind) return &all_data[one];
  }
  return nullptr;
}
void put(Set* set, int kind, const std::string& content) {
  ComgrHandle made;
  make(all_data, &made);
  all_data[made.handle].kind = kind;
  all_data[made.handle].content = content;
  set->data.push_back(made.handle);
}

bool has(const Info& info, const char* option) {
  return std::find(info.options.begin(), info.options.end(), option) !=
         info.options.end();
}

// What is passed on from step to step is the code from the first on.
int compile(const Info& info, const Set& from, Set* to) {
  const Data* const source = first_of(from, 1);
  if (source == nullptr || info.isa.empty() || info.language != 1) {
    return kInvalid;
  }
  for (const char* option : {"-O3", "-cl-no-stdinc", "-ffp-contract=off",
                             "-cl-fp32-correctly-rounded-divide-sqrt"}) {
    if (!has(info, option)) return kInvalid;
  }
  if (std::getenv("RUNCIBLE_COMGR_STAND_IN_FAILS") != nullptr) {
    put(to, 5, "error: this is what a compiler says");
    return kError;
  }
  std::string definitions;
  for (const std::string& option : info.options) {
    if (option.starts_with("-D")) definitions += " " + option;
  }
  put(to, 6,
      rc::rocm::kMark + info.isa + "\n" + definitions + "\n" + source->content);
  return kSuccess;
}
// A kernel that the caller wrote; whether it compiles the host's compiler says.
int compile_opencl_c(const Info& info, const Set& from, Set* to) {
  const Data* const source = first_of(from, 1);
  const bool has_header = first_of(from, kHeader) != nullptr;
  if (source == nullptr || !has_header || info.isa.empty() ||
      info.language != 1 || !has(info, "-O3")) {
    return kInvalid;
  }
  const std::string& text = source->content;
  uint64_t items[3] = {};
  constexpr std::string_view kSize = "reqd_work_group_size(";
  size_t at = text.find(kSize);
  if (at == std::string::npos) return kInvalid;
  std::string_view rest = std::string_view(text).substr(at + kSize.size());
  for (uint64_t& number : items) {
    number = rc::take_number<uint64_t>(rest).value_or(0);
  }
  uint64_t tensors = 0;
  constexpr std::string_view kTensor = "uchar* ";
  const size_t end = text.find(") {", at);
  while ((at = text.find(kTensor, at)) < end) {
    ++tensors;
    at += kTensor.size();
  }
  const std::string definitions =
      rc::cat(" -DGROUP_ITEMS=", items[0], " -DGROUP_ITEMS_1=", items[1],
              " -DGROUP_ITEMS_2=", items[2], " -DTENSORS=", tensors);
  try {
    static auto* const library = new rc::host::KernelLibrary;
    library->kernel(text, "custom_op", definitions);
  } catch (const std::exception& error) {
    put(to, 5, error.what());
    return kError;
  }
  put(to, 6, rc::rocm::kMark + info.isa + "\n" + definitions + "\n" + text);
  return kSuccess;
}
// The header of OpenCL C comes to the sources.
int add_header(const Info& info, const Set& from, Set* to) {
  const Data* const source = first_of(from, 1);
  if (source == nullptr || info.language != 1) return kInvalid;
  put(to, 1, source->content);
  put(to, kHeader, "header");
  return kSuccess;
}
int pass(const Set& from, int from_kind, Set* to, int to_kind) {
  const Data* const made = first_of(from, from_kind);
  if (made == nullptr) return kInvalid;
  put(to, to_kind, made->content);
  return kSuccess;
}

}  // namespace

RC_STAND_IN void amd_comgr_get_version(size_t* major, size_t* minor) {
  *major = 2;
  *minor = 999;
}
RC_STAND_IN int amd_comgr_create_data(int kind, ComgrHandle* data) {
  const std::lock_guard lock(mutex);
  make(all_data, data);
  all_data[data->handle].kind = kind;
  return kSuccess;
}
RC_STAND_IN int amd_comgr_release_data(ComgrHandle data) {
  const std::lock_guard lock(mutex);
  release(data.handle);
  return kSuccess;
}
RC_STAND_IN int amd_comgr_set_data(ComgrHandle handle, size_t bytes,
                                   const char* content) {
  const std::lock_guard lock(mutex);
  Data* const data = find(all_data, handle);
  if (data == nullptr) return kInvalid;
  data->content.assign(content, bytes);
  return kSuccess;
}
RC_STAND_IN int amd_comgr_set_data_name(ComgrHandle handle, const char* name) {
  const std::lock_guard lock(mutex);
  Data* const data = find(all_data, handle);
  if (data == nullptr) return kInvalid;
  data->name = name;
  return kSuccess;
}
RC_STAND_IN int amd_comgr_get_data(ComgrHandle handle, size_t* bytes,
                                   char* content) {
  const std::lock_guard lock(mutex);
  const Data* const data = find(all_data, handle);
  if (data == nullptr) return kInvalid;
  if (content != nullptr) {
    std::memcpy(content, data->content.data(),
                std::min(*bytes, data->content.size()));
  }
  *bytes = data->content.size();
  return kSuccess;
}
RC_STAND_IN int amd_comgr_create_data_set(ComgrHandle* set) {
  const std::lock_guard lock(mutex);
  return make(all_sets, set);
}
RC_STAND_IN int amd_comgr_destroy_data_set(ComgrHandle handle) {
  const std::lock_guard lock(mutex);
  const Set* const set = find(all_sets, handle);
  if (set == nullptr) return kInvalid;
  for (const uint64_t data : set->data) release(data);
  all_sets.erase(handle.handle);
  return kSuccess;
}
RC_STAND_IN int amd_comgr_data_set_add(ComgrHandle handle, ComgrHandle added) {
  const std::lock_guard lock(mutex);
  Set* const set = find(all_sets, handle);
  Data* const data = find(all_data, added);
  // Data has to have a name.
  if (set == nullptr || data == nullptr || data->name.empty()) return kInvalid;
  ++data->users;
  set->data.push_back(added.handle);
  return kSuccess;
}
RC_STAND_IN int amd_comgr_action_data_count(ComgrHandle handle, int kind,
                                            size_t* count) {
  const std::lock_guard lock(mutex);
  const Set* const set = find(all_sets, handle);
  if (set == nullptr) return kInvalid;
  *count = first_of(*set, kind) != nullptr ? 1 : 0;
  return kSuccess;
}
RC_STAND_IN int amd_comgr_action_data_get_data(ComgrHandle handle, int kind,
                                               size_t index,
                                               ComgrHandle* found) {
  const std::lock_guard lock(mutex);
  const Set* const set = find(all_sets, handle);
  if (set == nullptr || index != 0) return kInvalid;
  for (const uint64_t one : set->data) {
    Data& data = all_data[one];
    if (data.kind != kind) continue;
    ++data.users;
    found->handle = one;
    return kSuccess;
  }
  return kInvalid;
}
RC_STAND_IN int amd_comgr_create_action_info(ComgrHandle* info) {
  const std::lock_guard lock(mutex);
  return make(all_infos, info);
}
RC_STAND_IN int amd_comgr_destroy_action_info(ComgrHandle info) {
  const std::lock_guard lock(mutex);
  return all_infos.erase(info.handle) == 1 ? kSuccess : kInvalid;
}
RC_STAND_IN int amd_comgr_action_info_set_isa_name(ComgrHandle handle,
                                                   const char* isa) {
  const std::lock_guard lock(mutex);
  Info* const info = find(all_infos, handle);
  // It knows one GPU.
  constexpr char kKnown[] = "amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack-";
  if (info == nullptr || std::strcmp(isa, kKnown) != 0) return kInvalid;
  info->isa = isa;
  return kSuccess;
}
RC_STAND_IN int amd_comgr_action_info_set_language(ComgrHandle handle,
                                                   int language) {
  const std::lock_guard lock(mutex);
  Info* const info = find(all_infos, handle);
  if (info == nullptr) return kInvalid;
  info->language = language;
  return kSuccess;
}
RC_STAND_IN int amd_comgr_action_info_set_option_list(ComgrHandle handle,
                                                      const char** options,
                                                      size_t count) {
  const std::lock_guard lock(mutex);
  Info* const info = find(all_infos, handle);
  if (info == nullptr) return kInvalid;
  info->options.assign(options, options + count);
  return kSuccess;
}
RC_STAND_IN int amd_comgr_action_info_set_logging(ComgrHandle handle, bool) {
  const std::lock_guard lock(mutex);
  return find(all_infos, handle) != nullptr ? kSuccess : kInvalid;
}
RC_STAND_IN int amd_comgr_do_action(int kind, ComgrHandle info_handle,
                                    ComgrHandle from_handle,
                                    ComgrHandle to_handle) {
  const std::lock_guard lock(mutex);
  const Info* const info = find(all_infos, info_handle);
  const Set* const from = find(all_sets, from_handle);
  Set* const to = find(all_sets, to_handle);
  if (info == nullptr || from == nullptr || to == nullptr) return kInvalid;
  // The numbers of version 2.
  switch (kind) {
    case 1:
      return add_header(*info, *from, to);
    case 15:
      return compile_opencl_c(*info, *from, to);
    case 2:
      return compile(*info, *from, to);
    case 6:
      return pass(*from, 6, to, 7);
    case 9:
      return pass(*from, 7, to, 8);
    default:
      return kInvalid;
  }
}
