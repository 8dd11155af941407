// The answer to an exam: the totals, what binds, and the largest saving in sentences, the layers
// with their seven steps, and what was asked beside them.
#pragma once

#include "analysis/advice/what_helps.hpp"
#include "analysis/exam/report.hpp"
#include "analysis/measured/ranks.hpp"
#include "analysis/measured/traced.hpp"
#include "analysis/trials/measured_best.hpp"
#include "formats/layer_csv.hpp"
#include "report/answer/write.hpp"

namespace eyeroof::report {

// Parts beside the report; null: was not asked. All must outlive the answer.
struct ExamParts {
    const formats::LayerTable* input = nullptr; // that the layers were read from: CSV repeats it
    const analysis::WhatHelps* advice = nullptr;
    const std::vector<analysis::tune::MeasuredBest>* tuned = nullptr;
    const analysis::Traced* traced = nullptr; // of a trace on the GPU that it was taken on
    const analysis::Ranks* ranks = nullptr;   // of several traces
    bool every = false;                       // also what nothing fills: for the schema
};

// The report must outlive the answer.
Answer exam_answer(const analysis::Report& report, const ExamParts& parts = {});

// Tables of what was asked beside the report: advice and trials.
std::vector<AnswerTable> trace_tables(const ExamParts& parts); // of --ranks and of a trace
std::vector<AnswerTable> asked_tables(const ExamParts& parts);

// True where advice was asked for on a GPU and there is none on shapes.
inline constexpr const char* kNoAdvice = "advice: no change of shape wins 2 %";
bool has_no_advice(const ExamParts& parts);

// The page with the timeline of a trace, and with its ranks.
std::string exam_page(const Answer& answer, const ExamParts& parts);

} // namespace eyeroof::report
