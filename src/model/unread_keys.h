// Metadata keys of an architecture that its models may be computed without.
//
// A key that changes no result is never a reason to refuse a file. Which ones
// do, and which do not, is one table, with a reason for each.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace rc::model {

struct UnreadKey {
  std::string_view
      name;  // without the architecture's; '*' at the end: anything
  // Whether results would be others where the architecture does not read it.
  bool changes;
  // The meaning of a key that changes results; else the reason why it does not.
  const char* reason;
  // Values, of one that changes results, that change none (booleans are 0
  // and 1).
  std::vector<double> neutral = {};
};

// In the order of the table.
std::span<const UnreadKey> unread_keys();

// nullptr for a key that the table has not.
const UnreadKey* find_unread_key(std::string_view name);

}  // namespace rc::model
