// The errors of the disk are tested with the GGUF writer (gguf/writer_test.cc).
#include "base/new_file.h"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "file_size_limit.h"

namespace rc {
namespace {

namespace fs = std::filesystem;

class NewFileTest : public testing::Test {
 protected:
  NewFileTest() {
    std::string pattern = fs::temp_directory_path() / "runcible-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~NewFileTest() override { fs::remove_all(folder_); }

  static std::string read(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void append(NewFile* file, const std::string& text) {
    file->append(std::as_bytes(std::span(text)));
  }

  fs::path folder_;
};

TEST_F(NewFileTest, AppearsWhenCommitted) {
  const fs::path path = folder_ / "file";
  NewFile file(path);
  append(&file, "hello, ");
  append(&file, "");
  append(&file, "world");
  EXPECT_FALSE(fs::exists(path));
  file.commit();
  EXPECT_EQ(read(path), "hello, world");
}

TEST_F(NewFileTest, WithoutCommitTheOldFileIsKept) {
  const fs::path path = folder_ / "file";
  std::ofstream(path) << "old";
  {
    NewFile file(path);
    append(&file, std::string(3 << 20, 'x'));
  }
  EXPECT_EQ(read(path), "old");
  EXPECT_EQ(
      std::distance(fs::directory_iterator(folder_), fs::directory_iterator()),
      1);
}

TEST_F(NewFileTest, PiecesOfAllSizesKeepTheirOrder) {
  const fs::path path = folder_ / "file";
  std::string wanted;
  NewFile file(path);
  for (const size_t size : {1u, 1u << 20, 5u, (1u << 20) - 3, 3u << 20, 7u}) {
    const std::string piece(size, static_cast<char>('a' + wanted.size() % 23));
    append(&file, piece);
    wanted += piece;
  }
  file.commit();
  EXPECT_TRUE(read(path) == wanted);
}

// By default the signal of the limit ends the process.
TEST_F(NewFileTest, ExceedingTheSizeLimitNamesTheFile) {
  ASSERT_EQ(std::signal(SIGXFSZ, SIG_DFL), SIG_DFL);
  const fs::path path = folder_ / "large";
  sigset_t before;
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &before), 0);
  for (const size_t bytes : {size_t{5000}, size_t{3} << 20}) {
    const test::FileSizeLimit limit(4096);
    try {
      NewFile file(path);
      append(&file, std::string(bytes, 'x'));
      file.commit();
      ADD_FAILURE() << bytes << " bytes were written";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), RC_E_IO);
      for (const std::string& part :
           {path.string(), std::string("File too large"),
            std::string("4096 bytes"), std::string("ulimit -f")}) {
        EXPECT_NE(error.message().find(part), std::string::npos)
            << error.message();
      }
    }
    EXPECT_TRUE(fs::is_empty(folder_));
  }
  // The program's handling of the signal is as it was, and none is pending.
  sigset_t now, pending;
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, nullptr, &now), 0);
  ASSERT_EQ(sigpending(&pending), 0);
  EXPECT_EQ(sigismember(&now, SIGXFSZ), sigismember(&before, SIGXFSZ));
  EXPECT_EQ(sigismember(&pending, SIGXFSZ), 0);
  EXPECT_EQ(std::signal(SIGXFSZ, SIG_DFL), SIG_DFL);
  NewFile file(path);
  append(&file, std::string(5000, 'x'));
  file.commit();
  EXPECT_EQ(fs::file_size(path), 5000u);
}

// A signal that a program holds back is its own: it stays pending.
TEST_F(NewFileTest, KeepsASignalThatIsPendingAlready) {
  sigset_t set, before, pending;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &set, &before), 0);
  ASSERT_EQ(pthread_kill(pthread_self(), SIGXFSZ), 0);
  NewFile file(folder_ / "file");
  append(&file, "text");
  file.commit();
  ASSERT_EQ(sigpending(&pending), 0);
  EXPECT_EQ(sigismember(&pending, SIGXFSZ), 1);
  int taken = 0;
  ASSERT_EQ(sigwait(&set, &taken), 0);
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
}

// A process that writes into the folder until it is killed.
class Writer {
 public:
  explicit Writer(const fs::path& path) {
    int ends[2];
    if (pipe(ends) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      NewFile file(path);
      const std::string text(3 << 20, 'x');
      file.append(std::as_bytes(std::span(text)));
      if (write(ends[1], "x", 1) == 1) pause();
      _exit(1);
    }
    char byte = 0;
    close(ends[1]);
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
    close(ends[0]);
  }
  ~Writer() { kill(); }
  void kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
};

size_t files_in(const fs::path& folder) {
  return static_cast<size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST_F(NewFileTest, RemovesLeftoversOfKilledProcesses) {
  Writer killed(folder_ / "first");
  Writer alive(folder_ / "second");
  NewFile own(folder_ / "third");
  killed.kill();
  EXPECT_EQ(files_in(folder_), 3u);
  const fs::path path = folder_ / "fourth";
  NewFile file(path);
  append(&file, "text");
  file.commit();
  EXPECT_TRUE(fs::exists(path));
  EXPECT_EQ(files_in(folder_), 3u) << "of the living, and the new one";
  own.commit();
  EXPECT_TRUE(fs::exists(folder_ / "third"));
  alive.kill();
  NewFile(folder_ / "fifth").commit();
  EXPECT_EQ(files_in(folder_), 3u);
}

// Names of versions that held no lock, and what only looks like a leftover.
TEST_F(NewFileTest, KeepsFilesThatMayBeInUse) {
  const auto make = [&](const char* name, bool old) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << "x";
    if (old) {
      fs::last_write_time(
          path, fs::file_time_type::clock::now() - std::chrono::hours(48));
    }
    return path;
  };
  const fs::path gone = make(".runcible-1-2.tmp", true);
  const std::vector<fs::path> kept = {
      make(".runcible-1-3.tmp", false), make(".runcible-new-1.txt", true),
      make("runcible-new-1-1.tmp", true), make("model.gguf.tmp", true)};
  fs::create_directory(folder_ / ".runcible-new-1-4.tmp");
  fs::create_symlink(kept[0], folder_ / ".runcible-new-1-5.tmp");
  NewFile(folder_ / "file").commit();
  EXPECT_FALSE(fs::exists(gone));
  for (const fs::path& path : kept) EXPECT_TRUE(fs::exists(path)) << path;
  EXPECT_TRUE(fs::exists(folder_ / ".runcible-new-1-4.tmp"));
  EXPECT_TRUE(fs::is_symlink(folder_ / ".runcible-new-1-5.tmp"));
}

TEST_F(NewFileTest, TwoWritersOfOneFileDoNotMix) {
  const fs::path path = folder_ / "file";
  NewFile first(path), second(path);
  append(&first, "first");
  append(&second, "second");
  first.commit();
  second.commit();
  EXPECT_EQ(read(path), "second");
}

}  // namespace
}  // namespace rc
