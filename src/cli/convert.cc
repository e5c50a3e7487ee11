// Model files from folders, and with smaller weights.
#include <nlohmann/json.hpp>

#include <cstdlib>

#include "commands.h"
#include "number.h"
#include "output_file.h"
#include "terminal.h"
#include "type_choice.h"

namespace cli {
namespace {

using Json = nlohmann::ordered_json;

// The words of convert and of quantize.
struct Conversion {
  std::string input, output, type;
  bool force = false;
  bool json = false;
  // Of quantize.
  std::string importance;
  std::vector<std::string> tensors;
  int32_t threads = 0;
};

// Shows the library's warnings, such as of what GGUF cannot say, unless
// messages go elsewhere.
void show_warnings() {
  if (std::getenv("RUNCIBLE_LOG") != nullptr) return;
  rc_log_set(
      [](void*, rc_log_level, const char* message) {
        note("warning: " + in_own_words(message));
      },
      nullptr, RC_LOG_WARNING);
}

int32_t show_progress(void* bar, double fraction) {
  static_cast<ProgressBar*>(bar)->show(fraction);
  return interrupted() ? 1 : 0;
}

struct Size {
  uint64_t bytes = 0;
  double elements = 0;
};

// Of all tensors of a model.
Size size_of(const std::string& path) {
  const Info info = make<Info>(rc_model_info_open, path.c_str());
  Size size;
  for (size_t i = 0; i < rc_model_info_tensor_count(info.get()); ++i) {
    rc_tensor_report tensor = RC_TENSOR_REPORT_INIT;
    check(rc_model_info_tensor(info.get(), i, &tensor));
    double elements = 1;
    for (int32_t d = 0; d < tensor.rank; ++d) {
      elements *= static_cast<double>(tensor.shape[d]);
    }
    size.bytes += tensor.bytes;
    size.elements += elements;
  }
  return size;
}

void print_sizes(const Conversion& wish) {
  const Size before = size_of(wish.input), after = size_of(wish.output);
  const double bits =
      after.elements > 0 ? 8 * static_cast<double>(after.bytes) / after.elements
                         : 0;
  if (wish.json) {
    return print(json_text(Json{{"output", wish.output},
                                {"bytes_before", before.bytes},
                                {"bytes", after.bytes},
                                {"bits_per_weight", bits}}));
  }
  print(wish.output + ": " + bytes_text(before.bytes) + " became " +
        bytes_text(after.bytes) + ", " + fixed_text(bits, 2) +
        " bits per weight\n");
}

void convert(const Conversion& wish) {
  check_output(wish.output, wish.force, Writing::kReplaces, {wish.input});
  show_warnings();
  {
    ProgressBar bar("converting");
    const InterruptWatch watch;
    check(rc_model_convert(wish.input.c_str(), wish.output.c_str(),
                           wish.type.empty() ? nullptr : wish.type.c_str(),
                           show_progress, &bar));
  }
  print_sizes(wish);
}

void quantize(const Conversion& wish) {
  check_output(wish.output, wish.force, Writing::kReplaces,
               {wish.input, wish.importance});
  show_warnings();
  {
    ProgressBar bar("quantizing");
    const InterruptWatch watch;
    std::vector<const char*> tensors;
    for (const std::string& tensor : wish.tensors) {
      tensors.push_back(tensor.c_str());
    }
    rc_quantize_options options = RC_QUANTIZE_OPTIONS_INIT;
    options.type = wish.type.c_str();
    options.importance =
        wish.importance.empty() ? nullptr : wish.importance.c_str();
    options.tensors = tensors.data();
    options.tensor_count = tensors.size();
    options.threads = wish.threads;
    options.progress = show_progress;
    options.progress_user = &bar;
    check(rc_model_quantize(wish.input.c_str(), wish.output.c_str(), &options));
  }
  print_sizes(wish);
}

// INPUT, OUTPUT and TYPE, by themselves or by the names of options.
CLI::Option* add_conversion(CLI::App& command, Conversion& wish,
                            const char* type_help) {
  takes_file(command.add_option("-m,--model,INPUT", wish.input, kModelHelp))
      ->required();
  takes_file(command.add_option("-o,--output,OUTPUT", wish.output,
                                "the GGUF file to write, which appears when "
                                "it is complete"))
      ->required();
  CLI::Option* type =
      takes_type(command.add_option("--type,TYPE", wish.type, type_help));
  add_force(command, wish.force);
  command.add_flag("--json", wish.json, "print JSON");
  return type;
}

}  // namespace

void add_convert(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "convert", "Writes a model, such as a folder, to a GGUF file");
  auto wish = std::make_shared<Conversion>();
  add_conversion(*command, *wish,
                 "the type of matrices of plain floats, such as Q8_0 or "
                 "Q4_K_M; default: the type that they have; see runcible help "
                 "types");
  command->callback([wish] { convert(*wish); });
}

void add_quantize(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "quantize", "Writes a model to a GGUF file with quantized weights");
  auto wish = std::make_shared<Conversion>();
  add_conversion(*command, *wish,
                 "the type of the matrices, such as Q4_K_M; see runcible help "
                 "types")
      ->required();
  takes_file(command->add_option(
      "--importance", wish->importance,
      "a file that says how much each column of the matrices matters, as "
      "runcible importance and llama.cpp's imatrix write it"));
  takes_several(command->add_option(
                    "--tensors,--tensor", wish->tensors,
                    "the type of matrices in whose name the regular expression "
                    "is found; may be given several times"))
      ->type_name("REGEX=TYPE");
  limit<int32_t>(
      command->add_option("-t,--threads", wish->threads,
                          "default: as many as there are processors"),
      {0, 1024});
  command->callback([wish] { quantize(*wish); });
}

}  // namespace cli
