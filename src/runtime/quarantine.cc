#include "runtime/quarantine.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>

#include "base/config/settings.h"
#include "base/disk_cache.h"
#include "base/error.h"
#include "base/log.h"
#include "base/quote.h"
#include "base/utf8.h"
#include "runtime/backend_spec.h"
#include "runtime/device_order.h"
#include "runtime/module_probe.h"

namespace rc::runtime {
namespace {

constexpr std::string_view kHeading = "quarantine 1\n";
constexpr std::string_view kRecordEnd = "end\n";
constexpr size_t kMostEntries = 256;
constexpr size_t kLongestSubject = 128;
constexpr size_t kLongestReason = 1000;
// Of a record: the cache keeps no more.
constexpr size_t kMostBytes = 60'000;
// A machine that was busy is no reason to do without a device for long.
constexpr int64_t kUnsureFailureHolds = 3600;

int64_t now_in_seconds() {
  return std::chrono::duration_cast<std::chrono::seconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Plugins write what they like: valid UTF-8 on one line, of a bounded length.
std::string one_line(std::string_view text, size_t longest) {
  std::string line = valid_utf8(text.substr(0, longest));
  if (line.size() > longest) line = valid_utf8(line.substr(0, longest));
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ' || c == 127) c = ' ';
  }
  return line;
}

bool is_one_line(std::string_view text, size_t longest) {
  return !text.empty() && text.size() <= longest + 3 &&
         one_line(text, text.size()) == text;
}

std::string_view take_part(std::string_view& text, char end) {
  const size_t length = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, length);
  text.remove_prefix(std::min(length + 1, text.size()));
  return part;
}

using Entries = std::vector<Quarantine::Entry>;

std::string record_text(const Entries& entries) {
  std::string text;
  for (const Quarantine::Entry& entry : entries) {
    text += cat(entry.until, "\t", entry.subject, "\t", entry.reason, "\n");
  }
  return text.append(kRecordEnd);
}

// nullopt for what record_text has not written.
std::optional<Entries> parse_record(std::string_view text) {
  if (!text.ends_with(kRecordEnd)) return std::nullopt;
  text.remove_suffix(kRecordEnd.size());
  Entries entries;
  while (!text.empty()) {
    std::string_view line = take_part(text, '\n');
    const std::string_view until = take_part(line, '\t');
    const std::string_view subject = take_part(line, '\t');
    Quarantine::Entry entry{std::string(subject), std::string(line)};
    const auto [rest, error] =
        std::from_chars(until.data(), until.data() + until.size(), entry.until);
    if (error != std::errc() || rest != until.data() + until.size() ||
        entry.until < 0 || !is_one_line(subject, kLongestSubject) ||
        !is_one_line(line, kLongestReason) || entries.size() == kMostEntries) {
      return std::nullopt;
    }
    entries.push_back(std::move(entry));
  }
  return entries;
}

bool counts_now(const Quarantine::Entry& entry) {
  if (entry.until == 0) return true;
  const int64_t left = entry.until - now_in_seconds();
  return left > 0 && left <= kUnsureFailureHolds;
}

std::vector<PluginEntry> plugins_named(std::string_view name) {
  std::vector<PluginEntry> found;
  for (const PluginEntry* plugin : PluginList::instance().entries()) {
    if (name.empty() || plugin->name == name) found.push_back(*plugin);
  }
  return found;
}

}  // namespace

bool quarantine_counts() {
  return config::Settings::now()->flag("library.quarantine").value_or(true);
}

Quarantine::Quarantine(std::string_view backend, const std::string& module,
                       const rc_plugin_device_info& info)
    : key_(cat("quarantine of ", backend, " ", module, " ", info.name, " ",
               info.physical_id)),
      circumstances_(
          one_line(cat(file_state(module), "driver ", info.driver), 4096) +
          "\n") {}

