#include "sampling_options.h"

#include <memory>
#include <string>

#include "commands.h"
#include "number.h"

namespace cli {
namespace {

// The library would say the same of a wrong value, but by its own names, and
// when the model is loaded.
template <class Value, class Range>
CLI::Option* add_number(CLI::App& command, const char* names, Value& value,
                        const char* help, Range range, const char* initial) {
  return has_default(limit(command.add_option(names, value, help), range),
                     initial);
}

using Integer = Limits<int32_t>;
using Real = Limits<float>;

void add_choice_options(CLI::App& command, rc_generate_options& options) {
  begin_group(command, "Sampling");
  add_number(command, "--temperature,--temp", options.temperature,
             "0 always takes the most probable token", Real{0}, "0.8");
  limit(command.add_option("--seed", options.seed,
                           "seed of the draws; default: random"),
        Limits<uint64_t>{});
  add_number(command, "--top-k", options.top_k,
             "choose among this many of the most probable tokens; 0: off",
             Integer{0}, "40");
  add_number(command, "--top-p", options.top_p,
             "choose among the most probable tokens that together have this "
             "probability; 1: off",
             Real{0, 1, true}, "0.95");
  add_number(command, "--min-p", options.min_p,
             "leave out tokens less probable than this fraction of the most "
             "probable one; 0: off",
             Real{0, 1}, "0.05");
  add_number(command, "--typical-p", options.typical_p,
             "choose among the tokens of typical surprise that together have "
             "this probability; 1: off",
             Real{0, 1, true}, "1");
  add_number(command, "--top-n-sigma", options.top_n_sigma,
             "leave out logits further below the largest than this many "
             "standard deviations; 0: off",
             Real{0}, "0");
  add_number(command, "--xtc-probability", options.xtc_probability,
             "how often the most probable tokens are left out (XTC); 0: off",
             Real{0, 1}, "0");
  add_number(command, "--xtc-threshold", options.xtc_threshold,
             "the least probability of tokens that XTC leaves out", Real{0, 1},
             "0.1");
}

void add_repetition_options(CLI::App& command, rc_generate_options& options) {
  begin_group(command, "Repetition");
  add_number(command, "--penalty-tokens", options.penalty_tokens,
             "how many of the last tokens the penalties look at; -1: all",
             Integer{-1}, "64");
  add_number(command, "--repetition-penalty", options.repetition_penalty,
             "divides the logits of tokens that came before; 1: off",
             Real{0, Real().most, true}, "1");
  add_number(command, "--presence-penalty", options.presence_penalty,
             "is subtracted once from the logits of tokens that came before; "
             "0: off",
             Real{}, "0");
  add_number(command, "--frequency-penalty", options.frequency_penalty,
             "is subtracted from the logits of tokens for each time that they "
             "came before; 0: off",
             Real{}, "0");
  add_number(command, "--dry-multiplier", options.dry_multiplier,
             "the penalty of a token that goes on with a repetition (DRY); 0: "
             "off",
             Real{0}, "0");
  add_number(command, "--dry-base", options.dry_base,
             "the factor of that penalty for each token repeated", Real{1},
             "1.75");
  add_number(command, "--dry-allowed-length", options.dry_allowed_length,
             "the shortest repetition that DRY looks for, in tokens",
             Integer{1}, "2");
  add_number(command, "--dry-tokens", options.dry_tokens,
             "how many of the last tokens DRY looks at; -1: all", Integer{-1},
             "-1");
  const auto breakers = std::make_shared<std::string>();
  command
      .add_option_function<std::string>(
          "--dry-breakers",
          [breakers, &options](const std::string& given) {
            *breakers = given;
            options.dry_breakers = breakers->c_str();
          },
          "characters that no repetition goes across; default: line breaks "
          "and :\"*")
      ->type_name("TEXT");
}

void add_surprise_options(CLI::App& command, rc_generate_options& options) {
  begin_group(command, "Temperature that adapts");
  add_number(command, "--dynamic-temperature-range,--dynamic-temp-range",
             options.dynamic_temperature_range,
             "how far the temperature follows the entropy; 0: off", Real{0},
             "0");
  add_number(command, "--dynamic-temperature-exponent,--dynamic-temp-exponent",
             options.dynamic_temperature_exponent,
             "the power of the entropy that it follows",
             Real{0, Real().most, true}, "1");
  add_number(command, "--mirostat", options.mirostat,
             "keep the surprise of the text near --mirostat-tau, by version 1 "
             "or 2; 0: off",
             Integer{0, 2}, "0");
  add_number(command, "--mirostat-tau", options.mirostat_tau,
             "the surprise of a token, in bits", Real{0, Real().most, true},
             "5");
  add_number(command, "--mirostat-eta", options.mirostat_eta,
             "how fast mirostat learns", Real{0, 1}, "0.1");
  add_number(command, "--mirostat-m", options.mirostat_m,
             "by how many of the most probable tokens version 1 estimates",
             Integer{2}, "100");
}

}  // namespace

void add_max_tokens(CLI::App& command, rc_generate_options& options) {
  limit(command.add_option("-n,--max-tokens,--tokens", options.max_tokens,
                           "the most tokens to generate; default: -1, until "
                           "the model or the context ends"),
        Limits<int64_t>{-1});
}

void add_sampling_options(CLI::App& command, rc_generate_options& options) {
  add_choice_options(command, options);
  add_repetition_options(command, options);
  add_surprise_options(command, options);
  end_group(command);
}

}  // namespace cli
