// Whatever the bytes are: a saved session is restored or refused with a status,
// and one that was restored can be used without harm to other sessions.
//
// A file is mostly refused for its structure or its checksum, so the input is
// read in several ways: as a file, or as changes of a sound one, and either
// with the checksum of what it has become (the bits of the first byte decide).
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/checksum.h"
#include "base/error.h"
#include "engine/engine.h"
#include "files/gguf/file.h"
#include "runtime/registry.h"
#include "small_stack.h"

namespace {

using rc::engine::Engine;
using rc::engine::Session;

// Ends the process, which is how a fuzz target reports a defect.
void require(bool condition) {
  if (!condition) __builtin_trap();
}

struct World {
  std::shared_ptr<Engine> engine;
  std::vector<std::byte> sound;  // a saved session
};

const World& world() {
  static const World made = [] {
    World world;
    rc::runtime::Selection selection;
    selection.spec = "cpu";
    selection.device.threads = 1;
    rc::engine::EngineOptions options;
    options.context_length = 64;
    options.cache_tokens = 256;
    world.engine = Engine::load(
        rc::model::ModelFile::open(RC_SOURCE_DIR
                                   "/tests/golden/architectures/smollm.gguf"),
        rc::runtime::select(selection).device, options, {});
    const auto session = world.engine->create_session({}, nullptr);
    session->append({1, 5, 6, 7, 8, 9});
    session->decode(false);
    session->append({10});
    world.sound = session->save();
    return world;
  }();
  return made;
}

// Each four bytes of the input set one byte of the file.
std::vector<std::byte> changed(std::vector<std::byte> file,
                               std::span<const uint8_t> input) {
  for (; input.size() >= 4; input = input.subspan(4)) {
    const size_t at = input[0] | input[1] << 8 | input[2] << 16;
    file[at % file.size()] = std::byte{input[3]};
  }
  return file;
}

// Makes the last bytes the checksum of the others.
void correct_checksum(std::vector<std::byte>* file) {
  if (file->size() < sizeof(uint64_t)) return;
  const size_t end = file->size() - sizeof(uint64_t);
  const uint64_t sum = rc::checksum(std::span(*file).first(end));
  std::memcpy(file->data() + end, &sum, sizeof sum);
}

void use(Session& session) {
  const auto tokens = session.tokens();
  require(static_cast<int64_t>(tokens.size()) == session.position());
  if (tokens.empty()) return;
  try {
    session.decode(false);
    const auto logits = session.logits();
    require(logits.rows == 1 && logits.vocabulary == 272);
  } catch (const rc::Error& error) {
    require(error.status() == RC_E_DEVICE);
  }
  session.save();
  session.fork()->truncate(0);
}

void run_input(const uint8_t* data, size_t size) {
  if (size == 0) return;
  const World& made = world();
  const std::span input(data + 1, size - 1);
  std::vector<std::byte> bytes;
  if ((data[0] & 1) == 0) {
    bytes = changed(made.sound, input);
  } else {
    bytes.resize(input.size());
    if (!input.empty()) std::memcpy(bytes.data(), input.data(), input.size());
  }
  if ((data[0] & 2) == 0) correct_checksum(&bytes);
  try {
    const auto file = rc::gguf::File::from_memory(nullptr, bytes, "input");
    const auto session = made.engine->restore_session(*file, {}, nullptr);
    use(*session);
  } catch (const rc::Error& error) {
    require(error.status() == RC_E_FORMAT ||
            error.status() == RC_E_UNSUPPORTED ||
            error.status() == RC_E_CONTEXT_FULL);
    require(!error.message().empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rc::fuzz::on_small_stack([&] { run_input(data, size); });
  return 0;
}
