// A grammar over any machine; see mask_walker.h for what a machine is.
#pragma once

#include <memory>
#include <utility>

#include "text/grammar/grammar.h"
#include "text/grammar/machine_matcher.h"

namespace rc::text::grammar {

template <class Machine, class Masks>
class MachineGrammar : public Grammar {
 public:
  MachineGrammar(std::shared_ptr<Machine> machine, Vocabulary vocabulary,
                 std::shared_ptr<KnownFailures> failures)
      : machine_(std::move(machine)),
        failures_(std::move(failures)),
        vocabulary_(std::move(vocabulary)),
        masks_(std::make_shared<Masks>(machine_, vocabulary_)) {}

  const Vocabulary& vocabulary() const override { return vocabulary_; }

  std::unique_ptr<Matcher> match() const override {
    return std::make_unique<MachineMatcher<Machine, Masks>>(machine_, masks_,
                                                            failures_);
  }

 private:
  std::shared_ptr<Machine> machine_;
  std::shared_ptr<KnownFailures> failures_;
  Vocabulary vocabulary_;
  std::shared_ptr<Masks> masks_;
};

}  // namespace rc::text::grammar
