#include "report/exam/exam_answer.hpp"

#include "analysis/exam/report_figures.hpp"
#include "analysis/exam/report_warnings.hpp"
#include "analysis/scenario/fields.hpp"
#include "analysis/what_if/headline.hpp"
#include "base/markup.hpp"
#include "report/draw/waterfall_scene.hpp"
#include "report/exam/advice.hpp"
#include "report/exam/answer.hpp"
#include "report/exam/chip_words.hpp"
#include "report/exam/layer_columns.hpp"
#include "report/exam/layer_pages.hpp"
#include "report/exam/measured_columns.hpp"
#include "report/exam/memory_fit.hpp"
#include "report/exam/traced_answer.hpp"
#include "report/exam/words.hpp"
#include "report/measured/measured_text.hpp"
#include "report/measured/traced_page.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace eyeroof::report {

namespace {

using analysis::Report;

std::optional<double> above_zero(double value) {
    return value > 0.0 ? std::optional(value) : std::nullopt;
}

std::vector<Figure> figures_of(const Report& report) {
    const analysis::MachineSummary& m = report.machine;
    std::vector<Figure> figures = {
        {"machine.id", "", m.id},
        {"machine.name", "", m.name},
        {"machine.kind", "", m.kind, Unit::none, kPrograms, "accelerator, gpu, or host"},
        {"machine.units", "", m.units, Unit::none, kPrograms, "MAC per cycle at most"},
        {"machine.clock_hz", "", m.clock_hz},
        {"machine.peak_macs_per_s", "", m.peak_macs_per_s},
        {"machine.outer_bytes_per_s", "", m.outer_bytes_per_s, Unit::none, kPrograms,
         "of the outermost memory; null when it is unlimited"},
        {"machine.dataflow", "", m.dataflow},
        {"machine.energy_basis", "", std::string(analysis::energy_basis(report))},
        {"machine.weak_sources", "", m.weak_sources, Unit::none, kPrograms,
         "fields of the machine that are unsourced"},
        {"network.id", "", report.network_id},
        {"network.name", "", report.network_name},
        {"batch", "", report.batch, Unit::none, kPrograms, "samples of the step"},
        {"host", "", report.host, Unit::none, kPrograms,
         "that launches the kernels; empty: round values, or none"},
        {"uncosted_share", "", report.uncosted_share, Unit::none, kPrograms,
         "of the network's operators, those that have no cost"}};
    const auto& memory = report.memory;
    figures.push_back({"parameters", "", memory ? std::optional(memory->parameters) : std::nullopt,
                       Unit::none, kPrograms,
                       "learned values of whole networks, shared ones once"});
    figures.back().head.absent = true;
    figures.push_back({"gradient_bytes", "",
                       memory ? std::optional(memory->gradients) : std::nullopt, Unit::none,
                       kPrograms, "of the weights' gradients, in training"});
    figures.back().head.absent = true;
    return figures;
}

AnswerTable total_table(const Report& report) {
    using T = analysis::Total;
    const auto host = [](const T& t) {
        return t.device_s > 0.0 ? std::optional(t.host_s) : std::nullopt;
    };
    const auto device = [](const T& t) { return above_zero(t.device_s); };
    const auto leakage = [](const T& t) { return above_zero(t.leakage_j); };
    return make_table<T>(
        "total", "", {report.total},
        absent_if_unknown<T>({{"macs", &T::macs},
                              {"flops", &T::flops},
                              {"time_s", &T::time_s},
                              {"processing_time_s", &T::processing_time_s},
                              {"low_s", &T::low_s},
                              {"high_s", &T::high_s},
                              {"host_s", host, kJson, "CPU launch overhead of all operators"},
                              {"device_s", device, kJson, "of all kernels"},
                              {"utilization", &T::utilization},
                              {"averaged_pes", &T::averaged_units},
                              {"energy_j", &T::energy_j},
                              {"leakage_j", leakage, kJson, "of energy_j; where the machine leaks"},
                              {"outer_bytes", &T::outer_bytes}}),
        Form::object);
}

AnswerTable headline_table(const Report& report) {
    using H = analysis::Headline;
    const bool there = report.headline && !report.headline->resource.empty();
    return make_table<H>("headline", "", there ? one_or_none(report.headline) : std::vector<H>(),
                         {{"bound_by", analysis::bound_by_name, kJson,
                           "the resource of which twice as much gains most, examined again; two "
                           "of them, or \"no single resource\", where none alone gains 5 %; "
                           "\"power cap\" where its end gains more"},
                          {"doubled_by", &H::option, kJson,
                           "the option that doubles it, or that the command is without"},
                          {"time_s", &H::time_s, kJson, "of the step with it"},
                          {"saved_s", &H::saved_s, kJson}},
                         Form::object);
}

AnswerTable worst_table(const Report& report) {
    using analysis::Loss;
    const auto name = [&report](const Loss& loss) { return report.layers[loss.layer].layer.name; };
    return make_table<Loss>("worst", "", report.worst,
                            {{"layer", name, kJson},
                             {"layer_index", &Loss::layer, kJson},
                             {"step", &Loss::step, kJson},
                             {"lost_s", &Loss::lost_s, kJson,
                              "of the network, if this step were ideal for this layer"}});
}

std::vector<std::string> notes_of(const Report& report) {
    std::vector<std::string> notes = {fmt::format("{}", fmt::join(further_parts(report), " · ")),
                                      fmt::format("{}", fmt::join(machine_parts(report), " · "))};
    for (const std::string& line : library_lines(report)) {
        notes.push_back(line);
    }
    notes.push_back(report.chip ? chip_text(*report.chip) : std::string());
    if (report.measured) {
        const std::vector<std::string> lines = measurement_lines(*report.measured);
        notes.insert(notes.end(), lines.begin(), lines.end());
    }
    notes.push_back(weak_sources_text(report));
    std::erase(notes, std::string());
    return notes;
}

void add_tables(std::vector<AnswerTable>& to, std::vector<AnswerTable> more) {
    std::ranges::move(more, std::back_inserter(to));
}

std::vector<AnswerTable> tables_of(const Report& report, const ExamParts& parts) {
    std::vector<AnswerTable> tables = {
        layers_table(report, parts.input, parts.every),
        total_table(report),
        worst_table(report),
        headline_table(report),
        make_table("memory", "", one_or_none(report.fit), memory_fit_columns(), Form::object),
        make_table("chip", "", one_or_none(report.chip), chip_columns(), Form::object),
        savings_table(report),
        layers_for_pages(report),
        measured_table(report)};
    if (report.measured) {
        tables.push_back(measured_for_pages(report));
    }
    if (!report.ceilings.empty() || parts.every) {
        tables.push_back(ceilings_of(report));
    }
    tables.push_back(trace_table(parts.traced));
    tables.push_back(ranks_table(parts.ranks));
    add_tables(tables, trace_tables(parts));
    add_tables(tables, asked_tables(parts));
    return tables;
}

} // namespace

