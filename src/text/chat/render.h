// The inputs of a rendering besides variables, and its results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "text/chat/text.h"

namespace rc::text::chat {

// A time of day on a date, of no time zone.
struct LocalTime {
  int year = 1970;
  int month = 1;  // from 1
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int microsecond = 0;
};

struct RenderOptions {
  // The time that strftime_now() formats. Without it a template that asks for
  // the time fails: rendering reads nothing from outside.
  std::optional<LocalTime> now;
  // The most bytes of rendered text that the caller can use. Rendering ends
  // with RC_E_CONTEXT_FULL before it writes more.
  size_t most_bytes = SIZE_MAX;
  // Asked at every few thousand steps; true: render throws RC_E_CANCELLED.
  std::function<bool()> should_stop = {};
};

struct Rendered {
  std::string text;
  // Bytes of the text that come from content: in order, neither empty nor
  // touching. Control tokens are looked for elsewhere only.
  std::vector<Span> content;
  // Bytes written by {% generation %} blocks, which is what the model said; in
  // order. Blocks within macros and other captured text are left out.
  std::vector<Span> generation;
};

}  // namespace rc::text::chat
