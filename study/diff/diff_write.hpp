// The difference of two exams, as text, Markdown, JSON, CSV, and HTML.
#pragma once

#include "study/diff/diff.hpp"

#include <string>

namespace eyeroof::study {

std::string diff_text(const ExamDiff& diff);     // the layers that add or save most first
std::string diff_markdown(const ExamDiff& diff); // for a pull request
std::string diff_json(const ExamDiff& diff);     // eyeroof/diff/1
std::string diff_csv(const ExamDiff& diff);      // a line a layer
std::string diff_html(const ExamDiff& diff);     // one page

// Shared by the writers.
std::string figure_text(std::size_t figure, double value); // of kDiffFigures, with its unit
std::string limits_text(const LayerDiff& layer);           // "step 6 DRAM -> step 4 array shape"
std::string steps_text(const LayerDiff& layer);            // the steps whose bounds are others

} // namespace eyeroof::study
