// "auto" in a process that may not have much memory. Drivers that make GPUs of
// processors end such a process, so it is the CPU or an error.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

#include "runcible/runcible.h"
#include "temporary.h"

namespace rc::test {
namespace {

// Returns the bytes of address space in use.
uint64_t bytes_in_use() {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// Returns the result of a child with so many bytes more: 0 the CPU, 1 another
// device, else a status.
int open_within(uint64_t more) {
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit = {bytes_in_use() + more, RLIM_INFINITY};
    setrlimit(RLIMIT_AS, &limit);
    rc_backend* backend = nullptr;
    const rc_status status = rc_backend_open("auto", nullptr, &backend);
    rc_device_report report = RC_DEVICE_REPORT_INIT;
    if (status == RC_OK) rc_backend_device(backend, &report);
    _exit(status != RC_OK                        ? -status
          : std::strcmp(report.id, "cpu:0") == 0 ? 0
                                                 : 1);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(MemoryLimit, AutoOpensTheCpuOrFailsCleanly) {
#if defined(__SANITIZE_ADDRESS__)
  GTEST_SKIP() << "the address sanitizer itself cannot live with a limit";
#endif
  const TemporaryFolder folder;
  const TemporaryVariable cache("XDG_CACHE_HOME", folder.path().string());
  const TemporaryVariable modules("RUNCIBLE_PLUGIN_PATH", RC_MODULES);
  for (uint64_t more = 1 << 20; more <= uint64_t{4} << 30; more += more / 2) {
    SCOPED_TRACE(testing::Message() << more << " bytes more");
    const int came_to = open_within(more);
    EXPECT_TRUE(came_to == 0 || came_to == -RC_E_OUT_OF_MEMORY) << came_to;
    // Half a gigabyte is enough for the CPU.
    if (more >= uint64_t{512} << 20) {
      EXPECT_EQ(came_to, 0);
    }
  }
}

}  // namespace
}  // namespace rc::test
