#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "commands.h"
#include "rows_file.h"

namespace cli {

void write_whole_file(const std::string& path, const std::string& bytes) {
  std::string temporary = path + ".XXXXXX";
  const auto refuse = [&](const char* what) {
    throw Failure{kFile, path + ": " + what + ": " + std::strerror(errno)};
  };
  const int descriptor = mkostemp(temporary.data(), 0);
  if (descriptor < 0) refuse("cannot be made");
  struct Temporary {
    const std::string& path;
    int descriptor;
    bool renamed = false;
    ~Temporary() {
      if (descriptor >= 0) close(descriptor);
      if (!renamed) unlink(path.c_str());
    }
  } file{temporary, descriptor};
  // As files are that programs make: what mkostemp makes is its owner's alone.
  const mode_t mask = umask(0);
  umask(mask);
  if (fchmod(descriptor, 0666 & ~mask) != 0) refuse("cannot be made");
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count =
        write(descriptor, bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse("cannot be written");
    done += static_cast<size_t>(count);
  }
  if (fsync(descriptor) != 0) refuse("cannot be written");
  if (rename(temporary.c_str(), path.c_str()) != 0) refuse("cannot be named");
  file.renamed = true;
}

}  // namespace cli