std::vector<Quarantine::Entry> Quarantine::read() const {
  const auto kept = recall(key_);
  if (!kept) return {};
  std::string_view text = *kept;
  std::optional<Entries> entries;
  if (text.starts_with(kHeading)) {
    text.remove_prefix(kHeading.size());
    // Another driver or module is given another chance.
    if (text.starts_with(circumstances_)) {
      entries = parse_record(text.substr(circumstances_.size()));
    }
  }
  if (entries) return *std::move(entries);
  rc::forget(key_);
  return {};
}

std::vector<Quarantine::Entry> Quarantine::entries() const {
  if (!quarantine_counts()) return {};
  Entries entries = read();
  std::erase_if(entries, [](const Entry& entry) { return !counts_now(entry); });
  return entries;
}

std::string Quarantine::reason_of(std::string_view subject) const {
  for (Entry& entry : entries()) {
    if (entry.subject == subject) return std::move(entry.reason);
  }
  return "";
}

void Quarantine::add(std::string_view subject, std::string_view reason,
                     bool lasting) {
  Entries entries = read();
  std::erase_if(entries, [&](const Entry& entry) {
    return entry.subject == subject || !counts_now(entry);
  });
  if (entries.size() == kMostEntries) return;
  entries.push_back({one_line(subject, kLongestSubject),
                     one_line(reason, kLongestReason),
                     lasting ? 0 : now_in_seconds() + kUnsureFailureHolds});
  const std::string text = record_text(entries);
  if (text.size() > kMostBytes) return;
  remember(key_, cat(kHeading, circumstances_, text));
}

bool Quarantine::forget() {
  const bool known = recall(key_).has_value();
  rc::forget(key_);
  return known;
}

std::string quarantine_reason(const PluginEntry& plugin,
                              const rc_plugin_device_info& info) {
  if (plugin.path.empty()) return "";
  std::string reason =
      Quarantine(plugin.name, plugin.path, info).reason_of(Quarantine::kDevice);
  if (reason.empty()) return "";
  const std::string driver = *info.driver == '\0'
                                 ? "its driver"
                                 : cat("its driver (", info.driver, ")");
  return cat("quarantined until ", driver, " or module changes: ", reason);
}

std::string quarantined_ops(const PluginEntry& plugin,
                            const rc_plugin_device_info& info) {
  if (plugin.path.empty()) return "";
  std::string lines;
  for (const auto& entry :
       Quarantine(plugin.name, plugin.path, info).entries()) {
    if (entry.subject == Quarantine::kDevice) continue;
    lines += cat(lines.empty() ? "" : "\n", entry.reason);
  }
  return lines;
}

int forget_quarantine(const std::string& name) {
  std::string backend;
  std::optional<int> index;
  if (!name.empty()) {
    const std::vector<SpecItem> items = parse_spec(name);
    if (items.size() != 1 || items.front().is_any()) {
      fail(RC_E_INVALID_ARGUMENT, quote(name),
           " is not one backend or device, such as vulkan or vulkan:0");
    }
    backend = items.front().name;
    index = items.front().index;
  }
  PluginList& list = PluginList::instance();
  // Before modules are looked for: one that crashed is then tried again.
  const std::optional<int> modules =
      index ? std::nullopt : list.forget_failures(backend);
  list.load_modules();
  const std::vector<PluginEntry> plugins = plugins_named(backend);
  int count = modules.value_or(0);
  bool known = modules || name.empty() || (!index && !plugins.empty());
  for (const PluginEntry& plugin : plugins) {
    for (const ReportedDevice& device : reported_devices(plugin).devices) {
      if (index && device.index != *index) continue;
      known = true;
      if (plugin.path.empty()) continue;
      count += Quarantine(plugin.name, plugin.path, device.info).forget();
    }
  }
  if (!known) {
    fail(RC_E_NOT_FOUND, "there is no backend or device called ", quote(name),
         "; rc_discover lists those here");
  }
  return count;
}

}  // namespace rc::runtime
