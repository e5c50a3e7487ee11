#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "failing_new.h"

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(RC_ONLY_NEW_FAILS)
#define RC_FAILING_MALLOC 1
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* memory, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);
}
#else
#define RC_FAILING_MALLOC 0
#endif

namespace {

std::atomic<int64_t> g_until_failure{-1};  // negative: none fails
std::atomic<int64_t> g_live{0};
std::atomic<size_t> g_largest{0};
std::atomic<bool> g_failed{false};
std::atomic<bool> g_failed_in_module{false};

enum class Code { kProgram, kModule, kStandardLibrary, kForeign };

// The standard libraries of C++ and C, which allocate for their caller.
constexpr const char* kStandardLibraries[] = {"/libstdc++.", "/libc.", "/libm.",
                                              "/ld-linux", "/libgcc_s."};
// Libraries that allocate for us alone.
constexpr const char* kDependencies[] = {"/libuv.", "/libpcre2-",
                                         "/libutf8proc."};

Code code_at(uintptr_t address) {
  dl_find_object object = {};
  if (_dl_find_object(reinterpret_cast<void*>(address), &object) != 0) {
    return Code::kForeign;  // made at run time by a driver
  }
  const char* name = object.dlfo_link_map->l_name;
  if (*name == '\0') return Code::kProgram;
  if (std::strstr(name, "librunciblebackend-") != nullptr) return Code::kModule;
  for (const char* library : kStandardLibraries) {
    if (std::strstr(name, library) != nullptr) return Code::kStandardLibrary;
  }
  for (const char* library : kDependencies) {
    if (std::strstr(name, library) != nullptr) return Code::kProgram;
  }
  return Code::kForeign;
}

// Finds who called the standard library that called for memory.
struct Search {
  bool in_standard_library = false;
  Code found = Code::kForeign;
};

_Unwind_Reason_Code look_at(_Unwind_Context* frame, void* user) {
  auto* search = static_cast<Search*>(user);
  const Code code = code_at(_Unwind_GetIP(frame));
  if (code == Code::kStandardLibrary) {
    search->in_standard_library = true;
  } else if (search->in_standard_library) {
    search->found = code;
    return _URC_END_OF_STACK;
  }
  return _URC_NO_REASON;
}

Code who_allocates(const void* caller) {
  Code code = code_at(reinterpret_cast<uintptr_t>(caller));
  if (code == Code::kStandardLibrary) {
    Search search;
    _Unwind_Backtrace(look_at, &search);
    code = search.found;
  }
  return code;
}

// Whether this is the allocation that is to fail.
bool fails(const void* caller) {
  if (g_until_failure.load() < 0) return false;
  const Code code = who_allocates(caller);
  if (code == Code::kForeign || g_until_failure.fetch_sub(1) != 0) return false;
  g_failed = true;
  g_failed_in_module = code == Code::kModule;
  return true;
}

void* plain_allocate(size_t bytes, size_t alignment) noexcept {
#if RC_FAILING_MALLOC
  return alignment <= alignof(std::max_align_t)
             ? __libc_malloc(bytes)
             : __libc_memalign(alignment, bytes);
#else
  return alignment <= alignof(std::max_align_t)
             ? std::malloc(bytes)
             : std::aligned_alloc(
                   alignment, (bytes + alignment - 1) / alignment * alignment);
#endif
}

void* allocate(size_t bytes, size_t alignment, const void* caller) noexcept {
  if (fails(caller)) return nullptr;
  size_t largest = g_largest.load();
  while (bytes > largest && !g_largest.compare_exchange_weak(largest, bytes)) {
  }
  void* memory = plain_allocate(bytes, alignment);
  if (memory != nullptr) ++g_live;
  return memory;
}

void* allocate_or_throw(size_t bytes, size_t alignment, const void* caller) {
  void* memory = allocate(bytes, alignment, caller);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void give_back(void* memory) noexcept {
  if (memory != nullptr) --g_live;
  std::free(memory);
}

}  // namespace

#define RC_CALLER __builtin_return_address(0)

void* operator new(size_t n) { return allocate_or_throw(n, 1, RC_CALLER); }
void* operator new[](size_t n) { return allocate_or_throw(n, 1, RC_CALLER); }
void* operator new(size_t n, std::align_val_t a) {
  return allocate_or_throw(n, static_cast<size_t>(a), RC_CALLER);
}
void* operator new[](size_t n, std::align_val_t a) {
  return allocate_or_throw(n, static_cast<size_t>(a), RC_CALLER);
}
void* operator new(size_t n, const std::nothrow_t&) noexcept {
  return allocate(n, 1, RC_CALLER);
}
void* operator new[](size_t n, const std::nothrow_t&) noexcept {
  return allocate(n, 1, RC_CALLER);
}
void* operator new(size_t n, std::align_val_t a,
                   const std::nothrow_t&) noexcept {
  return allocate(n, static_cast<size_t>(a), RC_CALLER);
}
void operator delete(void* p) noexcept { give_back(p); }
void operator delete[](void* p) noexcept { give_back(p); }
void operator delete(void* p, size_t) noexcept { give_back(p); }
void operator delete[](void* p, size_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept {
  give_back(p);
}
void operator delete[](void* p, size_t, std::align_val_t) noexcept {
  give_back(p);
}
void operator delete(void* p, const std::nothrow_t&) noexcept { give_back(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept {
  give_back(p);
}
void operator delete(void* p, std::align_val_t,
                     const std::nothrow_t&) noexcept {
  give_back(p);
}

#if RC_FAILING_MALLOC
namespace {
// The unwinder may allocate.
thread_local bool t_looking = false;

bool malloc_fails(const void* caller) noexcept {
  if (t_looking) return false;
  t_looking = true;
  const bool failed = fails(caller);
  t_looking = false;
  if (failed) errno = ENOMEM;
  return failed;
}
}  // namespace

extern "C" {
void* malloc(size_t bytes) {
  return malloc_fails(RC_CALLER) ? nullptr : __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  return malloc_fails(RC_CALLER) ? nullptr : __libc_calloc(count, bytes);
}
void* realloc(void* memory, size_t bytes) {
  return malloc_fails(RC_CALLER) ? nullptr : __libc_realloc(memory, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  return malloc_fails(RC_CALLER) ? nullptr : __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) {
  if (malloc_fails(RC_CALLER)) return ENOMEM;
  *memory = __libc_memalign(alignment, bytes);
  return *memory == nullptr ? ENOMEM : 0;
}
}
#endif

namespace rc::test {

void fail_allocation(int64_t n) {
  g_failed = g_failed_in_module = false;
  g_until_failure = n;
}

bool allocation_failed() { return g_failed; }

bool allocation_of_module_failed() { return g_failed_in_module; }

int64_t live_allocations() { return g_live; }

size_t take_largest_allocation() { return g_largest.exchange(0); }

}  // namespace rc::test
