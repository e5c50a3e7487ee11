// The part of model.h that makes files.
#include "files/convert.h"

#include "api/guard.h"
#include "api/model_path.h"
#include "api/progress.h"
#include "files/open_model.h"

rc_status rc_model_convert(const char* from, const char* to, const char* type,
                           rc_progress_callback progress, void* user) {
  return rc::api::guard([&] {
    const std::string source = rc::api::need_model_path(from, "from");
    rc::api::need_pointer(to, "to");
    if (*to == '\0') rc::fail(RC_E_INVALID_ARGUMENT, "to: empty");
    std::optional<rc::DType> dtype;
    if (type != nullptr) dtype = rc::conversion_type(type);
    rc::convert_model(*rc::open_model(rc::model::file_of(source)), to, dtype,
                      [&](double fraction) {
                        return rc::api::report_progress(progress, user,
                                                        fraction);
                      });
  });
}
