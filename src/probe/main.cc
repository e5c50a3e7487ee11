// runcible-probe MODULE: loads a backend module and asks it for its devices,
// for a library that would rather see that crash elsewhere. Writes "ok" when
// the questions have been answered, be it with errors, and before that "only
// software" if there are devices and all of them are software.
#include <dlfcn.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "runcible/plugin.h"

namespace {

// Longer than the library waits.
constexpr unsigned kMostSeconds = 60;

// Whether there are devices, all of them software.
bool ask(const rc_plugin& plugin) {
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  int32_t count = 0;
  if (plugin.device_count(&count, message) != RC_OK) return false;
  int32_t software = 0;
  for (int32_t i = 0; i < count; ++i) {
    rc_plugin_device_info info = {};
    info.struct_size = sizeof info;
    if (plugin.device_info(i, &info, message) == RC_OK &&
        info.kind == RC_DEVICE_SOFTWARE) {
      ++software;
    }
  }
  return count > 0 && software == count;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  // A driver that hangs shall not outlive who asked, on a thread that takes no
  // signals.
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  alarm(kMostSeconds);
  bool only_software = false;
  // What cannot be loaded, or is of another version, is not ours to judge: the
  // library says why.
  if (void* module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) {
    using Entry = const rc_plugin* (*)();
    const auto entry =
        reinterpret_cast<Entry>(dlsym(module, "rc_plugin_entry"));
    const rc_plugin* plugin = entry == nullptr ? nullptr : entry();
    if (plugin != nullptr &&
        plugin->abi_version >= RC_PLUGIN_OLDEST_ABI_VERSION &&
        plugin->least_abi_version <= RC_PLUGIN_ABI_VERSION) {
      only_software = ask(*plugin);
    }
  }
  // Not at exit: the threads of a driver may crash that.
  const char* answer = only_software ? "only software\nok\n" : "ok\n";
  const auto length = static_cast<ssize_t>(std::strlen(answer));
  const bool written =
      write(STDOUT_FILENO, answer, std::strlen(answer)) == length;
  _exit(written ? 0 : 1);
}
