#include "base/config/settings.h"

#include <mutex>
#include <utility>

#include "base/environment.h"
#include "base/error.h"
#include "base/quote.h"

namespace rc::config {

// The layers of this process.
class Process {
 public:
  // Never destroyed: threads may still ask while the process ends.
  static Process& instance() {
    static Process* process = new Process;
    return *process;
  }

  std::shared_ptr<const Settings> now() {
    const std::lock_guard lock(mutex_);
    return make();
  }

  std::shared_ptr<const Settings> last() {
    const std::lock_guard lock(mutex_);
    return last_ != nullptr ? last_ : make();
  }

  void use(const std::optional<std::string>& path) {
    auto file = std::make_shared<const File>(read_file(find_place(path)));
    const std::lock_guard lock(mutex_);
    file_ = std::move(file);
    named_ = path;
    last_ = nullptr;
  }

  void set(std::string_view name, std::optional<Value> value) {
    const std::lock_guard lock(mutex_);
    if (value) {
      program_.insert_or_assign(std::string(name), *std::move(value));
    } else if (const auto old = program_.find(name); old != program_.end()) {
      program_.erase(old);
    }
    last_ = nullptr;
  }

 private:
  std::shared_ptr<const Settings> make() {
    if (file_ == nullptr) {
      file_ = std::make_shared<const File>(read_file(find_place(named_)));
    }
    auto settings = std::make_shared<Settings>();
    settings->file_ = file_;
    settings->program_ = program_;
    for (const Key& key : keys()) {
      if (auto text = environment(key.variable)) {
        settings->variables_.emplace(key.name, *std::move(text));
      }
    }
    last_ = settings;
    return settings;
  }

  std::mutex mutex_;
  std::optional<std::string> named_;
  std::shared_ptr<const File> file_;
  std::map<std::string, Value, std::less<>> program_;
  std::shared_ptr<const Settings> last_;
};

namespace {

const Key& need_key(std::string_view name) {
  const Key* key = find_key(name);
  if (key != nullptr) return *key;
  fail(RC_E_NOT_FOUND, "there is no setting ", quote(name), "; the nearest is ",
       nearest_key(name)->name);
}

std::string variable_subject(const Key& key) {
  return cat("the environment variable ", key.variable);
}

template <class T>
std::optional<T> value_in(const std::optional<Setting>& setting) {
  if (!setting) return std::nullopt;
  return std::get<T>(setting->value);
}

}  // namespace

std::shared_ptr<const Settings> Settings::now() {
  return Process::instance().now();
}

std::shared_ptr<const Settings> Settings::last() {
  return Process::instance().last();
}

std::optional<Setting> Settings::find(std::string_view name) const {
  const Key& key = need_key(name);
  if (const auto own = program_.find(name); own != program_.end()) {
    return Setting{own->second, Layer::kProgram, 0};
  }
  if (const auto text = variables_.find(name); text != variables_.end()) {
    return Setting{value_of_text(key, text->second, variable_subject(key)),
                   Layer::kEnvironment, 0};
  }
  const auto& values = file_->values;
  if (const auto found = values.find(name); found != values.end()) {
    return Setting{found->second.value, Layer::kFile, found->second.line};
  }
  return std::nullopt;
}

std::optional<bool> Settings::flag(std::string_view name) const {
  return value_in<bool>(find(name));
}

std::optional<int64_t> Settings::integer(std::string_view name) const {
  return value_in<int64_t>(find(name));
}

std::optional<double> Settings::real(std::string_view name) const {
  return value_in<double>(find(name));
}

std::optional<std::string> Settings::text(std::string_view name) const {
  const std::optional<Text> text = value_in<Text>(find(name));
  if (!text) return std::nullopt;
  return text->get();
}

std::string Settings::subject(std::string_view name) const {
  const std::optional<Setting> setting = find(name);
  if (setting && setting->layer == Layer::kEnvironment) {
    return variable_subject(need_key(name));
  }
  if (setting && setting->layer == Layer::kFile) {
    return cat(file_->place.path, ":", setting->line, ": ", name);
  }
  return std::string(name);
}

bool Settings::touches(std::string_view prefix) const {
  const auto begins = [&](const auto& map) {
    const auto next = map.lower_bound(prefix);
    return next != map.end() && next->first.starts_with(prefix);
  };
  return begins(program_) || begins(variables_) || begins(file_->values);
}

std::optional<std::string> text_now(std::string_view name) {
  return Settings::now()->text(name);
}

void use_file(const std::optional<std::string>& path) {
  Process::instance().use(path);
}

void set(std::string_view name, const std::optional<std::string>& value) {
  const Key& key = need_key(name);
  Process::instance().set(
      name, value ? std::optional(value_of_text(key, *value, key.name))
                  : std::nullopt);
}

}  // namespace rc::config
