// Cases of ops on rows that carry no state and attend to nothing: most of their
// kernels differ in the function alone.
#pragma once

#include <optional>
#include <vector>

#include "runtime/self_test_case.h"

namespace rc::runtime::self_test {

// Nothing for other ops.
std::optional<SelfTest::Kind> plain_kind(const Op& op,
                                         const rc_plugin_value* values);
std::optional<SelfTestCase> plain_case(const SelfTest::Kind& kind);

// The kinds of all ops whose values are F32 rows of one shape, by the schema;
// without those that have a function as a parameter.
std::vector<SelfTest::Kind> elementwise_kinds();

}  // namespace rc::runtime::self_test
