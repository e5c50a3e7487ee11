// Whether the files of an architecture contain a tensor or a key.
#pragma once

namespace rc::model {

enum class Presence { kNever, kOptional, kAlways };

}  // namespace rc::model
