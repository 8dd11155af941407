#include "cli/command.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace eyeroof::cli {

namespace {

const auto kAll = [](const CLI::App*) { return true; };

// The values in "{a,b,c}" of an option's type; empty for a free value.
std::vector<std::string> values_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    std::vector<std::string> values;
    if (type.size() < 2 || type.front() != '{' || type.back() != '}') {
        return values;
    }
    std::string value;
    for (const char c : type.substr(1)) {
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
    if (has("MACHINE")) {
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

// Catalog names come from the program itself, so that own machine folders are completed too.
constexpr const char* kAsk = "eyeroof {} list --format csv 2>/dev/null | tail -n +2 | cut -d, -f1";

std::string bash_values(const CLI::Option& option) {
    switch (kind_of(option)) {
    case Values::words:
        return fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))",
                           fmt::join(values_of(option), " "));
    case Values::machines:
    case Values::networks: {
        const char* catalog = kind_of(option) == Values::machines ? "hw" : "net";
        return fmt::format("COMPREPLY=($(compgen -f -W \"$({})\" -- \"$cur\"))",
                           fmt::format(kAsk, catalog));
    }
    case Values::files:
        return "COMPREPLY=($(compgen -f -- \"$cur\"))";
    case Values::none:
        break;
    }
    return "COMPREPLY=()";
}

std::string bash_place(const Place& place) {
    std::string words;
    std::string positional;
    std::string values;
    for (const Word& word : place.words) {
        words += (words.empty() ? "" : " ") + word.name;
    }
    for (const CLI::Option* option : place.options) {
        if (option->get_positional()) {
            positional = bash_values(*option);
        } else if (takes_value(*option)) {
            values += fmt::format("            {}) {}; return ;;\n", names_of(*option, "|"),
                                  bash_values(*option));
        }
    }
    std::string text = fmt::format("    '{}')\n", place.path);
    if (!values.empty()) {
        text += fmt::format("        case \"$prev\" in\n{}        esac\n", values);
    }
    if (!positional.empty()) {
        text += fmt::format("        if [[ \"$cur\" != -* ]]; then {}; return; fi\n", positional);
    }
    text += fmt::format("        COMPREPLY=($(compgen -W '{}' -- \"$cur\")) ;;\n", words);
    return text;
}

std::string bash_script(const std::vector<Place>& places) {
    std::string paths;
    std::string cases;
    for (const Place& place : places) {
        paths += fmt::format("|{}", place.path);
        cases += bash_place(place);
    }
    return "# bash completion for eyeroof; made by `eyeroof completion bash`\n"
           "_eyeroof() {\n"
           "    local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD-1]}\"\n"
           "    local path=eyeroof word\n"
           "    local paths='" +
           paths +
           "|'\n"
           "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
           "        [[ \"$paths\" == *\"|$path $word|\"* ]] && path+=\" $word\"\n"
           "    done\n"
           "    COMPREPLY=()\n"
           "    case \"$path\" in\n" +
           cases +
           "    esac\n"
           "}\n"
           "complete -o filenames -F _eyeroof eyeroof\n";
}

std::string zsh_script(const std::vector<Place>& places) {
    return "#compdef eyeroof\n"
           "# zsh completion for eyeroof; made by `eyeroof completion zsh`\n"
           "autoload -Uz bashcompinit && bashcompinit\n" +
           bash_script(places);
}

std::string fish_quoted(const std::string& text) {
    std::string out;
    for (const char c : text) {
        out += c == '\'' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    }
    return "'" + out + "'";
}

std::string fish_values(const CLI::Option& option) {
    switch (kind_of(option)) {
    case Values::words:
        return fmt::format(" -x -a '{}'", fmt::join(values_of(option), " "));
    case Values::machines:
        return fmt::format(" -r -a '({})'", fmt::format(kAsk, "hw"));
    case Values::networks:
        return fmt::format(" -r -a '({})'", fmt::format(kAsk, "net"));
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
           "    set -l path eyeroof\n"
           "    for word in (commandline -opc)[2..-1]\n"
           "        contains -- \"$path $word\" $paths; and set path \"$path $word\"\n"
           "    end\n"
           "    test \"$path\" = \"$argv\"\n"
           "end\n" +
           lines;
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
                              "# for good\n"
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
