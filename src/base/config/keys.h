// The settings that a configuration may hold: their names, which are those of
// the options in include/runcible/, their limits and their meaning.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace rc::config {

enum class Kind { kText, kChoice, kFlag, kInteger, kReal };

struct Key {
  const char* name;      // "backend.threads": table and key of the file
  const char* variable;  // of the environment; "RUNCIBLE_THREADS"
  Kind kind;
  // The value of a setting that is set nowhere, as a file would contain it.
  // nullptr for texts: none, and the library behaves as `meaning` says.
  const char* initial;
  const char* meaning;
  // Of integers and real numbers.
  double least = 0;
  double most = 0;           // infinity: as far as the type goes
  bool above_least = false;  // `least` itself is not allowed
  const char* choices = "";  // of a choice: "f16, f32"
};

// In the order of a report.
std::span<const Key> keys();

// nullptr: there is no such setting.
const Key* find_key(std::string_view name);

// "an integer from 0 to 1024", for messages and reports.
std::string allowed(const Key& key);

// The setting that was likely meant by `name`: full names and those without
// their table are compared. Never nullptr.
const Key* nearest_key(std::string_view name);

// The variable likely to have been meant.
const Key* nearest_variable(std::string_view name);

}  // namespace rc::config
