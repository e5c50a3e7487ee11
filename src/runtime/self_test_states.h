// Cases of ops that carry a state from row to row.
#pragma once

#include <cstdint>

#include "runtime/self_test_case.h"

namespace rc::runtime::self_test {

SelfTestCase short_conv(int64_t width, int32_t function);
// Of states with so many columns.
SelfTestCase selective_scan(int64_t columns);
SelfTestCase channel_scan(int64_t columns);
SelfTestCase delta_rule(int64_t columns, bool interleaved);
SelfTestCase column_delta_rule(int64_t columns);
SelfTestCase fading_state(int64_t columns, bool corrects);

}  // namespace rc::runtime::self_test
