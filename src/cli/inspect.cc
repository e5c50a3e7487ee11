#include <nlohmann/json.hpp>

#include <algorithm>

#include "commands.h"
#include "terminal.h"

namespace cli {
namespace {

using Json = nlohmann::ordered_json;

// Elements of an array that are shown to a reader; the rest is "...".
constexpr size_t kShownElements = 5;

std::string value(const Info& info, const char* key, size_t max_elements) {
  char* json = nullptr;
  check(rc_model_info_value(info.get(), key, max_elements, &json));
  return Returned<char>(json).get();
}

std::string shape_text(const rc_tensor_report& tensor) {
  std::string text = "[";
  for (int32_t d = 0; d < tensor.rank; ++d) {
    text += (d > 0 ? ", " : "") + std::to_string(tensor.shape[d]);
  }
  return text + "]";
}

std::string pad(std::string text, size_t width) {
  text.resize(std::max(width, text.size()), ' ');
  return text + "  ";
}

void print_text(const Info& info) {
  const size_t entries = rc_model_info_metadata_count(info.get());
  const size_t tensors = rc_model_info_tensor_count(info.get());
  print(std::to_string(entries) + " metadata entries\n");
  for (size_t i = 0; i < entries; ++i) {
    const char *key = nullptr, *type = nullptr;
    check(rc_model_info_metadata(info.get(), i, &key, &type));
    const bool array = std::string(type).rfind("array", 0) == 0;
    // One element more shows whether there are more.
    std::string shown = value(info, key, array ? kShownElements + 1 : 0);
    if (array) {
      Json elements = Json::parse(shown);
      if (elements.size() > kShownElements) {
        elements.erase(kShownElements);
        shown = elements.dump();
        shown.replace(shown.size() - 1, 1, ",...]");
      }
    }
    print("  " + pad(key, 40) + pad(type, 15) + shown + "\n");
  }
  print(std::to_string(tensors) + " tensors\n");
  for (size_t i = 0; i < tensors; ++i) {
    rc_tensor_report tensor = RC_TENSOR_REPORT_INIT;
    check(rc_model_info_tensor(info.get(), i, &tensor));
    print("  " + pad(tensor.name, 40) + pad(tensor.dtype_name, 7) +
          pad(shape_text(tensor), 20) + bytes_text(tensor.bytes) + "\n");
  }
}

void print_json(const Info& info) {
  Json metadata = Json::object(), list = Json::array();
  for (size_t i = 0; i < rc_model_info_metadata_count(info.get()); ++i) {
    const char *key = nullptr, *type = nullptr;
    check(rc_model_info_metadata(info.get(), i, &key, &type));
    metadata[key] = {{"type", type},
                     {"value", Json::parse(value(info, key, 0))}};
  }
  for (size_t i = 0; i < rc_model_info_tensor_count(info.get()); ++i) {
    rc_tensor_report tensor = RC_TENSOR_REPORT_INIT;
    check(rc_model_info_tensor(info.get(), i, &tensor));
    list.push_back(
        {{"name", tensor.name},
         {"type", tensor.dtype_name},
         {"shape", std::vector(tensor.shape, tensor.shape + tensor.rank)},
         {"bytes", tensor.bytes},
         {"offset", tensor.offset}});
  }
  print(json_text(Json{{"metadata", metadata}, {"tensors", list}}));
}

}  // namespace

void add_inspect(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "inspect", "Shows the metadata and tensors of a model file");
  auto path = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  add_model(*command, *path);
  command->add_flag("--json", *json, "print JSON, with whole arrays");
  command->callback([path, json] {
    const Info info = make<Info>(rc_model_info_open, path->c_str());
    if (*json) {
      print_json(info);
    } else {
      print_text(info);
    }
  });
}

}  // namespace cli
