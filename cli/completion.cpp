#include "cli/command.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::cli {

namespace {

const auto kAll = [](const CLI::App*) { return true; };

// The values in "{a,b,c}" of an option's type, also where a check's own words follow
// ("{a,b}:{a,b}"); empty for a free value.
std::vector<std::string> values_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const auto end = type.find('}');
    std::vector<std::string> values;
    if (!type.starts_with('{') || end == std::string::npos) {
        return values;
    }
    std::string value;
    for (const char c : type.substr(1, end)) {
        if (c == ',' || c == '}') {
            values.push_back(value);
            value.clear();
        } else {
            value += c;
        }
    }
    return values;
}

// The words that complete a value: fixed ones, or the shell code that asks for them or for files.
enum class Values { none, words, machines, networks, files };

Values kind_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    if (!values_of(option).empty()) {
        return Values::words;
    }
    const auto has = [&](const char* word) { return type.find(word) != std::string::npos; };
    if (has("MACHINE") || has("HOST")) {
        return Values::machines;
    }
    if (has("NETWORK")) {
        return Values::networks;
    }
    return has("FILE") || has("DIR") ? Values::files : Values::none;
}

bool takes_value(const CLI::Option& option) {
    return option.get_items_expected_max() > 0;
}

struct Word {
    std::string name; // "--format" or "list"
    std::string description;
};

struct Place {        // one point of the command tree
    std::string path; // "eyeroof hw list"
    std::vector<Word> words;
    std::vector<const CLI::Option*> options;
};

void collect(const CLI::App& app, const std::string& above, const CLI::App& root,
             std::vector<Place>& places) {
    Place place{above.empty() ? app.get_name() : above + " " + app.get_name(), {}, {}};
    for (const CLI::App* sub : app.get_subcommands(kAll)) {
        place.words.push_back({sub->get_name(), sub->get_description()});
    }
    const auto take = [&](const CLI::Option* option) {
        place.options.push_back(option);
        for (const std::string& name : option->get_snames()) {
            place.words.push_back({"-" + name, option->get_description()});
        }
        for (const std::string& name : option->get_lnames()) {
            place.words.push_back({"--" + name, option->get_description()});
        }
    };
    for (const CLI::Option* option : app.get_options()) {
        take(option);
    }
    if (&app != &root) {
        take(root.get_option("--hwdb"));
        take(root.get_option("--color"));
    }
    places.push_back(place);
    for (const CLI::App* sub : app.get_subcommands(kAll)) {
        collect(*sub, place.path, root, places);
    }
}

std::vector<Place> places_of(const CLI::App& root) {
    std::vector<Place> places;
    collect(root, "", root, places);
    return places;
}

std::string names_of(const CLI::Option& option, const char* separator) {
    std::vector<std::string> names;
    for (const std::string& name : option.get_snames()) {
        names.push_back("-" + name);
    }
    for (const std::string& name : option.get_lnames()) {
        names.push_back("--" + name);
    }
    return fmt::format("{}", fmt::join(names, separator));
}

// Catalog names come from the program itself, so that own machine folders are completed too. {0} is
// the shell's word for the command as typed, {1} the catalog.
constexpr const char* kAsk = "{0} {1} list --format csv 2>/dev/null | tail -n +2 | cut -d, -f1";

std::string ask(const char* typed, Values kind) {
    return fmt::format(kAsk, typed, kind == Values::machines ? "hw" : "net");
}

std::string bash_values(const CLI::Option& option) {
    const Values kind = kind_of(option);
    switch (kind) {
    case Values::words:
        return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))",
                           fmt::join(values_of(option), " "));
    case Values::machines:
    case Values::networks:
        return fmt::format("COMPREPLY=($(compgen -f -W \"$({})\" -- \"$cur\"))",
                           ask("\"${COMP_WORDS[0]}\"", kind));
    case Values::files:
        return "COMPREPLY=($(compgen -f -- \"$cur\"))";
    case Values::none:
        break;
    }
    return "COMPREPLY=()";
}

// Bash and zsh share the shape of a script: a case of places, in it a case of options with values,
// then positional values, then the words themselves.
struct ShellWords {
    std::string (*values)(const CLI::Option& option); // code that offers an option's values
    std::string (*words)(const Place& place);         // code that offers a place's words
};

