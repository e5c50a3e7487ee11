#include "base/program_run.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/environment.h"
#include "base/error.h"
#include "base/size_signal.h"

extern char** environ;

namespace rc {
namespace {

// Files rather than pipes, which have to be written and read at once.
class TransferFolder {
 public:
  TransferFolder() {
    path_ =
        cat(environment_folder("TMPDIR").value_or("/tmp"), "/runcible-XXXXXX");
    if (mkdtemp(path_.data()) == nullptr) {
      fail(RC_E_IO, path_,
           ": the folder cannot be made: ", std::strerror(errno));
    }
  }
  ~TransferFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TransferFolder(const TransferFolder&) = delete;
  TransferFolder& operator=(const TransferFolder&) = delete;

  std::string file(const char* name) const { return cat(path_, "/", name); }
  std::string read(const char* name) const {
    std::ifstream in(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void write(const char* name, const std::string& text) const {
    const SizeSignalHeld held;
    std::ofstream out(file(name), std::ios::binary);
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) fail(RC_E_IO, file(name), " cannot be written");
  }

 private:
  std::string path_;
};

}  // namespace

std::optional<ProgramRun> run_program(const std::string& name,
                                      const std::vector<std::string>& arguments,
                                      const std::string& input) {
  const TransferFolder folder;
  folder.write("input", input);
  std::vector<char*> words = {const_cast<char*>(name.c_str())};
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  const std::string names[] = {folder.file("input"), folder.file("output"),
                               folder.file("errors")};
  posix_spawn_file_actions_t actions;
  if (posix_spawn_file_actions_init(&actions) != 0) return std::nullopt;
  pid_t child = -1;
  bool ready = true;
  for (int i = 0; i < 3; ++i) {
    ready = ready &&
            posix_spawn_file_actions_addopen(
                &actions, i, names[i].c_str(),
                i == 0 ? O_RDONLY : O_WRONLY | O_CREAT | O_EXCL, 0600) == 0;
  }
  const bool started =
      ready && posix_spawnp(&child, name.c_str(), &actions, nullptr,
                            words.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  if (!started) return std::nullopt;
  int status = 0;
  pid_t ended = -1;
  do {
    ended = waitpid(child, &status, 0);
  } while (ended < 0 && errno == EINTR);
  ProgramRun run;
  run.output = folder.read("output");
  run.errors = folder.read("errors");
  // A process that ignores the ends of its children gets no exit status.
  run.succeeded = ended == child ? WIFEXITED(status) && WEXITSTATUS(status) == 0
                                 : run.errors.empty() && !run.output.empty();
  return run;
}

}  // namespace rc
