// Ops that are computed in place of an operand: the bits equal those of the
// same op with separate memory for the result.
#include <gtest/gtest.h>

#include <functional>

#include "api/tensor_util.h"
#include "conformance_util.h"
#include "runcible/tensor.h"

namespace rc::test {
namespace {

struct Held {
  rc_tensor* tensor = nullptr;
  ~Held() { rc_tensor_release(tensor); }
};

// x and two others, of which the last is repeated.
using InPlaceOp = std::function<rc_status(rc_tensor* x, rc_tensor* same,
                                          rc_tensor* row, rc_tensor** result)>;

TEST(InPlace, ResultsEqualThoseInSeparateMemory) {
  const std::pair<const char*, InPlaceOp> ops[] = {
      {"tanh",
       [](auto* x, auto*, auto*, auto** y) { return rc_op_tanh(x, y); }},
      {"add", [](auto* x, auto* same, auto*,
                 auto** y) { return rc_op_add(x, same, y); }},
      {"div", [](auto* x, auto*, auto* row,
                 auto** y) { return rc_op_div(x, row, y); }},
      {"where", [](auto* x, auto* same, auto* row,
                   auto** y) { return rc_op_where(x, same, row, y); }},
  };
  for (const std::string& id : device_ids()) {
    rc_backend* backend = nullptr;
    ASSERT_EQ(rc_backend_open(id.c_str(), nullptr, &backend), RC_OK)
        << rc_error_message();
    for (const int64_t columns : {1, 7, 50'001}) {
      for (const auto& [name, op] : ops) {
        SCOPED_TRACE(testing::Message() << id << " " << name << " " << columns);
        const int64_t shape[] = {3, columns};
        rc_random_options options = RC_RANDOM_OPTIONS_INIT;
        Held x, same, row, into, expected, found;
        for (Held* each : {&x, &same}) {
          ++options.seed;
          ASSERT_EQ(
              rc_tensor_random(backend, shape, 2, &options, &each->tensor),
              RC_OK);
        }
        ASSERT_EQ(
            rc_tensor_random(backend, shape + 1, 1, &options, &row.tensor),
            RC_OK);
        ASSERT_EQ(op(x.tensor, same.tensor, row.tensor, &expected.tensor),
                  RC_OK)
            << rc_error_message();
        ASSERT_EQ(rc_op_into(x.tensor, x.tensor, &into.tensor), RC_OK);
        ASSERT_EQ(op(into.tensor, same.tensor, row.tensor, &found.tensor),
                  RC_OK)
            << rc_error_message();
        EXPECT_EQ(found.tensor, x.tensor);
        EXPECT_EQ(bytes_of(x.tensor), bytes_of(expected.tensor));
      }
    }
    rc_backend_release(backend);
  }
}

}  // namespace
}  // namespace rc::test
