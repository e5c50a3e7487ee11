#include <nlohmann/json.hpp>

#include "commands.h"
#include "node_words.h"
#include "number.h"
#include "size_option.h"
#include "terminal.h"
#include "type_choice.h"

namespace cli {

CLI::Option* add_model(CLI::App& command, std::string& path) {
  // By itself or behind -m, as other programs have it.
  return takes_file(command.add_option("-m,--model,MODEL", path, kModelHelp))
      ->required(path.empty());
}

void ModelChoice::add_to(CLI::App& command) {
  CLI::Option* model = add_model(command, path);
  if (!path.empty()) model->capture_default_str();
  named = model;
  add_device_options(command);
  add_memory_options(command);
  end_group(command);
}

void ModelChoice::add_device_options(CLI::App& command) {
  begin_group(command, "Device");
  command
      .add_option("--backend", backend,
                  "a chain of devices, of which the first that can be opened "
                  "is taken: auto, gpu, cpu, vulkan:1, cuda,vulkan,cpu; "
                  "default: the configured one, or auto")
      ->type_name("CHAIN");
  limit<int32_t>(command.add_option(
                     "-t,--threads", threads,
                     "threads of a CPU device; default: the configured number, "
                     "or as many as there are processors"),
                 {1, 1024});
  has_default(one_of(command.add_option(
                         "--numa", numa,
                         "how weights and threads lie on a CPU with several "
                         "nodes of memory; auto: interleave"),
                     {"auto", "off", "interleave", "local"}),
              "auto");
  takes_size(command.add_option(
      "--memory-limit", memory_limit,
      "the most memory of the device to take, such as 900MB; layers that do "
      "not fit go to the next device of the chain"));
  command.add_flag("--strict", strict,
                   "fail if the device does not support an op, instead of "
                   "running the op on the CPU");
}

void ModelChoice::add_memory_options(CLI::App& command) {
  begin_group(command, "Loading");
  limit<int64_t>(
      command.add_option("-c,--context-length,--context", context,
                         "the longest session, in tokens; default: the length "
                         "that the model was trained for, if it fits"),
      {1});
  has_default(one_of(command.add_option("--cache-dtype,--cache-type",
                                        cache_dtype, "type of the KV cache"),
                     {"f16", "f32", "q8_0"}),
              "f16");
  limit<int32_t>(
      command.add_option("--max-rows,--batch-size,--rows", rows,
                         "the most tokens of one step; default: 512"),
      {1, 65536});
  CLI::Option* type = takes_type(command.add_option(
      "--quantize", quantize,
      "quantize the weights to this type while loading, such as Q4_K_M; see "
      "runcible help types"));
  CLI::Option* keep = command.add_flag(
      "--keep-mapped", keep_mapped,
      "compute from the mapped file instead of copying the weights: loads at "
      "once and shares memory with other processes, but is slower");
  keep->excludes(type);
  CLI::Option* experts = command.add_flag(
      "--experts-mapped", experts_mapped,
      "leave the experts of a mixture in the mapped file, and copy only those "
      "that were used last");
  experts->excludes(type);
  CLI::Option* elsewhere = command.add_option(
      "--experts-on", experts_on,
      "where the experts of a mixture lie and are computed: cpu, or another "
      "device of the chain; default: where their layers are");
  limit<int32_t>(
      command.add_option("--experts-on-layers", experts_on_layers,
                         "with --experts-on: of how many layers, the last "
                         "ones; default: all"),
      {1})
      ->needs(elsewhere);
  command.add_flag(
      "--fit", fit,
      "choose other options, unless given, so that the model fits: context, "
      "layers on each device, experts on the CPU, the type of the KV cache");
  limit<int32_t>(
      command.add_option("--resident-experts", resident_experts,
                         "with --experts-mapped: how many experts of each "
                         "layer are copied; default: twice as many as a token "
                         "has"),
      {1})
      ->needs(experts);
  command.add_flag(
      "--guard-mapped", guard_mapped,
      "with --keep-mapped or --experts-mapped: where the file is cut short or "
      "its disk fails, a step ends with an error instead of the process");
}

void ModelChoice::note_default() const {
  if (named->count() > 0) return;
  note("no model was given; using " + path + ", which comes with Runcible");
}

Backend ModelChoice::open_backend(bool profile) const {
  // Options that are not given stay unset, so that configured values hold.
  rc_backend_options options = RC_BACKEND_OPTIONS_INIT;
  if (threads > 0) options.threads = threads;
  for (rc_numa way = RC_NUMA_AUTO; way <= RC_NUMA_LOCAL; ++way) {
    if (numa == numa_name(way)) options.numa = way;
  }
  if (profile) options.profile = 1;
  options.memory_limit = memory_limit;
  if (strict) options.strict = 1;
  const InterruptWatch watch;
  options.progress = [](void*, double) -> int32_t {
    return interrupted() ? 1 : 0;
  };
  return make<Backend>(rc_backend_open, backend.c_str(), &options);
}

rc_model_options ModelChoice::options() const {
  if (guard_mapped && !keep_mapped && !experts_mapped) {
    throw Failure{kUsage,
                  "--guard-mapped guards what is mapped; it needs "
                  "--keep-mapped or --experts-mapped"};
  }
  rc_model_options options = RC_MODEL_OPTIONS_INIT;
  if (context > 0) options.context_length = context;
  if (rows > 0) options.max_rows = rows;
  if (keep_mapped) options.keep_mapped = 1;
  if (guard_mapped) options.guard_mapped = 1;
  if (!quantize.empty()) options.quantize = quantize.c_str();
  if (experts_mapped) options.experts_mapped = 1;
  if (resident_experts > 0) options.resident_experts = resident_experts;
  if (!experts_on.empty()) options.experts_on = experts_on.c_str();
  if (experts_on_layers > 0) options.experts_on_layers = experts_on_layers;
  if (fit) options.fit = 1;
  if (cache_dtype == "f16") options.cache_dtype = RC_DTYPE_F16;
  if (cache_dtype == "f32") options.cache_dtype = RC_DTYPE_F32;
  if (cache_dtype == "q8_0") options.cache_dtype = RC_DTYPE_Q8_0;
  return options;
}

Model ModelChoice::load(const Backend& opened, rc_model_options options) const {
  Model model = load_with_progress(opened, options);
  note_default();
  rc_model_report report = RC_MODEL_REPORT_INIT;
  check(rc_model_describe(model.get(), &report));
  note_context(report.trained_context_length);
  return model;
}

Model ModelChoice::load_with_progress(const Backend& opened,
                                      rc_model_options options) const {
  ProgressBar bar("loading");
  const InterruptWatch watch;
  options.progress = [](void* user, double fraction) -> int32_t {
    static_cast<ProgressBar*>(user)->show(fraction);
    return interrupted() ? 1 : 0;
  };
  options.progress_user = &bar;
  return make<Model>(rc_model_load, opened.get(), path.c_str(), &options);
}

void ModelChoice::note_context(int64_t trained) const {
  if (context <= trained) return;
  note("warning: a context of " + std::to_string(context) +
       " tokens, but the model was trained for " + std::to_string(trained) +
       "; what it says beyond that is likely to be nonsense");
}

int64_t ModelChoice::trained_context() const {
  const Info info = make<Info>(rc_model_info_open, path.c_str());
  const auto value = [&](const std::string& key) {
    char* json = nullptr;
    check(rc_model_info_value(info.get(), key.c_str(), 0, &json));
    return nlohmann::json::parse(Returned<char>(json).get());
  };
  const auto architecture = value("general.architecture").get<std::string>();
  return value(architecture + ".context_length").get<int64_t>();
}

}  // namespace cli
