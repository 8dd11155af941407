// Runs the command line for a test: in this process with captured streams, or as a program.
// Used by tests/cli only.
#pragma once

#include "cli/program.hpp"
#include "cli/tune/tune_program.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace eyeroof::tests {

struct Outcome {
    int exit = -1;
    std::string out;
    std::string err;
};

// The folders that a program built from these sources sees.
inline std::filesystem::path share_dir() {
    return std::filesystem::path(EYEROOF_PROGRAM).parent_path().parent_path() / "share/eyeroof";
}

inline Outcome run(const std::vector<std::string>& arguments, cli::Environment environment = {},
                   const cli::Program& program = cli::eyeroof_program()) {
    std::ostringstream out;
    std::ostringstream err;
    environment.out = &out;
    environment.err = &err;
    if (environment.data_dirs.empty()) {
        environment.data_dirs = {share_dir()};
    }
    environment.start = cli::tune_in_this_process;
    Outcome outcome;
    outcome.exit = cli::run_program(arguments, environment, program);
    outcome.out = out.str();
    outcome.err = err.str();
    return outcome;
}

inline std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

// A folder that is gone when the test is over.
class Scratch {
  public:
    Scratch() {
        std::string name = (std::filesystem::temp_directory_path() / "eyeroof-XXXXXX").string();
        path_ = mkdtemp(name.data());
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }

  private:
    std::filesystem::path path_;
};

// `command` goes through the shell with $eyeroof set to the program.
inline Outcome shell(const std::string& command) {
    const Scratch scratch;
    const std::string errors = (scratch / "err").string();
    const std::string line =
        "eyeroof='" EYEROOF_PROGRAM "'; { " + command + "\n} 2>'" + errors + "'";
    Outcome outcome;
    FILE* pipe = popen(line.c_str(), "r");
    std::array<char, 4096> buffer{};
    while (const std::size_t count = fread(buffer.data(), 1, buffer.size(), pipe)) {
        outcome.out.append(buffer.data(), count);
    }
    const int status = pclose(pipe);
    outcome.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    outcome.err = read_file(errors);
    return outcome;
}

// Columns of the widest line; UTF-8 continuation bytes and colour sequences take none.
inline std::size_t width_of(const std::string& text) {
    std::size_t widest = 0;
    std::size_t column = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte == '\n') {
            column = 0;
        } else if (byte == '\033') {
            i = text.find('m', i);
        } else if ((byte & 0xC0U) != 0x80U) {
            widest = std::max(widest, ++column);
        }
    }
    return widest;
}

} // namespace eyeroof::tests
