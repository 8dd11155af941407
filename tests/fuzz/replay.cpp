// Stands in for libFuzzer where the compiler has none: runs the target once on each file, and on
// all files of each folder, that it is given, and then on mutations of them.
// Options as libFuzzer's: -max_total_time=S of mutations (0), -dict=FILE, -seed=N, -max_len=N;
// others are passed over. An input that ends the program is first written to
// -artifact_prefix=PATH with "crash" behind it, and taken away when all went well.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

struct Options {
    double seconds = 0.0;
    std::uint64_t seed = 1;
    std::size_t longest = 4096;
    std::string artifact = "./";
    std::vector<std::string> words;
};

std::string text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

void gather(const fs::path& path, std::vector<std::string>& inputs) {
    if (!fs::is_directory(path)) {
        inputs.push_back(text_of(path));
        return;
    }
    std::vector<fs::path> entries(fs::directory_iterator(path), fs::directory_iterator{});
    std::sort(entries.begin(), entries.end()); // the same order everywhere
    for (const fs::path& entry : entries) {
        gather(entry, inputs);
    }
}

// Lines "word" of a dictionary, with the escapes \\ and \".
std::vector<std::string> words_of(const std::string& file) {
    std::ifstream lines(file);
    std::vector<std::string> words;
    for (std::string line; std::getline(lines, line);) {
        if (line.size() < 2 || line.front() != '"' || line.back() != '"') {
            continue;
        }
        std::string word;
        for (std::size_t i = 1; i + 1 < line.size(); ++i) {
            i += line[i] == '\\' && i + 2 < line.size() ? 1 : 0;
            word += line[i];
        }
        words.push_back(word);
    }
    return words;
}

class Mutator {
  public:
    Mutator(const Options& options, const std::vector<std::string>& corpus)
        : options_(options), corpus_(corpus), engine_(options.seed) {}

    std::string next() {
        std::string text = pick(corpus_);
        const std::size_t changes = 1 + upto(6);
        for (std::size_t i = 0; i < changes; ++i) {
            change(text);
        }
        text.resize(std::min(text.size(), std::max(options_.longest, std::size_t{1})));
        return text;
    }

  private:
    std::size_t upto(std::size_t n) { return n == 0 ? 0 : engine_() % n; }
    const std::string& pick(const std::vector<std::string>& list) {
        return list[upto(list.size())];
    }

    void change(std::string& text) {
        const std::size_t at = upto(text.size() + 1);
        const std::size_t length = 1 + upto(1 + upto(32));
        switch (upto(8)) {
        case 0:
            text.insert(at, 1, static_cast<char>(upto(256)));
            break;
        case 1:
            text.erase(at, length);
            break;
        case 2:
            if (at < text.size()) {
                text[at] = static_cast<char>(text[at] ^ (1 << upto(8)));
            }
            break;
        case 3: // a part of another input
            insert_part(text, at, pick(corpus_));
            break;
        case 4: // a part of itself again
            insert_part(text, at, std::string(text));
            break;
        case 5:
            text.resize(at);
            break;
        case 6:
            text.insert(at, std::string(kHard[upto(std::size(kHard))]));
            break;
        default:
            if (!options_.words.empty()) {
                text.replace(at, upto(2) * length, pick(options_.words));
            }
        }
    }

    void insert_part(std::string& text, std::size_t at, const std::string& from) {
        const std::size_t begin = upto(from.size() + 1);
        text.insert(at, from.substr(begin, upto(256)));
    }

    // Texts that readers stumble over.
    static constexpr std::string_view kHard[] = {"-1",
                                                 "0",
                                                 "9223372036854775807",
                                                 "99999999999999999999",
                                                 "1e400",
                                                 "nan",
                                                 "\"",
                                                 "'",
                                                 "{",
                                                 "}",
                                                 "[",
                                                 "]",
                                                 ":",
                                                 ",",
                                                 "\n",
                                                 "\r\n",
                                                 "\t",
                                                 "\\u",
                                                 "\xff",
                                                 "\xef\xbb\xbf",
                                                 "&a",
                                                 "*a",
                                                 "#",
                                                 "1e-400",
                                                 "!!x",
                                                 "0x10",
                                                 "- ",
                                                 "|",
                                                 "%",
                                                 "1/0",
                                                 ";",
                                                 "\0"};

    const Options& options_;
    const std::vector<std::string>& corpus_;
    std::mt19937_64 engine_;
};

void run(const std::string& text) {
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

long mutate(const Options& options, const std::vector<std::string>& corpus) {
    const fs::path kept = options.artifact + "crash";
    Mutator mutator(options, corpus);
    const auto begin = std::chrono::steady_clock::now();
    long runs = 0;
    while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
           options.seconds) {
        const std::string text = mutator.next();
        std::ofstream(kept, std::ios::binary) << text;
        run(text);
        ++runs;
    }
    std::error_code ignored;
    fs::remove(kept, ignored);
    return runs;
}

} // namespace

int main(int argc, char** argv) {
    Options options;
    std::vector<std::string> corpus;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const std::string value = word.substr(std::min(word.size(), word.find('=') + 1));
        if (word.starts_with("-max_total_time=")) {
            options.seconds = std::atof(value.c_str());
        } else if (word.starts_with("-seed=")) {
            options.seed = std::strtoull(value.c_str(), nullptr, 10);
        } else if (word.starts_with("-max_len=")) {
            options.longest = std::strtoull(value.c_str(), nullptr, 10);
        } else if (word.starts_with("-artifact_prefix=")) {
            options.artifact = value;
        } else if (word.starts_with("-dict=")) {
            options.words = words_of(value);
        } else if (!word.starts_with("-")) {
            gather(word, corpus);
        }
    }
    for (const std::string& text : corpus) {
        run(text);
    }
    const long runs = corpus.empty() ? 0 : mutate(options, corpus);
    std::printf("%zu inputs and %ld mutations of them\n", corpus.size(), runs);
    return corpus.empty() ? 1 : 0;
}
