#include "tools/command/completion/completion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

namespace muster::cli {
namespace {

constexpr std::string_view script = R"(# bash completion of muster, made by `muster completion`
_muster() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} words=
  case $COMP_CWORD:${{COMP_WORDS[1]}}:${{COMP_WORDS[COMP_CWORD - 1]}} in
    1:*) words='{}' ;;
{}  esac
  # What is neither an option nor one of a few words is left to bash: a file.
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}}
complete -o bashdefault -o default -F _muster muster
)";

/// Those without a group are for Muster's own use, and in no help.
template <class Part>
bool is_shown(const Part* part) {
  return !part->get_group().empty();
}

/// `-n` and `--ranks`, in the order in which the help has them.
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

/// The words that it takes, where these are few: CLI11 lists them as in `TEXT:{core,none}`.
std::string choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  std::string words = type.substr(begin + 1, end - begin - 1);
  std::ranges::replace(words, ',', ' ');
  return words;
}

/// What may follow in a command: a case for each option that takes one of a few words, and one for
/// all options.
std::string cases_of(const CLI::App& command) {
  std::string cases, options;
  for (const CLI::Option* option : command.get_options(is_shown<CLI::Option>)) {
    const std::string choices = choices_of(*option);
    for (const std::string& name : names_of(*option)) {
      options += " " + name;
      if (choices.empty()) continue;
      cases += fmt::format("    *:{}:{}) words='{}' ;;\n", command.get_name(), name, choices);
    }
  }
  return cases + fmt::format("    *:{}:*) [[ $word != -* ]] || words='{}' ;;\n", command.get_name(),
                             options.erase(0, 1));
}

}  // namespace

std::string bash_completion(const CLI::App& app) {
  std::string first, cases;
  for (const CLI::App* command : app.get_subcommands(is_shown<CLI::App>)) {
    first += command->get_name() + " ";
    cases += cases_of(*command);
  }
  return fmt::format(script, first + "--help --version", cases);
}

void add_completion_command(CLI::App& app) {
  CLI::App* const command =
      app.add_subcommand("completion", "Print a script by which bash completes this command");
  command->footer(
      "An installed Muster has it where bash looks. Otherwise, or in zsh after bashcompinit:\n\n"
      "  source <(muster completion)");
  command->callback([&app] { std::fputs(bash_completion(app).c_str(), stdout); });
}

}  // namespace muster::cli
