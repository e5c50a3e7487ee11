// A stand-in for NVIDIA's driver library, for tests: the functions of the CUDA
// driver that the backend calls, over memory of the host and a machine that
// runs PTX (machine.h). Work of a stream is done by a thread, in its order, so
// that what does not wait for it finds nothing of it.
//
// RUNCIBLE_CUDA_STAND_IN sets what it pretends to be: names and numbers, as in
// "devices=2,driver=10020". rc_cuda_stand_in_fail makes calls fail.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "cuda/api.h"
#include "machine.h"

#define RC_STAND_IN extern "C" __attribute__((visibility("default")))

namespace rc::cuda {
namespace {

constexpr CUresult kInvalidValue = 1;
constexpr CUresult kInvalidContext = 201;
constexpr CUresult kInvalidImage = 218;
constexpr CUresult kInvalidHandle = 400;
constexpr CUresult kNotFound = 500;

// ---- What it pretends to be

long setting(const char* name, long otherwise) {
  const char* const text = std::getenv("RUNCIBLE_CUDA_STAND_IN");
  const std::string all = text == nullptr ? "" : "," + std::string(text);
  const size_t at = all.find("," + std::string(name) + "=");
  return at == std::string::npos
             ? otherwise
             : std::atol(all.c_str() + at + std::strlen(name) + 2);
}

// ---- Calls that fail

// Nothing here is destroyed: devices are closed while the process exits, too.
std::mutex& fail_mutex = *new std::mutex;
std::string& fail_name = *new std::string;  // "": any
long fail_after = -1;  // calls before it; negative: none fails
CUresult fail_result = CUDA_SUCCESS;
std::atomic<long> calls = 0;
// After an error of a kernel all calls of the context give it.
std::atomic<CUresult> lost = CUDA_SUCCESS;

CUresult begin_call(const char* name) {
  ++calls;
  const std::lock_guard lock(fail_mutex);
  if (fail_after < 0 || (!fail_name.empty() && fail_name != name)) {
    return CUDA_SUCCESS;
  }
  return fail_after-- == 0 ? fail_result : CUDA_SUCCESS;
}

#define RC_BEGIN(name)                             \
  do {                                             \
    const CUresult injected = begin_call(name);    \
    if (injected != CUDA_SUCCESS) return injected; \
  } while (false)
// Of functions that work on a context.
#define RC_BEGIN_IN_CONTEXT(name)                   \
  RC_BEGIN(name);                                   \
  if (current() == nullptr) return kInvalidContext; \
  if (lost != CUDA_SUCCESS) return lost

// ---- Contexts

struct Device {
  int users = 0;
};
std::mutex& device_mutex = *new std::mutex;
std::map<int, Device>& devices = *new std::map<int, Device>;

// Of a thread.
struct ContextStack {
  CUcontext contexts[16];
  size_t count;
};
thread_local ContextStack stack;
CUcontext current() {
  return stack.count == 0 ? nullptr : stack.contexts[stack.count - 1];
}

ptx::GlobalMemory& memory() {
  static auto* const all = new ptx::GlobalMemory;
  return *all;
}
std::atomic<long> bytes_taken = 0;
std::mutex& sizes_mutex = *new std::mutex;
std::map<uint64_t, size_t>& sizes = *new std::map<uint64_t, size_t>;

// ---- Streams

using Graph = std::vector<std::function<void()>>;
std::atomic<long> graph_launches = 0;

class Stream {
 public:
  Stream() : thread_([this] { work(); }) {}
  ~Stream() {
    add([this] { ends_ = true; });
    thread_.join();
  }

