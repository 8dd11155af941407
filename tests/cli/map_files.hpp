// A small network, machine and problem in files of their own, for tests of `eyeroof map`.
#pragma once

#include "tests/cli/program.hpp"

#include <string>

namespace eyeroof::tests {

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Two equal layers and another one, small enough to be proved at once.
inline constexpr const char* kLayers = "name,op,n,c,h,w,k,r,s,pad\n"
                                       "first,conv2d,1,16,14,14,32,3,3,1\n"
                                       "second,conv2d,1,32,14,14,32,3,3,1\n"
                                       "third,conv2d,1,16,14,14,32,3,3,1\n";

// DRAM, a buffer of 1 KiB, 4 x 2 units with a register file of 16 words.
inline constexpr const char* kArch = R"(arch:
  arithmetic: {name: MACs, instances: 8, meshX: 4, word_bits: 16, energy: 1}
  storage:
  - {name: Spad, entries: 16, instances: 8, meshX: 4, word_bits: 16, vector_access_energy: 1.0}
  - {name: GLB, entries: 512, instances: 1, word_bits: 16, read_bandwidth: 8, write_bandwidth: 8,
     vector_access_energy: 6.0}
  - {name: DRAM, technology: DRAM, instances: 1, word_bits: 16, read_bandwidth: 2,
     write_bandwidth: 2, vector_access_energy: 200.0}
)";
inline constexpr const char* kProblem =
    "problem: {shape: cnn-layer, R: 3, S: 1, P: 12, Q: 1, C: 4, K: 8, N: 1}\n";

struct MapFiles {
    Scratch scratch;
    std::string layers = (scratch / "net.csv").string();
    std::string arch = (scratch / "arch.yaml").string();
    std::string problem = (scratch / "prob.yaml").string();
    std::string rules = (scratch / "cstr.yaml").string();

    MapFiles() {
        write_text(layers, kLayers);
        write_text(arch, kArch);
        write_text(problem, kProblem);
    }
    // `map` on Timeloop's files with these constraints.
    Outcome constrained(const std::string& text) const {
        write_text(rules, "mapspace_constraints:\n  targets:\n" + text);
        return run({"map", problem, "--on", arch, "--constraints", rules});
    }
};

} // namespace eyeroof::tests
