// Cases of ops on rows that carry no state and attend to nothing: most of their
// kernels differ in the function alone.
#pragma once

#include <optional>

#include "runtime/self_test_case.h"

namespace rc::runtime::self_test {

// Nothing for other ops.
std::optional<SelfTest::Kind> plain_kind(const Op& op,
                                         const rc_plugin_value* values);
std::optional<SelfTestCase> plain_case(const SelfTest::Kind& kind);

}  // namespace rc::runtime::self_test