std::string place_case(const Place& place, const ShellWords& shell) {
    std::string positional;
    std::string values;
    for (const CLI::Option* option : place.options) {
        if (option->get_positional()) { // of several the first, as in exam NETWORK
            positional = positional.empty() ? shell.values(*option) : positional;
        } else if (takes_value(*option)) {
            values += fmt::format("            {}) {}; return ;;\n", names_of(*option, "|"),
                                  shell.values(*option));
        }
    }
    std::string text = fmt::format("    '{}')\n", place.path);
    if (!values.empty()) {
        text += fmt::format("        case \"$prev\" in\n{}        esac\n", values);
    }
    if (!positional.empty()) {
        text += fmt::format("        if [[ \"$cur\" != -* ]]; then {}; return; fi\n", positional);
    }
    return text + "        " + shell.words(place) + " ;;\n";
}

std::string place_cases(const std::vector<Place>& places, const ShellWords& shell) {
    std::string cases;
    for (const Place& place : places) {
        cases += place_case(place, shell);
    }
    return cases;
}

// "|eyeroof|eyeroof hw|eyeroof hw list|"
std::string all_paths(const std::vector<Place>& places) {
    std::string paths = "|";
    for (const Place& place : places) {
        paths += place.path + "|";
    }
    return paths;
}

std::string bash_words(const Place& place) {
    std::string words;
    for (const Word& word : place.words) {
        words += (words.empty() ? "" : " ") + word.name;
    }
    return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", words);
}

// Bash takes the = of --format=json as a word of its own.
std::string bash_script(const std::vector<Place>& places) {
    return "# bash completion for eyeroof; made by `eyeroof completion bash`\n"
           "_eyeroof() {\n"
           "    local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
           "    if [[ \"$cur\" == = ]]; then\n"
           "        cur=\n"
           "    elif [[ \"$prev\" == = ]]; then\n"
           "        prev=\"${COMP_WORDS[COMP_CWORD-2]}\"\n"
           "    fi\n"
           "    local at=eyeroof word\n"
           "    local paths='" +
           all_paths(places) +
           "'\n"
           "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
           "        [[ \"$paths\" == *\"|$at $word|\"* ]] && at+=\" $word\"\n"
           "    done\n"
           "    COMPREPLY=()\n"
           "    case \"$at\" in\n" +
           place_cases(places, {bash_values, bash_words}) +
           "    esac\n"
           "}\n"
           "complete -o filenames -F _eyeroof eyeroof\n";
}

// In single quotes, for bash's relatives.
std::string shell_quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return out + "'";
}

std::string zsh_values(const CLI::Option& option) {
    const Values kind = kind_of(option);
    switch (kind) {
    case Values::words:
        return fmt::format("compadd -- {}", fmt::join(values_of(option), " "));
    case Values::machines:
    case Values::networks:
        return fmt::format("compadd -- ${{(f)\"$({})\"}}; _files", ask("$words[1]", kind));
    case Values::files:
        return "_files";
    case Values::none:
        break;
    }
    return "_message value";
}

// _describe splits a word from its description at the first colon. Options are offered once a - is
// typed.
std::string zsh_words(const Place& place) {
    std::string commands;
    std::string options;
    for (const Word& word : place.words) {
        (word.name.starts_with('-') ? options : commands) +=
            " " + shell_quoted(word.name + ":" + word.description);
    }
    return fmt::format("commands=({} ); options=({} )\n"
                       "        _describe command commands; _describe -o option options",
                       commands, options);
}

