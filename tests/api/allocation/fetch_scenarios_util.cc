// Fetching from a hub on loopback, to the end.
#include <unistd.h>

#include <csignal>

#include "hub/fake_hub.h"
#include "runcible/fetch.h"
#include "scenarios.h"

namespace rc::test {
namespace {

// A hub in a child process, whose allocations never fail. It ends with this
// process, whose end closes the pipe.
class HubProcess {
 public:
  HubProcess() {
    int address[2] = {}, life[2] = {};
    EXPECT_EQ(pipe(address), 0);
    EXPECT_EQ(pipe(life), 0);
    const pid_t child = fork();
    EXPECT_GE(child, 0);
    if (child == 0) {
      close(address[0]);
      close(life[1]);
      serve(address[1], life[0]);
    }
    close(address[1]);
    close(life[0]);
    char text[64] = "";
    EXPECT_GT(read(address[0], text, sizeof text - 1), 0);
    close(address[0]);
    environment_ = std::make_unique<HubEnvironment>(text);
  }

 private:
  [[noreturn]] static void serve(int address, int life) {
    FakeHub hub;
    hub.put("m.gguf", content_of_file(model_path()));
    const std::string text = hub.address();
    char byte = 0;
    if (write(address, text.data(), text.size()) > 0) {
      static_cast<void>(read(life, &byte, 1));
    }
    _exit(0);
  }

  std::unique_ptr<HubEnvironment> environment_;
};

rc_status fetching(World& world) {
  static const bool possible = can_fetch();
  static const HubProcess hub;
  if (!possible) return RC_OK;
  rc_fetch_options options = RC_FETCH_OPTIONS_INIT;
  options.connections = 1;
  char* path = nullptr;
  RC_TRY(RC_CALL(rc_model_fetch)("hf:o/m", &options, &path));
  rc_free(path);
  char* json = nullptr;
  RC_TRY(RC_CALL(rc_cached_models)(nullptr, &json));
  rc_free(json);
  size_t freed = 0;
  RC_TRY(RC_CALL(rc_cached_model_remove)("hf:o/m", nullptr, &freed));
  End end;
  RC_TRY(await(RC_CALL(rc_model_fetch_async)(
                   "hf:o/m", &options, world.loop.get(),
                   [](void* user, rc_status status, const char*, const char*) {
                     static_cast<End*>(user)->receive(status);
                   },
                   &end),
               world.loop.get(), end));
  return RC_CALL(rc_cached_model_remove)("hf:o/m", nullptr, &freed);
}

}  // namespace

std::vector<Scenario> fetch_scenarios() { return {{"fetching", fetching, 10}}; }

}  // namespace rc::test