  void add(std::function<void()> task) {
    const std::lock_guard lock(mutex_);
    if (captured_ != nullptr) {
      captured_->push_back(std::move(task));
      return;
    }
    tasks_.push_back(std::move(task));
    changed_.notify_all();
  }
  // What is added from now on goes to a graph.
  void begin_capture() {
    const std::lock_guard lock(mutex_);
    captured_ = std::make_unique<Graph>();
  }
  std::unique_ptr<Graph> end_capture() {
    const std::lock_guard lock(mutex_);
    return std::move(captured_);
  }
  void wait() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.empty(); });
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (!ends_) {
      changed_.wait(lock, [this] { return !tasks_.empty(); });
      const std::function<void()> task = tasks_.front();
      lock.unlock();
      task();
      lock.lock();
      // It counts until it is done.
      tasks_.pop_front();
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> tasks_;
  std::unique_ptr<Graph> captured_;
  bool ends_ = false;
  std::thread thread_;
};

Stream* stream_of(CUstream handle) { return reinterpret_cast<Stream*>(handle); }

std::mutex& streams_mutex = *new std::mutex;
std::set<Stream*>& streams = *new std::set<Stream*>;

// Of all streams, as memory is freed only after what is under way.
void wait_for_all() {
  const std::lock_guard lock(streams_mutex);
  for (Stream* const stream : streams) stream->wait();
}

struct Event {
  std::mutex mutex;
  std::condition_variable changed;
  long recorded = 0;
  long over = 0;
  std::chrono::steady_clock::time_point when;
};

// Work that is under way may outlive the handle.
std::shared_ptr<Event>& shared_event(CUevent event) {
  return *reinterpret_cast<std::shared_ptr<Event>*>(event);
}

// ---- Modules

struct Module {
  ptx::Module content;
};

struct Function {
  const ptx::Module* module;
  const ptx::Entry* entry;
};
std::mutex& function_mutex = *new std::mutex;
auto& functions = *new std::map<const ptx::Entry*, Function>;

std::mt19937_64& random_numbers() {
  static auto& random =
      *new std::mt19937_64(static_cast<uint64_t>(setting("seed", 1)));
  return random;
}
std::mutex& machine_mutex = *new std::mutex;

void run(const ptx::Grid& grid) {
  if (lost != CUDA_SUCCESS) return;
  const std::lock_guard lock(machine_mutex);
  try {
    ptx::run(grid, memory(), &random_numbers());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "stand-in of CUDA: %s\n", error.what());
    lost = CUDA_ERROR_ILLEGAL_ADDRESS;
  }
}

// Whether a range of a copy is memory that it gave.
bool is_memory(CUdeviceptr address, size_t bytes) {
  return bytes == 0 || memory().find(address, bytes) != nullptr;
}

// Memory that the driver did not give is read before the call returns, and
// written before, too.
CUresult copy(void* target, const void* source, size_t bytes, CUstream stream) {
  const auto is_given = [bytes](const void* at) {
    return is_memory(reinterpret_cast<CUdeviceptr>(at), bytes);
  };
  if (is_given(source)) {
    stream_of(stream)->add([=] { std::memmove(target, source, bytes); });
  } else {
    const auto* const begin = static_cast<const std::byte*>(source);
    const std::vector<std::byte> staged(begin, begin + bytes);
    stream_of(stream)->add([target, staged] {
      std::copy(staged.begin(), staged.end(), static_cast<std::byte*>(target));
    });
  }
  if (!is_given(target)) stream_of(stream)->wait();
  return CUDA_SUCCESS;
}

void* pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// Memory that a kernel may access, filled with NaNs.
CUresult allocate(uint64_t* address, size_t bytes) {
  if (bytes == 0) return kInvalidValue;
  const long most = setting("memory", 64 << 10) * 1024 * 1024;
  if (bytes_taken + static_cast<long>(bytes) > most) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  void* const made = ::operator new(bytes, std::align_val_t(256), std::nothrow);
  if (made == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  std::memset(made, 0xFF, bytes);
  bytes_taken += static_cast<long>(bytes);
  *address = reinterpret_cast<uint64_t>(made);
  memory().add(*address, bytes);
  const std::lock_guard lock(sizes_mutex);
  sizes[*address] = bytes;
  return CUDA_SUCCESS;
}

CUresult release(uint64_t address) {
  wait_for_all();
  if (!memory().remove(address)) return kInvalidValue;
  const std::lock_guard lock(sizes_mutex);
  bytes_taken -= static_cast<long>(sizes[address]);
  sizes.erase(address);
  ::operator delete(pointer(address), std::align_val_t(256));
  return CUDA_SUCCESS;
}

}  // namespace
}  // namespace rc::cuda

using namespace rc::cuda;

// Its presence says that the devices are no GPUs.
RC_STAND_IN const int rc_cuda_stand_in = 1;
// After `after` calls of that function, or of any if it is "", one gives this
// result. Takes back the loss of the device.
RC_STAND_IN void rc_cuda_stand_in_fail(const char* function, long after,
                                       CUresult result) {
  const std::lock_guard lock(fail_mutex);
  fail_name = function;
  fail_after = after;
  fail_result = result;
  lost = CUDA_SUCCESS;
}
RC_STAND_IN long rc_cuda_stand_in_calls() { return calls; }
RC_STAND_IN long rc_cuda_stand_in_graphs() { return graph_launches; }
// Bytes that were allocated and not freed.
RC_STAND_IN long rc_cuda_stand_in_bytes() { return bytes_taken; }

