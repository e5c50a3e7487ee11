// The part of model.h that looks at files.
#include "api/guard.h"
#include "api/metadata_json.h"
#include "api/model.h"
#include "api/model_memory.h"
#include "api/model_path.h"
#include "api/options.h"
#include "api/returned_memory.h"
#include "base/quote.h"
#include "files/gguf/verify.h"
#include "files/open_model.h"

rc_model_info::rc_model_info(std::shared_ptr<const rc::gguf::File> opened)
    : file(std::move(opened)) {
  for (const rc::gguf::Entry& entry : file->entries()) {
    keys.emplace_back(entry.key);
    types.push_back(rc::api::type_text(entry));
  }
  for (const rc::gguf::Tensor& tensor : file->tensors()) {
    tensor_names.emplace_back(tensor.name);
  }
}

using rc::api::guard;
using rc::api::guard_handle;
using rc::api::need;
using rc::api::need_pointer;

namespace {

std::shared_ptr<const rc::gguf::File> open_file(const char* path) {
  return rc::open_model(rc::model::file_of(rc::api::need_model_path(path)));
}

void verify_file(const std::shared_ptr<const rc::gguf::File>& file) {
  const auto check_structure = [&] {
    if (!file->tensors().empty()) {
      static_cast<void>(rc::model::ModelFile::from_gguf(file));
    } else if (rc::text::Tokenizer::load(*file) == nullptr) {
      rc::fail(RC_E_FORMAT, file->name(),
               ": it holds neither tensors nor a vocabulary");
    }
  };
  try {
    rc::gguf::verify(*file);
  } catch (const rc::Error& error) {
    // That a type has no decoder is the verdict only if nothing is wrong.
    if (error.status() == RC_E_UNSUPPORTED) check_structure();
    throw;
  }
  check_structure();
}

void need_index(size_t i, size_t count, const char* what) {
  if (i >= count) {
    rc::fail(RC_E_INVALID_ARGUMENT, "i: ", i, ", but the file has ", count, " ",
             what);
  }
}

}  // namespace

rc_status rc_model_info_open(const char* path, rc_model_info** info) {
  return guard_handle(info, "info", [&] {
    return rc::api::add_handle(
        std::make_unique<rc_model_info>(open_file(path)));
  });
}

rc_status rc_model_info_open_memory(const rc_model_memory* memory,
                                    rc_model_info** info) {
  using rc::api::ModelMemory;
  return rc::api::guard_memory(
      memory, info, "info", [](const ModelMemory& given) {
        return rc::api::add_handle(std::make_unique<rc_model_info>(
            rc::api::without_data(*given.look())));
      });
}

rc_model_info* rc_model_info_retain(rc_model_info* info) {
  return rc::api::retain_handle(info, "info");
}

void rc_model_info_release(rc_model_info* info) {
  rc::api::release_handle(info, "info");
}

size_t rc_model_info_metadata_count(const rc_model_info* info) {
  size_t count = 0;
  static_cast<void>(guard([&] { count = need(info, "info").keys.size(); }));
  return count;
}

rc_status rc_model_info_metadata(const rc_model_info* info, size_t i,
                                 const char** key, const char** type) {
  return guard([&] {
    const rc_model_info& handle = need(info, "info");
    need_pointer(key, "key");
    need_pointer(type, "type");
    need_index(i, handle.keys.size(), "metadata entries");
    *key = handle.keys[i].c_str();
    *type = handle.types[i].c_str();
  });
}

rc_status rc_model_info_value(const rc_model_info* info, const char* key,
                              size_t max_elements, char** json) {
  return guard([&] {
    const rc::gguf::File& file = *need(info, "info").file;
    need_pointer(key, "key");
    need_pointer(json, "json");
    const rc::gguf::Entry* entry = file.find(key);
    if (entry == nullptr) {
      rc::fail(RC_E_NOT_FOUND, file.name(), ": no metadata key ",
               rc::quote(key));
    }
    *json = rc::api::return_text(rc::api::value_json(*entry, max_elements))
                .release();
  });
}

void rc_tensor_report_init(rc_tensor_report* report, size_t size) {
  rc::api::initialise(report, size, rc_tensor_report RC_TENSOR_REPORT_INIT);
}

size_t rc_model_info_tensor_count(const rc_model_info* info) {
  size_t count = 0;
  static_cast<void>(
      guard([&] { count = need(info, "info").tensor_names.size(); }));
  return count;
}

rc_status rc_model_info_tensor(const rc_model_info* info, size_t i,
                               rc_tensor_report* report) {
  return guard([&] {
    const rc_model_info& handle = need(info, "info");
    need_index(i, handle.tensor_names.size(), "tensors");
    const rc::gguf::Tensor& tensor = handle.file->tensors()[i];
    rc_tensor_report result = RC_TENSOR_REPORT_INIT;
    result.name = handle.tensor_names[i].c_str();
    result.dtype_name = rc::dtype_info(tensor.dtype)->name;
    result.dtype = tensor.dtype;
    result.rank = static_cast<int32_t>(tensor.shape.size());
    for (size_t d = 0; d < tensor.shape.size(); ++d) {
      result.shape[d] = tensor.shape[d];
    }
    result.bytes = tensor.bytes;
    result.offset = tensor.offset;
    rc::api::write_report(report, result, "report");
  });
}

rc_status rc_model_verify(const char* path) {
  return guard([&] { verify_file(open_file(path)); });
}

rc_status rc_model_verify_memory(const rc_model_memory* memory) {
  return guard([&] { verify_file(rc::api::ModelMemory(memory).look()); });
}
