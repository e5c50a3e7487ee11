#include "text/grammar/grammar.h"

#include <utility>

#include "text/grammar/json_machine.h"
#include "text/grammar/json_masks.h"
#include "text/grammar/machine_matcher.h"

namespace rc::text::grammar {
namespace {

template <class Machine, class Masks>
class MachineGrammar : public Grammar {
 public:
  MachineGrammar(std::shared_ptr<Machine> machine, Vocabulary vocabulary)
      : machine_(std::move(machine)),
        masks_(std::make_shared<Masks>(machine_, std::move(vocabulary))) {}

  std::unique_ptr<Matcher> match() const override {
    return std::make_unique<MachineMatcher<Machine, Masks>>(machine_, masks_);
  }

 private:
  std::shared_ptr<Machine> machine_;
  std::shared_ptr<Masks> masks_;
};

}  // namespace

std::shared_ptr<const Grammar> Grammar::json_schema(std::string_view schema,
                                                    const JsonOptions& options,
                                                    Vocabulary vocabulary) {
  auto machine = std::make_shared<JsonMachine>(
      std::make_shared<JsonModel>(schema, options));
  return std::make_shared<MachineGrammar<JsonMachine, JsonMasks>>(
      std::move(machine), std::move(vocabulary));
}

}  // namespace rc::text::grammar
