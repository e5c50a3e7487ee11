// The values that are configured and their origin. Each layer overrides the one
// before: the initial values, a file, the environment, and the values that the
// program has set. The options of a call (include/runcible/) override them all.
//
// Thread-safe. The file is read when something is asked for first, and again
// after use_file(); a file that could not be read is tried again at each
// question.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/config/file.h"
#include "base/config/value.h"

namespace rc::config {

enum class Layer { kInitial, kFile, kEnvironment, kProgram };

struct Setting {
  Value value;
  Layer layer = Layer::kInitial;
  size_t line = 0;  // of the file
};

// The settings at one moment; immutable.
class Settings {
 public:
  // The environment as it is now. Throws what read_file does.
  static std::shared_ptr<const Settings> now();
  // That of the last now(), or of a first one: for what happens too often for
  // the environment to be read each time.
  static std::shared_ptr<const Settings> last();

  const File& file() const { return *file_; }

  // Nothing: the initial value holds. These throw RC_E_INVALID_ARGUMENT if a
  // variable has a value that is not allowed.
  std::optional<Setting> find(std::string_view name) const;
  std::optional<bool> flag(std::string_view name) const;
  std::optional<int64_t> integer(std::string_view name) const;
  std::optional<double> real(std::string_view name) const;
  std::optional<std::string> text(std::string_view name) const;

  // Names the origin of a setting, to begin a message: "the environment
  // variable RUNCIBLE_THREADS", "/etc/x.toml:3: backend.threads", or the name
  // alone.
  std::string subject(std::string_view name) const;

  // Returns false only if every setting whose name begins with `prefix` is at
  // its initial value.
  bool touches(std::string_view prefix) const;

 private:
  friend class Process;
  std::shared_ptr<const File> file_;
  std::map<std::string, std::string, std::less<>> variables_;  // by key
  std::map<std::string, Value, std::less<>> program_;
};

// A text at this moment.
std::optional<std::string> text_now(std::string_view name);

// The file to be read from now on, at once; "": none, nullopt: what find_place
// finds. Throws what read_file does; then nothing has changed.
void use_file(const std::optional<std::string>& path);

// The program's own value; nullopt takes it back. Throws RC_E_NOT_FOUND for a
// name that is none, with the nearest, and RC_E_INVALID_ARGUMENT for a value
// that is not allowed.
void set(std::string_view name, const std::optional<std::string>& value);

}  // namespace rc::config
