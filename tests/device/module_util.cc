#include "device/module_util.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "model/model_util.h"
#include "runtime/closing.h"
#include "runtime/plugin_list.h"
#include "runtime/registry.h"
#include "test_data.h"

namespace rc::test {

std::string why_no_device(const std::string& backend) {
  for (const auto& found : runtime::discover().backends) {
    if (found.name == backend) return found.reason;
  }
  return "there is no module";
}

const rc_plugin* fresh_table(const char* module,
                             const TemporaryFolder& folder) {
  const auto copy = folder.path() / "copy.so";
  std::filesystem::copy_file(module, copy);
  void* loaded = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) return nullptr;
  auto* entry = reinterpret_cast<const rc_plugin* (*)()>(
      dlsym(loaded, "rc_plugin_entry"));
  return entry == nullptr ? nullptr : entry();
}

void wait_until_closed(const char* backend) {
  const auto* entry = runtime::PluginList::instance().find(backend);
  if (entry != nullptr) runtime::finish_closing(entry->table);
}

void expect_refused(const char* backend, const char* variable,
                    std::initializer_list<const char*> values) {
  for (const char* value : values) {
    const TemporaryVariable given(variable, value);
    try {
      open_device(backend);
      ADD_FAILURE() << value;
    } catch (const Error& error) {
      EXPECT_NE(error.message().find(variable), std::string::npos)
          << error.message();
    }
  }
}

void expect_times_of_ops(const std::string& backend) {
  runtime::Selection selection;
  selection.spec = backend;
  selection.device.profile = true;
  const auto device = runtime::select(selection).device;
  const auto file =
      model::ModelFile::open(source_path("examples/model/fable.gguf"));
  const auto resident = model::ResidentModel::load(
      file, model::place(*file, options_of({}), device), options_of({}), {});
  evaluate(*resident, {1, 2, 3});
  char message[RC_PLUGIN_MESSAGE_BYTES] = "";
  const auto time_of = [&](size_t i, rc_plugin_op_time* time) {
    return device->plugin().op_time(device->handle(), i, time, message);
  };
  std::vector<rc_plugin_op_time> times;
  rc_plugin_op_time time = {sizeof time, 0, 0, 0};
  rc_status status = RC_OK;
  while ((status = time_of(times.size(), &time)) == RC_OK) {
    times.push_back(time);
  }
  EXPECT_EQ(status, RC_E_NOT_FOUND) << message;
  const size_t count = times.size();
  ASSERT_GT(count, 10u);
  for (size_t i = 0; i < count; ++i) {
    EXPECT_EQ(times[i].op, static_cast<int64_t>(i));
    EXPECT_LE(times[i].begin_ns, times[i].end_ns);
    if (i > 0) {
      EXPECT_LE(times[i - 1].begin_ns, times[i].begin_ns);
    }
  }
  EXPECT_LT(times[0].begin_ns, times[count - 1].end_ns);
  // An older host's struct is filled as far as it goes.
  time = {offsetof(rc_plugin_op_time, begin_ns), 0, -7, -7};
  ASSERT_EQ(time_of(1, &time), RC_OK) << message;
  EXPECT_EQ(time.op, 1);
  EXPECT_EQ(time.begin_ns, -7);
}

}  // namespace rc::test
