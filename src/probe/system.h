// The calls of the system that runcible-probe makes.
#pragma once

// Has the system end this process after so many seconds, and when the process
// that has started it ends. For a driver that hangs, on a thread that takes no
// signals.
void end_with_parent(unsigned seconds);

// Loads a module and returns the address of one of its functions; nullptr if
// that fails.
void* find_in_module(const char* path, const char* function);

// Writes the text to stdout and ends the process at once, without what runs at
// exit: the threads of a driver may crash that. The exit code is 0, or 1 if the
// text could not be written.
[[noreturn]] void answer_and_end(const char* text);
