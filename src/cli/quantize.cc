// Making smaller files of models.
#include "commands.h"
#include "number.h"
#include "terminal.h"
#include "type_choice.h"

namespace cli {
namespace {

struct QuantizeChoice {
  std::string from, to, type, importance;
  std::vector<std::string> tensors;
  int32_t threads = 0;
};

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

void write_quantized(const QuantizeChoice& choice) {
  ProgressBar bar("quantizing");
  const InterruptWatch watch;
  std::vector<const char*> tensors;
  for (const std::string& tensor : choice.tensors) {
    tensors.push_back(tensor.c_str());
  }
  rc_quantize_options options = RC_QUANTIZE_OPTIONS_INIT;
  options.type = choice.type.c_str();
  options.importance =
      choice.importance.empty() ? nullptr : choice.importance.c_str();
  options.tensors = tensors.data();
  options.tensor_count = tensors.size();
  options.threads = choice.threads;
  options.progress = [](void* user, double fraction) -> int32_t {
    static_cast<ProgressBar*>(user)->show(fraction);
    return interrupted() ? 1 : 0;
  };
  options.progress_user = &bar;
  check(rc_model_quantize(choice.from.c_str(), choice.to.c_str(), &options));
}

void quantize(const QuantizeChoice& choice) {
  write_quantized(choice);
  const Size before = size_of(choice.from), after = size_of(choice.to);
  const double bits =
      after.elements > 0 ? 8 * static_cast<double>(after.bytes) / after.elements
                         : 0;
  print(choice.to + ": " + bytes_text(before.bytes) + " became " +
        bytes_text(after.bytes) + ", " + fixed_text(bits, 2) +
        " bits per weight\n");
}

}  // namespace

void add_quantize(CLI::App& program) {
  CLI::App* command = program.add_subcommand(
      "quantize", "Writes a model to a GGUF file with quantized weights");
  auto choice = std::make_shared<QuantizeChoice>();
  command->add_option("IN", choice->from, kModelHelp)
      ->type_name("")
      ->required();
  command->add_option("OUT", choice->to, "the file to write")
      ->type_name("")
      ->required();
  takes_type(command->add_option("TYPE", choice->type,
                                 "what matrices become, such as Q4_K_M"))
      ->type_name("")
      ->required();
  takes_file(command->add_option(
      "--importance", choice->importance,
      "how much each column matters, as llama.cpp's imatrix writes it"));
  command
      ->add_option("--tensor", choice->tensors,
                   "REGEX=TYPE: what matrices become in whose name the regular "
                   "expression is found; may be given several times")
      ->type_name("TEXT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  limit<int32_t>(
      command->add_option("--threads", choice->threads,
                          "how many; default: as there are processors"),
      {0, 1024});
  command->callback([choice] { quantize(*choice); });
}

}  // namespace cli
