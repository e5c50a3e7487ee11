#include "base/mapped_file.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "mapped_memory.h"
#include "temporary.h"

namespace rc {
namespace {

namespace fs = std::filesystem;

constexpr size_t kPages = 64;

class MappedFileTest : public testing::Test {
 protected:
  static size_t page() { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }
  // Makes a file of some pages and one byte, all of them 'x'.
  std::string make(const char* name) {
    const fs::path path = folder_.path() / name;
    std::ofstream(path) << std::string(kPages * page() + 1, 'x');
    return path.string();
  }
  static std::shared_ptr<const MappedFile> map(const std::string& path,
                                               bool guarded) {
    return MappedFile::map(OpenFile::open(path), guarded);
  }
  static bool all_are(const MappedFile& file, char wanted) {
    return std::ranges::all_of(file.bytes(), [&](std::byte byte) {
      return byte == static_cast<std::byte>(wanted);
    });
  }
  static void expect_refused(const MappedFile& file, const char* text) {
    try {
      file.check();
      ADD_FAILURE() << "no error, but should be: " << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_IO);
      EXPECT_NE(error.message().find(text), std::string::npos)
          << error.message();
    }
  }

  test::TemporaryFolder folder_;
};

TEST_F(MappedFileTest, ContainsTheBytesOfTheFile) {
  for (const bool guarded : {false, true}) {
    const std::string path = make("file");
    const auto file = map(path, guarded);
    ASSERT_EQ(file->bytes().size(), kPages * page() + 1);
    EXPECT_TRUE(all_are(*file, 'x'));
    file->check();
    EXPECT_GT(test::mapped_memory(path), 0u);
    test::give_back_mapped_memory(path);
    EXPECT_EQ(test::mapped_memory(path), 0u);
    EXPECT_TRUE(all_are(*file, 'x'));
    EXPECT_FALSE(file->damaged());
  }
}

TEST_F(MappedFileTest, NoticesAnotherLength) {
  const std::string path = make("file");
  const auto file = map(path, false);
  fs::resize_file(path, 3);
  expect_refused(*file, "to 3 bytes");
}

TEST_F(MappedFileTest, GuardedFileReadsZerosBeyondItsEnd) {
  const std::string path = make("file");
  const auto file = map(path, true);
  const auto other = map(make("other"), true);
  const size_t size = file->bytes().size();
  fs::resize_file(path, page());
  EXPECT_EQ(file->bytes()[10], std::byte{'x'});
  EXPECT_FALSE(file->damaged());
  EXPECT_EQ(file->bytes()[size - 1], std::byte{0});
  EXPECT_TRUE(file->damaged());
  EXPECT_TRUE(all_are(*file, '\0'));
  expect_refused(*file, "could not be read");
  // It stays so, whatever becomes of the file.
  fs::resize_file(path, size);
  expect_refused(*file, "could not be read");

  EXPECT_TRUE(all_are(*other, 'x'));
  EXPECT_FALSE(other->damaged());
  // The place of one that is gone is used again, as new.
  const auto again = map(make("file"), true);
  EXPECT_FALSE(again->damaged());
}

TEST_F(MappedFileTest, ManyGuardsAndThreadsWorkAtOnce) {
  constexpr size_t kFiles = 40;
  std::vector<std::shared_ptr<const MappedFile>> files;
  for (size_t i = 0; i < kFiles; ++i) {
    const std::string path = make("file");
    files.push_back(map(path, true));
    if (i % 2 == 0) {
      fs::resize_file(path, page());
    }
    fs::remove(path);
  }
  const std::string passing_path = make("passing");
  const auto read_all = [&] {
    for (size_t i = 0; i < kFiles; ++i) {
      // The first page may be read before another thread notices the damage.
      EXPECT_EQ(files[i]->bytes().back(),
                static_cast<std::byte>(i % 2 == 0 ? '\0' : 'x'));
      EXPECT_EQ(files[i]->damaged(), i % 2 == 0);
      // Guards come and go meanwhile.
      const auto passing = map(passing_path, true);
      EXPECT_TRUE(all_are(*passing, 'x'));
    }
  };
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back(read_all);
  for (std::thread& thread : threads) thread.join();
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// Runs each test in a separate process, as the handler stays installed.
class OtherSignals : public MappedFileTest {
 protected:
  OtherSignals() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  // Guards a mapping, and touches one that is not guarded.
  void fault() {
    const auto guarded = map(make("guarded"), true);
    const std::string path = make("file");
    const auto file = map(path, false);
    fs::resize_file(path, 0);
    volatile std::byte byte = file->bytes()[0];
    static_cast<void>(byte);
  }
  void guard_and_send() {
    const auto guarded = map(make("guarded"), true);
    ::kill(::getpid(), SIGBUS);
  }
  static void handle(void (*handler)(int)) {
    struct sigaction action = {};
    action.sa_handler = handler;
    ::sigaction(SIGBUS, &action, nullptr);
  }
  static void handle(void (*handler)(int, siginfo_t*, void*)) {
    struct sigaction action = {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    ::sigaction(SIGBUS, &action, nullptr);
  }
};

TEST_F(OtherSignals, ReachThePreviousPlainHandler) {
  const auto plain = [](int signal) { ::_exit(signal == SIGBUS ? 42 : 1); };
  EXPECT_EXIT((handle(plain), fault()), testing::ExitedWithCode(42), "");
  EXPECT_EXIT((handle(plain), guard_and_send()), testing::ExitedWithCode(42),
              "");
}

TEST_F(OtherSignals, ReachThePreviousHandlerWithTheAddress) {
  const auto full = [](int, siginfo_t* info, void* context) {
    ::_exit(info->si_addr != nullptr && info->si_code > 0 && context != nullptr
                ? 43
                : 1);
  };
  EXPECT_EXIT((handle(full), fault()), testing::ExitedWithCode(43), "");
}

TEST_F(OtherSignals, EndTheProcessWithoutAHandler) {
  EXPECT_EXIT(fault(), testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT(guard_and_send(), testing::KilledBySignal(SIGBUS), "");
}

TEST_F(OtherSignals, StayIgnoredExceptForFaults) {
  EXPECT_EXIT((handle(SIG_IGN), fault()), testing::KilledBySignal(SIGBUS), "");
  EXPECT_EXIT((handle(SIG_IGN), guard_and_send(), ::_exit(44)),
              testing::ExitedWithCode(44), "");
}

TEST_F(OtherSignals, FaultWithoutAGuardEndsTheProcess) {
  EXPECT_EXIT(
      {
        const std::string path = make("file");
        const auto file = map(path, false);
        fs::resize_file(path, 0);
        volatile std::byte byte = file->bytes()[0];
        static_cast<void>(byte);
      },
      testing::KilledBySignal(SIGBUS), "");
}

#endif

}  // namespace
}  // namespace rc
