// This process, as the system sees it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rc {

// Differs between a process and a child that was forked from it.
int64_t process_id() noexcept;

// The environment: "NAME=value" each.
std::vector<std::string> environment_entries();

// The bytes of address space that this process may have; nullopt: there is no
// limit.
std::optional<uint64_t> address_space_limit() noexcept;

// The limits on the memory and the threads of this process, as a part of keys
// (disk_cache.h): a library that loads within some may not within others.
std::string resource_limits();

}  // namespace rc
