#include "sampling_options.h"

#include "number.h"

namespace cli {

void add_sampling_options(CLI::App& command, rc_generate_options& options) {
  // The library would say the same, but by its own names, and when the model
  // is loaded.
  const auto add_number = [&](const char* names, auto& value, const char* help,
                              auto limits) {
    return limit(command.add_option(names, value, help), limits);
  };
  using Integer = Limits<int64_t>;
  using Real = Limits<float>;
  add_number("-n,--tokens", options.max_tokens,
             "the most tokens to generate; default: -1, until the model or the "
             "context ends",
             Integer{-1});
  add_number("--temp", options.temperature,
             "temperature; 0 always takes the most probable token", Real{0})
      ->capture_default_str();
  add_number("--seed", options.seed, "seed of the choice; default: random",
             Limits<uint64_t>{});
  add_number("--top-k", options.top_k,
             "choose among so many tokens, the most probable; 0: off",
             Limits<int32_t>{0})
      ->capture_default_str();
  add_number("--top-p", options.top_p,
             "choose among the most probable that have this share; 1: off",
             Real{0, 1, true})
      ->capture_default_str();
  add_number("--min-p", options.min_p,
             "leave out tokens below this part of the best's probability; 0: "
             "off",
             Real{0, 1})
      ->capture_default_str();
  add_number("--typical-p", options.typical_p,
             "choose among the most typical that have this share; 1: off",
             Real{0, 1, true})
      ->capture_default_str();
  add_number("--top-n-sigma", options.top_n_sigma,
             "leave out logits so many standard deviations below the best; 0: "
             "off",
             Real{0})
      ->capture_default_str();
  add_number("--penalty-tokens", options.penalty_tokens,
             "how many tokens back penalties look; -1: all",
             Limits<int32_t>{-1})
      ->capture_default_str();
  add_number("--repetition-penalty", options.repetition_penalty,
             "divides the logits of tokens that came before; 1: off",
             Real{0, Real().most, true})
      ->capture_default_str();
  add_number("--presence-penalty", options.presence_penalty,
             "is taken from the logits of tokens that came before; 0: off",
             Real{})
      ->capture_default_str();
  add_number("--frequency-penalty", options.frequency_penalty,
             "the same, for each time that they came; 0: off", Real{})
      ->capture_default_str();
}

}  // namespace cli
