#include "runcible/op_backend.h"

#include "api/guard.h"
#include "api/options.h"
#include "runtime/op_backend.h"
#include "tensor/op_schema.h"

using rc::api::guard;
using rc::api::need_pointer;

namespace {
constexpr rc_op_backend kNothing = RC_OP_BACKEND_INIT;
}  // namespace

void rc_op_backend_init(rc_op_backend* backend, size_t struct_size) {
  rc::api::initialise(backend, struct_size, kNothing);
}

rc_status rc_op_backend_register(const rc_op_backend* backend) {
  return guard([&] {
    need_pointer(backend, "backend");
    rc::runtime::register_op_backend(
        rc::api::read_options(backend, kNothing, "backend"));
  });
}

rc_status rc_op_backend_unregister(const char* name) {
  return guard([&] {
    need_pointer(name, "name");
    rc::runtime::unregister_op_backend(name);
  });
}

const char* rc_op_name(int32_t code) {
  const rc::OpSchema* known = rc::find_op(code);
  return known == nullptr ? nullptr : known->name;
}
