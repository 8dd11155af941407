// The difference of two exams, layer by layer and step by step: of two machines, two mappings, two
// batches, two versions of the program.
#pragma once

#include "analysis/diff/both_sides.hpp"
#include "analysis/exam/gate.hpp"
#include "analysis/exam/report.hpp"
#include "base/result.hpp"
#include "model/eyexam/chain.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace eyeroof::analysis {

inline constexpr std::array<std::string_view, 5> kDiffFigures = {
    "time_s", "energy_j", "outer_bytes", "macs", "utilization"};

// What is compared of an exam.
struct ExamSide {
    struct Layer {
        std::string name, limiter;
        double count = 1.0;
        std::array<double, kDiffFigures.size()> figures{}; // of one execution
        std::array<double, model::kSteps> bounds{};        // MAC/cycle

        bool operator==(const Layer&) const = default;
    };
    std::string name; // the scenario in words
    std::array<double, kDiffFigures.size()> total{};
    std::vector<Layer> layers;

    bool operator==(const ExamSide&) const = default;
};

ExamSide exam_side(const Report& report);
// Of what `exam --format json` writes. Errors: "bad-exam" with the key that is missing or wrong.
Result<ExamSide> exam_side(std::string_view json, const std::string& file);

struct LayerDiff {
    std::string name;
    BothSides count;
    std::array<BothSides, kDiffFigures.size()> figures; // of one execution
    std::array<BothSides, model::kSteps> bounds;        // MAC/cycle
    std::string limiter_a, limiter_b;                   // "6 DRAM link"

    // What the network takes longer for it, all executions, s.
    double adds_s() const { return count.b * figures[0].b - count.a * figures[0].a; }
    bool operator==(const LayerDiff&) const = default;
};

struct ExamDiff {
    std::string name_a, name_b; // "ResNet-50 on A100"
    std::array<BothSides, kDiffFigures.size()> total;
    std::vector<LayerDiff> layers;           // of both, in the order of b
    std::vector<std::string> only_a, only_b; // names; several of one name count from the first on

    bool operator==(const ExamDiff&) const = default;
};

// Layers belong together by name, several of one name in their order.
ExamDiff diff_exams(const ExamSide& a, const ExamSide& b);

// For --fail-if: of the whole and of each layer KEY_a, KEY_b and KEY_change of every figure
// ("time_change" for time_s).
const GateKeys& diff_gate_keys();
GateFigures diff_gate_figures(const ExamDiff& diff);

} // namespace eyeroof::analysis
