// The runcible command.
#include <cstdio>
#include <exception>
#include <new>

#include "commands.h"
#include "help.h"
#include "large_stack.h"
#include "terminal.h"

namespace {

int run(int argc, char** argv) {
  cli::check(RC_ABI_CHECK());
  CLI::App program("Runs language models.", "runcible");
  program.set_version_flag(
      "--version",
      std::string("runcible ") + rc_version_string() + "\n" + rc_build_info());
  program.require_subcommand(1);
  cli::add_run(program);
  cli::add_chat(program);
  cli::add_devices(program);
  cli::add_inspect(program);
  cli::add_verify(program);
  cli::add_plan(program);
  cli::add_convert(program);
  cli::add_quantize(program);
  cli::add_importance(program);
  cli::add_evaluate(program);
  cli::add_embed(program);
  cli::add_rerank(program);
  cli::add_tokenize(program);
  cli::add_template(program);
  cli::add_bench(program);
  cli::add_explain(program);
  cli::add_config(program);
  cli::add_calibrate(program);
  cli::add_pull(program);
  cli::add_models(program);
  cli::add_completion(program);
  cli::add_help(program);
  cli::check_command(program, argc, argv);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& answer) {  // --help, --version
    return program.exit(answer);
  } catch (const CLI::ParseError& error) {
    throw cli::Failure{cli::kUsage,
                       std::string(error.what()) + " (see runcible --help)"};
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
    cli::complain_of_end(failure.code, failure.message);
    return failure.code;
  } catch (const std::bad_alloc&) {
    std::fputs("runcible: out of memory\n", stderr);
    return cli::kMemory;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "runcible: %s\n", error.what());
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