RC_STAND_IN CUresult cuInit(unsigned) {
  return static_cast<CUresult>(setting("init", CUDA_SUCCESS));
}
RC_STAND_IN CUresult cuDriverGetVersion(int* version) {
  *version = static_cast<int>(setting("driver", 12040));
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuGetErrorName(CUresult result, const char** name) {
  static const auto& names = *new std::map<CUresult, const char*>{
      {CUDA_SUCCESS, "CUDA_SUCCESS"},
      {kInvalidValue, "CUDA_ERROR_INVALID_VALUE"},
      {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
      {CUDA_ERROR_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY"},
      {CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE"},
      {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE"},
      {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"},
      {kInvalidContext, "CUDA_ERROR_INVALID_CONTEXT"},
      {kInvalidImage, "CUDA_ERROR_INVALID_PTX"},
      {kInvalidHandle, "CUDA_ERROR_INVALID_HANDLE"},
      {kNotFound, "CUDA_ERROR_NOT_FOUND"},
      {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY"},
      {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"},
      {CUDA_ERROR_SYSTEM_NOT_READY, "CUDA_ERROR_SYSTEM_NOT_READY"},
      {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH"},
      {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN"}};
  const auto found = names.find(result);
  if (found == names.end()) return kInvalidValue;
  *name = found->second;
  return CUDA_SUCCESS;
}

RC_STAND_IN CUresult cuDeviceGetCount(int* count) {
  RC_BEGIN("cuDeviceGetCount");
  *count = static_cast<int>(setting("devices", 1));
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuDeviceGet(CUdevice* device, int number) {
  RC_BEGIN("cuDeviceGet");
  *device = number;
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuDeviceGetName(char* name, int bytes, CUdevice device) {
  RC_BEGIN("cuDeviceGetName");
  std::snprintf(name, static_cast<size_t>(bytes), "Stand-in %d of CUDA",
                device);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute which,
                                          CUdevice) {
  RC_BEGIN("cuDeviceGetAttribute");
  switch (which) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      *value = 2;
      break;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
      *value = 0;
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE:
      *value = static_cast<int>(setting("mode", 0));
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      *value = static_cast<int>(setting("capability", 75) / 10);
      break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      *value = static_cast<int>(setting("capability", 75) % 10);
      break;
    default:
      return kInvalidValue;
  }
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice) {
  RC_BEGIN("cuDeviceTotalMem_v2");
  *bytes = static_cast<size_t>(setting("memory", 64 << 10)) << 20;
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuDeviceGetPCIBusId(char* id, int bytes, CUdevice device) {
  RC_BEGIN("cuDeviceGetPCIBusId");
  std::snprintf(id, static_cast<size_t>(bytes), "0000:%02X:00.0", 161 + device);
  return CUDA_SUCCESS;
}

RC_STAND_IN CUresult cuDevicePrimaryCtxRetain(CUcontext* context,
                                              CUdevice device) {
  RC_BEGIN("cuDevicePrimaryCtxRetain");
  const std::lock_guard lock(device_mutex);
  Device& used = devices[device];
  // A new context has no errors of the last one.
  if (used.users++ == 0) lost = CUDA_SUCCESS;
  *context = reinterpret_cast<CUcontext>(&used);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  RC_BEGIN("cuDevicePrimaryCtxRelease_v2");
  const std::lock_guard lock(device_mutex);
  Device& used = devices[device];
  if (used.users == 0) return kInvalidContext;
  --used.users;
  return CUDA_SUCCESS;
}
// It fails only where a context and all that it has are gone.
RC_STAND_IN CUresult cuCtxPushCurrent_v2(CUcontext context) {
  ++calls;
  if (context == nullptr) return kInvalidContext;
  if (stack.count == std::size(stack.contexts)) return kInvalidContext;
  stack.contexts[stack.count++] = context;
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  ++calls;
  if (stack.count == 0) return kInvalidContext;
  *context = stack.contexts[--stack.count];
  return CUDA_SUCCESS;
}

RC_STAND_IN CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  RC_BEGIN_IN_CONTEXT("cuMemAlloc_v2");
  uint64_t made = 0;
  const CUresult result = allocate(&made, bytes);
  *address = made;
  return result;
}
RC_STAND_IN CUresult cuMemFree_v2(CUdeviceptr address) {
  ++calls;
  if (current() == nullptr) return kInvalidContext;
  return release(address);
}
RC_STAND_IN CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  RC_BEGIN_IN_CONTEXT("cuMemHostAlloc");
  uint64_t made = 0;
  const CUresult result = allocate(&made, bytes);
  *address = pointer(made);
  return result;
}
RC_STAND_IN CUresult cuMemFreeHost(void* address) {
  ++calls;
  return release(reinterpret_cast<uint64_t>(address));
}

RC_STAND_IN CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target,
                                          const void* source, size_t bytes,
                                          CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuMemcpyHtoDAsync_v2");
  if (!is_memory(target, bytes)) return kInvalidValue;
  return copy(pointer(target), source, bytes, stream);
}
RC_STAND_IN CUresult cuMemcpyDtoHAsync_v2(void* target, CUdeviceptr source,
                                          size_t bytes, CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuMemcpyDtoHAsync_v2");
  if (!is_memory(source, bytes)) return kInvalidValue;
  return copy(target, pointer(source), bytes, stream);
}
RC_STAND_IN CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source,
                                   size_t bytes, CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuMemcpyAsync");
  if (!is_memory(target, bytes) || !is_memory(source, bytes)) {
    return kInvalidValue;
  }
  return copy(pointer(target), pointer(source), bytes, stream);
}
RC_STAND_IN CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value,
                                     size_t bytes, CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuMemsetD8Async");
  if (!is_memory(target, bytes)) return kInvalidValue;
  stream_of(stream)->add([=] { std::memset(pointer(target), value, bytes); });
  return CUDA_SUCCESS;
}

RC_STAND_IN CUresult cuStreamCreate(CUstream* stream, unsigned) {
  RC_BEGIN_IN_CONTEXT("cuStreamCreate");
  auto* const made = new Stream;
  const std::lock_guard lock(streams_mutex);
  streams.insert(made);
  *stream = reinterpret_cast<CUstream>(made);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuStreamDestroy_v2(CUstream stream) {
  ++calls;
  {
    const std::lock_guard lock(streams_mutex);
    streams.erase(stream_of(stream));
  }
  delete stream_of(stream);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuStreamSynchronize(CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuStreamSynchronize");
  stream_of(stream)->wait();
  return lost;
}

RC_STAND_IN CUresult cuEventCreate(CUevent* event, unsigned) {
  RC_BEGIN_IN_CONTEXT("cuEventCreate");
  *event = reinterpret_cast<CUevent>(
      new std::shared_ptr<Event>(std::make_shared<Event>()));
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuEventDestroy_v2(CUevent event) {
  ++calls;
  delete &shared_event(event);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuEventRecord(CUevent event, CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuEventRecord");
  const std::shared_ptr<Event> recorded = shared_event(event);
  const std::lock_guard lock(recorded->mutex);
  const long number = ++recorded->recorded;
  stream_of(stream)->add([recorded, number] {
    const std::lock_guard inner(recorded->mutex);
    recorded->over = number;
    recorded->when = std::chrono::steady_clock::now();
    recorded->changed.notify_all();
  });
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuEventQuery(CUevent event) {
  RC_BEGIN_IN_CONTEXT("cuEventQuery");
  Event& asked = *shared_event(event);
  const std::lock_guard lock(asked.mutex);
  return asked.over == asked.recorded ? lost.load() : CUDA_ERROR_NOT_READY;
}
RC_STAND_IN CUresult cuEventSynchronize(CUevent event) {
  RC_BEGIN_IN_CONTEXT("cuEventSynchronize");
  Event& asked = *shared_event(event);
  std::unique_lock lock(asked.mutex);
  asked.changed.wait(lock, [&] { return asked.over == asked.recorded; });
  return lost;
}
RC_STAND_IN CUresult cuEventElapsedTime(float* ms, CUevent begin, CUevent end) {
  RC_BEGIN_IN_CONTEXT("cuEventElapsedTime");
  *ms = std::chrono::duration<float, std::milli>(shared_event(end)->when -
                                                 shared_event(begin)->when)
            .count();
  return CUDA_SUCCESS;
}

RC_STAND_IN CUresult cuModuleLoadDataEx(CUmodule* module, const void* image,
                                        unsigned count, CUjit_option* options,
                                        void** values) {
  RC_BEGIN_IN_CONTEXT("cuModuleLoadDataEx");
  auto made = std::make_unique<Module>();
  try {
    made->content = rc::ptx::parse(static_cast<const char*>(image));
  } catch (const std::exception& error) {
    for (unsigned i = 0; i + 1 < count; ++i) {
      if (options[i] != CU_JIT_ERROR_LOG_BUFFER) continue;
      std::snprintf(static_cast<char*>(values[i]),
                    reinterpret_cast<size_t>(values[i + 1]), "%s",
                    error.what());
    }
    return kInvalidImage;
  }
  *module = reinterpret_cast<CUmodule>(made.release());
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuModuleUnload(CUmodule module) {
  ++calls;
  auto* const ended = reinterpret_cast<Module*>(module);
  const std::lock_guard lock(function_mutex);
  for (const auto& [name, entry] : ended->content.entries) {
    functions.erase(&entry);
  }
  delete ended;
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuModuleGetFunction(CUfunction* function, CUmodule module,
                                         const char* name) {
  RC_BEGIN_IN_CONTEXT("cuModuleGetFunction");
  const rc::ptx::Module& content = reinterpret_cast<Module*>(module)->content;
  const auto found = content.entries.find(name);
  if (found == content.entries.end()) return kNotFound;
  const std::lock_guard lock(function_mutex);
  Function& made = functions[&found->second];
  made = {&content, &found->second};
  *function = reinterpret_cast<CUfunction>(&made);
  return CUDA_SUCCESS;
}

RC_STAND_IN CUresult cuLaunchKernel(CUfunction function, unsigned x, unsigned y,
                                    unsigned z, unsigned threads_x,
                                    unsigned threads_y, unsigned threads_z,
                                    unsigned, CUstream stream, void**,
                                    void** extra) {
  RC_BEGIN_IN_CONTEXT("cuLaunchKernel");
  const Function& launched = *reinterpret_cast<Function*>(function);
  constexpr unsigned kMostGroups = 65535;
  constexpr unsigned kMostThreads = 1024;
  if (x == 0 || y == 0 || z == 0 || y > kMostGroups || z > kMostGroups ||
      threads_x == 0 || threads_x > kMostThreads || threads_y != 1 ||
      threads_z != 1) {
    return kInvalidValue;
  }
  if (extra == nullptr || extra[0] != CU_LAUNCH_PARAM_BUFFER_POINTER ||
      extra[2] != CU_LAUNCH_PARAM_BUFFER_SIZE ||
      extra[4] != CU_LAUNCH_PARAM_END) {
    return kInvalidValue;
  }
  const auto* const parameters = static_cast<const std::byte*>(extra[1]);
  const size_t bytes = *static_cast<const size_t*>(extra[3]);
  if (bytes != launched.entry->parameter_bytes ||
      launched.entry->group[0] != threads_x) {
    std::fprintf(stderr,
                 "stand-in of CUDA: kernel %s has %zu bytes of parameters and "
                 "groups of %u; launched with %zu and %u\n",
                 launched.entry->name.c_str(),
                 static_cast<size_t>(launched.entry->parameter_bytes),
                 launched.entry->group[0], bytes, threads_x);
    return kInvalidValue;
  }
  rc::ptx::Grid grid = {launched.module,
                        launched.entry,
                        {x, y, z},
                        threads_x,
                        {parameters, parameters + bytes}};
  stream_of(stream)->add([grid] { run(grid); });
  return CUDA_SUCCESS;
}

// ---- Graphs

RC_STAND_IN CUresult cuStreamBeginCapture_v2(CUstream stream, int) {
  RC_BEGIN_IN_CONTEXT("cuStreamBeginCapture_v2");
  stream_of(stream)->begin_capture();
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  std::unique_ptr<Graph> made = stream_of(stream)->end_capture();
  RC_BEGIN_IN_CONTEXT("cuStreamEndCapture");
  *graph = reinterpret_cast<CUgraph>(made.release());
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuGraphDestroy(CUgraph graph) {
  ++calls;
  delete reinterpret_cast<Graph*>(graph);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec,
                                                 CUgraph graph,
                                                 unsigned long long) {
  RC_BEGIN_IN_CONTEXT("cuGraphInstantiateWithFlags");
  *exec = reinterpret_cast<CUgraphExec>(
      new Graph(*reinterpret_cast<Graph*>(graph)));
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuGraphExecDestroy(CUgraphExec exec) {
  ++calls;
  delete reinterpret_cast<Graph*>(exec);
  return CUDA_SUCCESS;
}
RC_STAND_IN CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  RC_BEGIN_IN_CONTEXT("cuGraphLaunch");
  ++graph_launches;
  for (const auto& task : *reinterpret_cast<Graph*>(exec)) {
    stream_of(stream)->add(task);
  }
  return CUDA_SUCCESS;
}
