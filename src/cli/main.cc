// The runcible command.
#include <cstdio>
#include <exception>
#include <initializer_list>
#include <new>

#include "command_line.h"
#include "commands.h"
#include "help.h"
#include "large_stack.h"
#include "terminal.h"

namespace {

using Add = void (*)(CLI::App&);

// Adds commands, which --help lists under a title.
void add_group(CLI::App& program, const char* title,
               std::initializer_list<Add> commands) {
  for (const Add add : commands) {
    add(program);
    program.get_subcommands([](CLI::App*) { return true; })
        .back()
        ->group(title);
  }
}

void add_commands(CLI::App& program) {
  add_group(program, "Text", {cli::add_run, cli::add_chat});
  add_group(program, "Devices",
            {cli::add_devices, cli::add_explain, cli::add_calibrate});
  add_group(program, "Models",
            {cli::add_pull, cli::add_models, cli::add_inspect, cli::add_verify,
             cli::add_plan, cli::add_convert, cli::add_quantize,
             cli::add_importance});
  add_group(program, "Measurements", {cli::add_evaluate, cli::add_bench});
  add_group(program, "Embeddings and scores",
            {cli::add_embed, cli::add_rerank});
  add_group(program, "Tokens and prompts",
            {cli::add_tokenize, cli::add_template});
  add_group(program, "This command",
            {cli::add_config, cli::add_completion, cli::add_help});
}

int run(int argc, char** argv) {
  cli::check(RC_ABI_CHECK());
  CLI::App program("Runs language models.", "runcible");
  program.set_help_flag("-h,--help", "explain the command");
  program.set_version_flag(
      "--version",
      std::string("runcible ") + rc_version_string() + "\n" + rc_build_info());
  program.require_subcommand(1);
  add_commands(program);
  if (const auto help = cli::check_command_line(program, argc, argv)) {
    cli::print(*help);
    return cli::kSuccess;
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& answer) {  // --version
    return program.exit(answer);
  } catch (const CLI::ValidationError& error) {
    throw cli::Failure{
        cli::kUsage,
        std::string(error.what()) + " (see runcible " + argv[1] + " --help)"};
  } catch (const CLI::ParseError&) {
    throw cli::Failure{cli::kUsage, std::string("the options of runcible ") +
                                        argv[1] +
                                        " cannot be read; see runcible " +
                                        argv[1] + " --help"};
  }
  if (!cli::interrupted()) return cli::kSuccess;
  throw cli::Failure{cli::kInterrupted, ""};
}

// Returns what `function` returns, or the exit code of what it throws.
template <class Function>
int exit_code_of(const Function& function) noexcept {
  try {
    return function();
  } catch (const cli::Failure& failure) {
    return cli::complain_of_end(failure.code, failure.message);
  } catch (const std::bad_alloc&) {
    std::fputs("runcible: out of memory\n", stderr);
    return cli::kMemory;
  } catch (const std::exception&) {
    // Texts of other libraries' exceptions are of no use to a user.
    std::fputs(
        "runcible: an unexpected error; this is a defect of the command, "
        "please report it with the words that it was given\n",
        stderr);
    return cli::kInternal;
  }
}

int run_guarded(int argc, char** argv) noexcept {
  return exit_code_of([&] { return run(argc, argv); });
}

}  // namespace

int main(int argc, char** argv) {
  cli::catch_signals();
  return exit_code_of(
      [&] { return cli::run_on_large_stack(run_guarded, argc, argv); });
}
