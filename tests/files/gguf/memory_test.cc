// Reading takes little memory and survives failed allocations. The tests
// replace operator new, which sanitizers do themselves.
#include <gtest/gtest.h>

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

#include <malloc.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <new>

#include "base/error.h"
#include "files/gguf/bytes.h"
#include "files/gguf/file.h"
#include "files/gguf/verify.h"
#include "files/gguf/writer.h"
#include "test_data.h"

namespace {

std::atomic<int64_t> live_bytes = 0;
std::atomic<int64_t> peak_bytes = 0;
// Allocations until one fails; negative for never.
std::atomic<int64_t> until_failure = -1;

}  // namespace

void* operator new(size_t size) {
  if (until_failure >= 0 && until_failure-- == 0) throw std::bad_alloc();
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  live_bytes += static_cast<int64_t>(malloc_usable_size(memory));
  if (live_bytes > peak_bytes) peak_bytes = live_bytes.load();
  return memory;
}

void operator delete(void* memory) noexcept {
  live_bytes -= static_cast<int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept { operator delete(memory); }

namespace rc::gguf {
namespace {

constexpr int64_t kMostBytes = int64_t{64} << 20;

// Bytes allocated at most while `call` runs, beyond those before.
int64_t peak_of(const std::function<void()>& call) {
  const int64_t before = live_bytes;
  peak_bytes = before;
  try {
    call();
  } catch (const Error&) {
  }
  return peak_bytes - before;
}

TEST(Memory, MalformedFilesTakeLittleMemory) {
  const auto folder = rc::test::shared_path("gguf-malformed");
  RC_NEED_SHARED(folder);
  int files = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".gguf") continue;
    const std::string path = entry.path().string();
    EXPECT_LT(peak_of([&] { verify(*File::open(path)); }), kMostBytes) << path;
    ++files;
  }
  EXPECT_GT(files, 90);
}

TEST(Memory, LargestFilesStayWithinTheDocumentedMemory) {
  test::Bytes bytes;
  bytes.header(kMaxTensors, kMaxEntries);
  for (uint32_t i = 0; i < kMaxEntries; ++i) {
    bytes.key(cat("k", i), ValueType::kU8).number<uint8_t>(0);
  }
  for (uint32_t i = 0; i < kMaxTensors; ++i) {
    bytes.tensor(cat("t", i), {1, 1, 1, 1}, RC_DTYPE_I8, 32ull * i);
  }
  bytes.align().zeros(32ull * kMaxTensors);
  const auto owner = std::make_shared<std::string>(bytes.data());
  std::shared_ptr<const File> file;
  EXPECT_LT(peak_of([&] {
              file = File::from_memory(owner, std::as_bytes(std::span(*owner)),
                                       "most");
              verify(*file);
            }),
            kMostBytes);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->find("k65535"), &file->entries()[65535]);
  EXPECT_EQ(file->find_tensor("t131071"), &file->tensors()[131071]);
}

// Fails every allocation of `call` in turn; each time it must throw and give
// everything back.
void fail_each_allocation(const std::function<void()>& call) {
  for (int64_t n = 0;; ++n) {
    const int64_t before = live_bytes;
    until_failure = n;
    bool failed = false;
    try {
      call();
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    until_failure = -1;
    ASSERT_EQ(live_bytes, before) << "allocation " << n;
    if (!failed) {
      EXPECT_GT(n, 5);
      return;
    }
  }
}

void add_content(Writer* writer) {
  static constexpr std::array<float, 64> kValues = {1, 2, 3};
  writer->add("general.architecture", "an architecture with a long name");
  writer->add_strings("tokens", std::array{"a", "b"});
  writer->add_array("ids", std::array{1, 2, 3});
  for (const char* name : {"first", "second"}) {
    writer->add_tensor(name, RC_DTYPE_Q8_0, std::array<int64_t, 2>{2, 32},
                       std::span<const float>(kValues));
  }
}

TEST(Memory, FailedAllocationsOfTheReaderLeakNothing) {
  Writer writer;
  add_content(&writer);
  const auto bytes =
      std::make_shared<std::vector<std::byte>>(writer.write_memory());
  fail_each_allocation([&] {
    const auto file = File::from_memory(bytes, *bytes, "a name for messages");
    verify(*file);
    file->find_strings("tokens");
    file->find_ints("ids");
  });
}

TEST(Memory, FailedAllocationsOfTheWriterLeaveNoFile) {
  std::string folder =
      std::filesystem::temp_directory_path() / "runcible-XXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  const std::string path = folder + "/model.gguf";
  fail_each_allocation([&] {
    std::error_code error;
    ASSERT_TRUE(std::filesystem::is_empty(folder, error));
    Writer writer;
    add_content(&writer);
    writer.write_memory();
    writer.write_file(path);
  });
  EXPECT_TRUE(std::filesystem::exists(path));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace rc::gguf

#endif
