#include "rocm/comgr.h"

#include <iterator>
#include <utility>

#include "base/error.h"
#include "rocm/found_library.h"

namespace rc::rocm {
namespace {

constexpr int kSuccess = 0;
constexpr int kOpenCl12 = 1;  // a language
// Kinds of data.
constexpr int kSource = 1;
constexpr int kLog = 5;
constexpr int kExecutable = 8;
// Kinds of actions, in version 2 and in version 3, which has left out some.
constexpr int kAddHeader = 1;
constexpr int kCompile = 2;
constexpr int kGenerateCode[] = {6, 4};
constexpr int kLink[] = {9, 7};
constexpr int kCompileWithFunctions[] = {15, 12};

constexpr const char* kCompilerNames[] = {
    "libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"};

const Comgr& load_comgr() {
  FoundLibrary found = find_library("RUNCIBLE_COMGR_LIBRARY", kCompilerNames);
  rc::Library& library = found.library;
  if (!library.is_loaded()) {
    fail(RC_E_BACKEND_UNAVAILABLE, "AMD's compiler library ", found.name,
         " cannot be loaded (", found.failure,
         "); install ROCm's code object manager (Debian's package "
         "libamd-comgr2, AMD's comgr), or name the library in "
         "RUNCIBLE_COMGR_LIBRARY");
  }
  constexpr const char* kNeeded =
      "; the code object manager of ROCm 5.0 or later is needed";
  static Comgr functions;
  Comgr taken{};
#define RC_COMGR_TAKE(member, arguments) \
  found.take(taken.member, "amd_comgr_" #member, kNeeded);
  RC_COMGR_FUNCTIONS(RC_COMGR_TAKE)
#undef RC_COMGR_TAKE
  found.take(taken.get_version, "amd_comgr_get_version", kNeeded);
  size_t major = 0;
  size_t minor = 0;
  taken.get_version(&major, &minor);
  if (major != 2 && major != 3) {
    fail(RC_E_BACKEND_UNAVAILABLE, found.name, " is version ", major, ".",
         minor, "; version 2 or 3 is needed");
  }
  taken.major = static_cast<int>(major);
  taken.version = cat(major, ".", minor);
  library.keep();
  functions = std::move(taken);
  return functions;
}

void check_call(int status, const char* call) {
  if (status != kSuccess) {
    fail(RC_E_DEVICE, "amd_comgr_", call, " failed (", status, ")");
  }
}

// A handle that `destroy` ends.
class Owned {
 public:
  using Function = int (*)(ComgrHandle);
  Owned(ComgrHandle handle, Function destroy)
      : handle_(handle), destroy_(destroy) {}
  ~Owned() { static_cast<void>(destroy_(handle_)); }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ComgrHandle get() const { return handle_; }

 private:
  ComgrHandle handle_;
  Function destroy_;
};

ComgrHandle make_data(int kind) {
  ComgrHandle made;
  check_call(comgr().create_data(kind, &made), "create_data");
  return made;
}
ComgrHandle make_set() {
  ComgrHandle made;
  check_call(comgr().create_data_set(&made), "create_data_set");
  return made;
}
ComgrHandle make_info() {
  ComgrHandle made;
  check_call(comgr().create_action_info(&made), "create_action_info");
  return made;
}

// The content of the first of a kind in a set; "" if there is none.
std::string content_of(ComgrHandle set, int kind) {
  size_t count = 0;
  check_call(comgr().action_data_count(set, kind, &count), "action_data_count");
  if (count == 0) return "";
  ComgrHandle found;
  check_call(comgr().action_data_get_data(set, kind, 0, &found),
             "action_data_get_data");
  const Owned data(found, comgr().release_data);
  size_t bytes = 0;
  check_call(comgr().get_data(data.get(), &bytes, nullptr), "get_data");
  std::string content(bytes, '\0');
  check_call(comgr().get_data(data.get(), &bytes, content.data()), "get_data");
  return content;
}

class Compilation {
 public:
  explicit Compilation(const KernelText& text)
      : text_(text), info_(make_info(), comgr().destroy_action_info) {
    const std::string isa = cat("amdgcn-amd-amdhsa--", text.isa);
    if (comgr().action_info_set_isa_name(info_.get(), isa.c_str()) !=
        kSuccess) {
      fail(RC_E_UNSUPPORTED, "AMD's compiler, version ", comgr().version,
           ", does not know the GPU ", text.isa, "; update ROCm");
    }
    check_call(comgr().action_info_set_logging(info_.get(), true),
               "action_info_set_logging");
  }

  Compiled result() {
    const Owned source(make_data(kSource), comgr().release_data);
    check_call(comgr().set_data(source.get(), text_.source.size(),
                                text_.source.data()),
               "set_data");
    check_call(comgr().set_data_name(source.get(), text_.name.c_str()),
               "set_data_name");
    const Owned sources(make_set(), comgr().destroy_data_set);
    check_call(comgr().data_set_add(sources.get(), source.get()),
               "data_set_add");
    check_call(comgr().action_info_set_language(info_.get(), kOpenCl12),
               "action_info_set_language");
    const Owned bitcode(make_set(), comgr().destroy_data_set);
    const bool compiles = text_.is_opencl_c
                              ? compile_opencl_c(sources.get(), bitcode.get())
                              : compile_kernel(sources.get(), bitcode.get());
    if (!compiles) return {"", log_};
    check_call(comgr().action_info_set_language(info_.get(), 0),
               "action_info_set_language");
    const int later = comgr().major - 2;
    const Owned relocatable(make_set(), comgr().destroy_data_set);
    const Owned linked(make_set(), comgr().destroy_data_set);
    if (!act(kGenerateCode[later], bitcode.get(), relocatable.get(), {"-O3"}) ||
        !act(kLink[later], relocatable.get(), linked.get(), {})) {
      return {"", log_};
    }
    return {content_of(linked.get(), kExecutable), ""};
  }

 private:
  bool compile_kernel(ComgrHandle sources, ComgrHandle bitcode) {
    std::vector<std::string> options = {
        "-O3", "-w", "-cl-no-stdinc",
        // Sums of products are not contracted unless a kernel says so.
        "-ffp-contract=off", "-DFAST_FMA",
        "-cl-fp32-correctly-rounded-divide-sqrt"};
    options.insert(options.end(), text_.definitions.begin(),
                   text_.definitions.end());
    return act(kCompile, sources, bitcode, options);
  }

  bool compile_opencl_c(ComgrHandle sources, ComgrHandle bitcode) {
    const Owned with_header(make_set(), comgr().destroy_data_set);
    return act(kAddHeader, sources, with_header.get(), {}) &&
           act(kCompileWithFunctions[comgr().major - 2], with_header.get(),
               bitcode, {"-O3"});
  }

  bool act(int kind, ComgrHandle from, ComgrHandle to,
           const std::vector<std::string>& options) {
    std::vector<const char*> words;
    for (const std::string& option : options) words.push_back(option.c_str());
    check_call(comgr().action_info_set_option_list(info_.get(), words.data(),
                                                   words.size()),
               "action_info_set_option_list");
    const int status = comgr().do_action(kind, info_.get(), from, to);
    if (status == kSuccess) return true;
    log_ = content_of(to, kLog);
    if (log_.empty()) log_ = cat("it failed (", status, ")");
    return false;
  }

  const KernelText& text_;
  const Owned info_;
  std::string log_;
};

}  // namespace

const Comgr& comgr() {
  // Tried again after a failure.
  static const Comgr& loaded = load_comgr();
  return loaded;
}

Compiled compile(const KernelText& text) { return Compilation(text).result(); }

}  // namespace rc::rocm
