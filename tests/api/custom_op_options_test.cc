// Options of custom ops that cannot be, and the count of handles.
#include <functional>
#include <string>
#include <vector>

#include "custom_op_util.h"

namespace rc::test {
namespace {

struct Mistake {
  const char* what;
  std::function<void(rc_custom_op_options&)> make;
  std::vector<std::string> texts;
};

TEST(CustomOpOptions, ErrorsNameTheOption) {
  using Options = rc_custom_op_options;
  const auto signature = [](const char* text) {
    return [text](Options& options) {
      options.signature = text;
      options.attributes = nullptr;
      options.items = nullptr;
    };
  };
  const Mistake mistakes[] = {
      {"no name", [](Options& o) { o.name = nullptr; }, {"options->name"}},
      {"name", [](Options& o) { o.name = "a b"; }, {"options->name"}},
      {"name", [](Options& o) { o.name = "3d"; }, {"options->name"}},
      {"no signature",
       [](Options& o) { o.signature = nullptr; },
       {"options->signature: NULL"}},
      {"empty", signature(""), {"options->signature", "name of a tensor"}},
      {"no arrow", signature("x F32 [n]"), {"\"->\" is missing"}},
      {"no output", signature("x F32 [n] ->"), {"name of a tensor"}},
      {"no type", signature("x [n] -> y F32 [n]"), {"type"}},
      {"unknown type", signature("x F31 [n] -> y F32 [n]"), {"F31", "BF16"}},
      {"blocks", signature("x Q4_K [n] -> y F32 [n]"), {"Q4_K"}},
      {"type twice", signature("x F32|F32 [n] -> y x [n]"), {"twice"}},
      {"two types", signature("x F32 [n] -> y F32|F16 [n]"), {"one type"}},
      {"names twice",
       signature("x F32 [n], x F32 [n] -> y x [n]"),
       {"x is used twice"}},
      {"names twice", signature("x F32 [x] -> y x [1]"), {"x is used twice"}},
      {"names twice", signature("x F32 [n] -> n x [1]"), {"n is used twice"}},
      {"rank",
       signature("x F32 [a, b, c, d, e] -> y x [1]"),
       {"more than 4 dimensions"}},
      {"rank", signature("x F32 [] -> y x [1]"), {"1 to 4 dimensions"}},
      {"rest", signature("x F32 [n, ...] -> y x [1]"), {"..."}},
      {"rest", signature("x F32 [n] -> y x [...]"), {"no input has ..."}},
      {"unknown", signature("x F32 [n] -> y x [m]"), {"m is neither"}},
      {"elements", signature("x F32 [n] -> y x [elements(z)]"), {"z"}},
      {"sum", signature("x F32 [n] -> y x [n +]"), {"missing"}},
      {"open", signature("x F32 [n] -> y x [(n]"), {"\")\" is missing"}},
      {"number", signature("x F32 [n] -> y x [99999999999]"), {"2147483647"}},
      {"behind", signature("x F32 [n] -> y x [n] z"), {"\",\" is missing"}},
      {"inputs",
       signature("a F32 [1], b F32 [1], c F32 [1], d F32 [1], e F32 [1], f F32 "
                 "[1], g F32 [1], h F32 [1], i F32 [1] -> y F32 [1]"),
       {"more than 8 inputs"}},
      {"attribute",
       [](Options& o) { o.attributes = "shift double"; },
       {"options->attributes", "int or float"}},
      {"attribute twice",
       [](Options& o) { o.attributes = "shift float, shift int"; },
       {"shift is used twice"}},
      {"attribute and dimension",
       [](Options& o) { o.attributes = "n int"; },
       {"n is used twice"}},
      {"items", [](Options& o) { o.items = "q"; }, {"options->items", "q"}},
      {"items", [](Options& o) { o.items = "n, n"; }, {"options->items"}},
      {"nothing to run",
       [](Options& o) { o.function = nullptr; },
       {"neither a function nor a kernel"}},
      {"no grid", [](Options& o) { o.glsl = ""; }, {"options->grid"}},
      {"head alone",
       [](Options& o) { o.opencl_c_head = ""; },
       {"options->opencl_c_head"}},
      {"group",
       [](Options& o) {
         o.glsl = "";
         o.grid = "n";
         o.group = "8, 8";
       },
       {"options->group"}},
      {"group",
       [](Options& o) {
         o.glsl = "";
         o.grid = "n, n";
         o.group = "64, 64";
       },
       {"options->group", "1024"}},
  };
  for (const Mistake& mistake : mistakes) {
    SCOPED_TRACE(mistake.what);
    Options options = scale_options();
    static int released;
    released = 0;
    options.release = [](void*) { ++released; };
    mistake.make(options);
    rc_custom_op* op = nullptr;
    const rc_status status = rc_custom_op_create(&options, &op);
    const std::string message = rc_error_message();
    EXPECT_EQ(status, RC_E_INVALID_ARGUMENT);
    EXPECT_EQ(op, nullptr);
    EXPECT_EQ(released, 0);
    for (const std::string& text : mistake.texts) {
      EXPECT_NE(message.find(text), std::string::npos)
          << message << "\ndoes not contain " << text;
    }
    rc_custom_op_release(op);
  }
  EXPECT_FAILS(RC_E_INVALID_ARGUMENT, rc_custom_op_create(nullptr, nullptr),
               "NULL");
}

TEST(CustomOpOptions, HandlesAreCounted) {
  const CustomOp op = create(scale_options());
  EXPECT_EQ(rc_custom_op_retain(op.get()), op.get());
  rc_custom_op_release(op.get());
  EXPECT_EQ(rc_custom_op_retain(nullptr), nullptr);
  rc_custom_op_release(nullptr);
}

}  // namespace
}  // namespace rc::test
