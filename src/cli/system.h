// The standard streams and the process, as the system has them. What fails
// leaves the reason in errno.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>

namespace cli {

enum class Stream { kIn, kOut, kError };

bool is_terminal(Stream stream) noexcept;

// Whether a text can be expected on stdin: it is a pipe or a file.
bool is_text_on_stdin() noexcept;

// Waits at most `most` for something to read on stdin. Returns 0 if nothing
// came and a negative number if the wait failed, as when a signal came.
int wait_for_stdin(std::chrono::milliseconds most) noexcept;

// Returns the number of bytes read from stdin; 0 at its end; negative if the
// call fails, as when a signal came.
int64_t read_from_stdin(std::span<char> bytes) noexcept;

// Writes all of the bytes. Returns 0 or an errno.
int write_to(Stream stream, std::string_view bytes) noexcept;

int64_t process_id() noexcept;

// Has the C library read and write UTF-8, whatever the locale says.
void use_utf8();

}  // namespace cli
