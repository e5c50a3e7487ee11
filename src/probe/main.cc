// runcible-probe MODULE: loads a backend module and asks it for its devices,
// for a library that would rather see that crash elsewhere. Writes "ok" when
// the questions have been answered, be it with errors, and before that "only
// software" if there are devices and all of them are software.
#include "runcible/plugin.h"
#include "system.h"

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
  end_with_parent(kMostSeconds);
  bool only_software = false;
  // A module that cannot be loaded, or is of another version, is not rejected
  // here: the library reports why.
  using Entry = const rc_plugin* (*)();
  const auto entry =
      reinterpret_cast<Entry>(find_in_module(argv[1], "rc_plugin_entry"));
  const rc_plugin* plugin = entry == nullptr ? nullptr : entry();
  if (plugin != nullptr &&
      plugin->abi_version >= RC_PLUGIN_OLDEST_ABI_VERSION &&
      plugin->least_abi_version <= RC_PLUGIN_ABI_VERSION) {
    only_software = ask(*plugin);
  }
  answer_and_end(only_software ? "only software\nok\n" : "ok\n");
}
