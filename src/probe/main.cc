// runcible-probe MODULE: loads a backend module and asks it for its devices,
// for a library that would rather see that crash elsewhere. Writes "ok" when
// the questions have been answered, be it with errors.
#include <dlfcn.h>
#include <unistd.h>

#include "runcible/plugin.h"

namespace {

void ask(const rc_plugin& plugin) {
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  int32_t count = 0;
  if (plugin.device_count(&count, message) != RC_OK) return;
  for (int32_t i = 0; i < count; ++i) {
    rc_plugin_device_info info = {};
    info.struct_size = sizeof info;
    plugin.device_info(i, &info, message);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  // What cannot be loaded, or is of another version, is not ours to judge: the
  // library says why.
  if (void* module = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) {
    using Entry = const rc_plugin* (*)();
    const auto entry =
        reinterpret_cast<Entry>(dlsym(module, "rc_plugin_entry"));
    const rc_plugin* plugin = entry == nullptr ? nullptr : entry();
    if (plugin != nullptr && plugin->abi_version == RC_PLUGIN_ABI_VERSION) {
      ask(*plugin);
    }
  }
  // Not at exit: the threads of a driver may crash that.
  const bool written = write(STDOUT_FILENO, "ok\n", 3) == 3;
  _exit(written ? 0 : 1);
}
