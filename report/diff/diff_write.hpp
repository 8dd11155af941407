// The difference of two exams, as text, Markdown, JSON, CSV, and HTML.
#pragma once

#include "analysis/diff/diff.hpp"

#include <string>

namespace eyeroof::report {

std::string diff_text(const analysis::ExamDiff& diff);     // the layers that add or save most first
std::string diff_markdown(const analysis::ExamDiff& diff); // for a pull request
std::string diff_json(const analysis::ExamDiff& diff);     // eyeroof/diff/1
std::string diff_csv(const analysis::ExamDiff& diff);      // a line a layer
std::string diff_html(const analysis::ExamDiff& diff);     // one page

// Shared by the writers.
std::string figure_text(std::size_t figure, double value); // of kDiffFigures, with its unit
std::string limits_text(const analysis::LayerDiff& layer); // "step 6 DRAM -> step 4 array shape"
std::string steps_text(const analysis::LayerDiff& layer);  // the steps whose bounds are others

} // namespace eyeroof::report