std::string zsh_script(const std::vector<Place>& places) {
    return "#compdef eyeroof\n"
           "# zsh completion for eyeroof; made by `eyeroof completion zsh`\n"
           "_eyeroof() {\n"
           "    local cur=\"$PREFIX\" prev=\"$words[CURRENT-1]\" at=eyeroof word\n"
           "    local -a commands options\n"
           "    if [[ \"$cur\" == --*=* ]]; then\n"
           "        prev=\"${cur%%=*}\"\n"
           "        compset -P '*='\n"
           "        cur=\"$PREFIX\"\n"
           "    fi\n"
           "    local paths='" +
           all_paths(places) +
           "'\n"
           "    for word in \"${(@)words[2,CURRENT-1]}\"; do\n"
           "        [[ \"$paths\" == *\"|$at $word|\"* ]] && at+=\" $word\"\n"
           "    done\n"
           "    case \"$at\" in\n" +
           place_cases(places, {zsh_values, zsh_words}) +
           "    esac\n"
           "}\n"
           "if [[ \"$funcstack[1]\" == _eyeroof ]]; then\n" // loaded from a folder of $fpath
           "    _eyeroof \"$@\"\n"
           "else\n"
           "    compdef _eyeroof eyeroof\n"
           "fi\n";
}

std::string fish_quoted(const std::string& text) {
    std::string out;
    for (const char c : text) {
        out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
    return "'" + out + "'";
}

std::string fish_values(const CLI::Option& option) {
    const Values kind = kind_of(option);
    switch (kind) {
    case Values::words:
        return fmt::format(" -x -a '{}'", fmt::join(values_of(option), " "));
    case Values::machines:
    case Values::networks:
        return fmt::format(" -r -F -a '(__eyeroof_list {})'",
                           kind == Values::machines ? "hw" : "net");
    case Values::files:
        return " -r -F";
    case Values::none:
        break;
    }
    return takes_value(option) ? " -x" : "";
}

// True when exactly the words of `path` have been typed as commands.
std::string fish_condition(const std::string& path) {
    return fmt::format("'__eyeroof_at {}'", path);
}

std::string fish_script(const std::vector<Place>& places) {
    std::string paths;
    std::string lines;
    for (const Place& place : places) {
        paths += " " + fish_quoted(place.path);
        const std::string at = fish_condition(place.path);
        for (const CLI::Option* option : place.options) {
            std::string names;
            for (const std::string& name : option->get_snames()) {
                names += " -s " + name;
            }
            for (const std::string& name : option->get_lnames()) {
                names += " -l " + name;
            }
            lines += fmt::format("complete -c eyeroof -n {}{}{} -d {}\n", at, names,
                                 fish_values(*option), fish_quoted(option->get_description()));
        }
        for (const Word& word : place.words) {
            if (!word.name.starts_with('-')) {
                lines += fmt::format("complete -c eyeroof -n {} -f -a {} -d {}\n", at, word.name,
                                     fish_quoted(word.description));
            }
        }
    }
    return "# fish completion for eyeroof; made by `eyeroof completion fish`\n"
           "function __eyeroof_at\n"
           "    set -l paths" +
           paths +
           "\n"
           "    set -l at eyeroof\n"
           "    for word in (commandline -opc)[2..-1]\n"
           "        contains -- \"$at $word\" $paths; and set at \"$at $word\"\n"
           "    end\n"
           "    test \"$at\" = \"$argv\"\n"
           "end\n"
           "function __eyeroof_list\n"
           "    set -l typed (commandline -opc)[1]\n" +
           fmt::format("    {}\n", fmt::format(kAsk, "$typed", "$argv")) + "end\n" + lines;
}

} // namespace

std::string completion_script(const CLI::App& root, const std::string& shell) {
    const auto places = places_of(root);
    if (shell == "bash") {
        return bash_script(places);
    }
    return shell == "zsh" ? zsh_script(places) : fish_script(places);
}

namespace {

struct CompletionOptions {
    std::string shell;
    std::string file;
};

} // namespace

void add_completion(Frame& frame) {
    auto options = std::make_shared<CompletionOptions>();
    CLI::App& app = frame.add("completion", "Print the completion script for a shell",
                              "# for this session\n"
                              "source <(eyeroof completion bash)\n"
                              "# permanently\n"
                              "eyeroof completion fish -o ~/.config/fish/completions/eyeroof.fish");
    add_choice(app, "SHELL", options->shell, {"bash", "zsh", "fish"},
               "The shell: bash, zsh or fish")
        ->required();
    add_output_file(app, options->file);
    frame.run(app, [&frame, options](Context& context) {
        return context.write(completion_script(frame.root(), options->shell), options->file);
    });
}

} // namespace eyeroof::cli