std::vector<AnswerTable> trace_tables(const ExamParts& parts) {
    std::vector<AnswerTable> tables;
    if (parts.traced != nullptr) {
        tables = traced_tables(*parts.traced);
    }
    if (parts.ranks != nullptr) {
        add_tables(tables, ranks_tables(*parts.ranks));
    }
    return tables;
}

std::vector<AnswerTable> asked_tables(const ExamParts& parts) {
    std::vector<AnswerTable> tables;
    if (parts.advice != nullptr) {
        tables = advice_tables(*parts.advice);
    }
    if (parts.every) {
        tables = advice_tables({});
        add_tables(tables, {what_would_help_table({})});
    }
    if (parts.tuned != nullptr || parts.every) {
        tables.push_back(tuned_table(
            parts.tuned == nullptr ? std::vector<analysis::tune::MeasuredBest>() : *parts.tuned));
    }
    return tables;
}

bool has_no_advice(const ExamParts& parts) {
    return parts.advice != nullptr && !parts.advice->parameters && parts.advice->shapes.empty();
}

Answer exam_answer(const Report& report, const ExamParts& parts) {
    Answer a;
    a.schema = "eyeroof/exam/1";
    a.title = report.network_name + " on " + report.machine.name;
    a.question = report.words;
    a.scenario = analysis::scenario_json(report.scenario);
    a.sentences = answer_lines(report);
    a.sentences.insert(a.sentences.begin(),
                       fmt::format("{}", fmt::join(total_parts(report), " · ")));
    a.figures = figures_of(report);
    a.tables = tables_of(report, parts);
    a.notes = notes_of(report);
    if (parts.traced != nullptr) {
        a.notes.insert(a.notes.begin(), traced_sentence(*parts.traced));
        a.notes.insert(a.notes.begin(), parts.traced->notes.begin(), parts.traced->notes.end());
    }
    if (has_no_advice(parts)) {
        a.notes.emplace_back(kNoAdvice);
    }
    if (!report.layers.empty()) {
        a.picture = [&report](const Canvas& canvas) {
            return drawn(make_network_waterfall(
                report, {std::max(canvas.width, 960.0), std::max(canvas.height, 400.0)}));
        };
    }
    return a;
}

std::string exam_page(const Answer& answer, const ExamParts& parts) {
    PagePart part;
    if (parts.traced != nullptr) {
        part.html = traced_html(*parts.traced);
        part.style = traced_style();
        part.scripts = {page_script(), traced_script()};
    }
    return to_html(answer, part);
}

} // namespace eyeroof::report
