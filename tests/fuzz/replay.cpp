// Stands in for libFuzzer where the compiler has none: runs the target once on each file, and on
// all files of each folder, that it is given; options (-…) are passed over.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

int replay(const std::filesystem::path& path) {
    if (std::filesystem::is_directory(path)) {
        int runs = 0;
        for (const auto& entry : std::filesystem::directory_iterator(path)) {
            runs += replay(entry.path());
        }
        return runs;
    }
    std::ifstream file(path, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    return 1;
}

} // namespace

int main(int argc, char** argv) {
    int runs = 0;
    for (int i = 1; i < argc; ++i) {
        if (argv[i][0] != '-') {
            runs += replay(argv[i]);
        }
    }
    std::printf("%d inputs replayed\n", runs);
    return runs > 0 ? 0 : 1;
}
