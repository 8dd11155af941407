#include "tests/agreement/compare.hpp"

#include "analysis/exam/run.hpp"
#include "analysis/scenario/fields.hpp"
#include "report/exam/exam_answer.hpp"
#include "report/session/session.hpp"
#include "tests/scenario/fixture.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace eyeroof::tests {

namespace {

// What an answer is written as; nothing where it was refused. A verdict "no" is an answer.
Json parsed(const Outcome& outcome, bool lines) {
    const std::size_t end = outcome.out.find_last_not_of('\n');
    if (outcome.out.empty() || end == std::string::npos) {
        return {};
    }
    const std::size_t start = lines ? outcome.out.rfind('\n', end) + 1 : 0;
    return Json::parse(outcome.out.substr(start), nullptr, false);
}

// The same to the last digit, but for what a row says, and for times of kernels: a timeline takes
// them from its spans, which are rounded at the step's size.
bool same(const Row& row, const std::string& name, const Json& a, const Json& b) {
    const bool kernels = name.starts_with("kernels of ") || name.starts_with("kernel of ");
    const double share = std::max(row.within, kernels ? 1e-9 : 0.0);
    if (share > 0.0 && a.is_number() && b.is_number()) {
        const double most = std::max(std::abs(a.get<double>()), std::abs(b.get<double>()));
        return std::abs(a.get<double>() - b.get<double>()) <= share * most;
    }
    return a == b;
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

void compare_figures(const Row& row, const Asked& asked, const Json& answer, Compared& compared) {
    const Figures exam = exam_figures(asked.exam);
    for (const auto& [name, value] : row.figures(answer, asked)) {
        ++compared.figures;
        const auto at = exam.find(name);
        const Json own = at == exam.end() ? Json() : at->second;
        CHECK_MESSAGE(same(row, name, value, own),
                      fmt::format("{} {}: {} is {}, the exam's {}", row.command, row.what, name,
                                  value.dump(), own.dump()));
    }
}

// The same bytes where the answer's own question is asked again.
void ask_again(const Row& row, const std::string& out, const std::string& file,
               Compared& compared) {
    write_text(file, out);
    const Outcome second = run({row.command, "--scenario", file, "--format", "json"});
    ++compared.again;
    CHECK_MESSAGE(second.out == out, fmt::format("{} {} asked again: {}", row.command, row.what,
                                                 first_line(second.err)));
}

void compare_row(const Row& row, const Asked& asked, const std::string& file, Compared& compared) {
    const Outcome outcome = run(row.arguments(asked));
    const Json answer = parsed(outcome, row.lines);
    const auto error = answer.is_object() ? answer.value("error", Json()) : Json("no answer");
    const bool has_figures = // a sweep's point that does not fit has those of a run that would
        error.is_null() ||
        (error.is_string() && error.get<std::string>().starts_with("does-not-fit"));
    if (asked.exam.is_null() || !has_figures) {
        const bool both = asked.exam.is_null() && !has_figures;
        compared.refused += both ? 1 : 0;
        CHECK_MESSAGE((both || row.command == "net" || row.command == "fuse"),
                      fmt::format("{} {}: {}, the exam {}: {}", row.command, row.what,
                                  has_figures ? "answers" : "refuses",
                                  asked.exam.is_null() ? "refuses" : "answers",
                                  first_line(outcome.err)));
        return;
    }
    ++compared.answers;
    compared.commands.insert(row.command);
    compare_figures(row, asked, answer, compared);
    if (answer.contains("scenario") && !file.empty()) {
        ask_again(row, outcome.out, file, compared);
    }
}

// What the window shows: it saves a session, opens it, and examines what stands in it.
Json in_window(const analysis::Scenario& scenario) {
    report::Session session;
    session.scenario = scenario;
    session.machines = {scenario.machine};
    const auto opened = report::parse_session(report::write_session(session), "session.yaml");
    const auto question =
        opened ? analysis::resolve(report::scenario_on(*opened, 0), catalog_folders())
               : Result<analysis::Question>(opened.diagnostics());
    auto shown =
        question ? analysis::run(*question) : Result<analysis::Report>(question.diagnostics());
    if (!shown) {
        return {};
    }
    analysis::find_largest_batch(*shown, *question);
    return Json::parse(report::to_json(report::exam_answer(*shown)));
}

// To the last digit, every figure and every layer.
void compare_window(const Asked& asked, Compared& compared) {
    if (!asked.scenario.density.empty()) {
        return; // zeros have a pane of their own
    }
    const Json shown = in_window(asked.scenario);
    if (asked.exam.is_null() || shown.is_null()) {
        CHECK_MESSAGE(asked.exam.is_null() == shown.is_null(),
                      fmt::format("the window {}", shown.is_null() ? "refuses" : "answers"));
        return;
    }
    ++compared.answers;
    compared.commands.insert("the window");
    const Figures exam = exam_figures(asked.exam);
    compared.figures += exam.size();
    CHECK(exam_figures(shown) == exam);
}

} // namespace

std::string Compared::told() const {
    return fmt::format("{} scenarios, {} of them with an answer; {} answers of {} commands beside "
                       "the exam's, {} figures compared, {} refused alike, {} asked again",
                       scenarios, answered, answers, commands.size(), figures, refused, again);
}

void compare(const analysis::Scenario& scenario, bool again, Compared& compared) {
    const Scratch scratch;
    Asked asked{
        scenario, (scratch / "scenario.json").string(), (scratch / "exam.json").string(), {}};
    write_text(asked.document, analysis::scenario_json(scenario));
    INFO(analysis::scenario_json(scenario));
    const Outcome exam = run({"exam", "--scenario", asked.document, "--format", "json"});
    asked.exam = parsed(exam, false);
    write_text(asked.answer, exam.out);
    ++compared.scenarios;
    compared.answered += asked.exam.is_null() ? 0 : 1;
    INFO("exam: " << first_line(exam.err));
    compare_window(asked, compared);
    const std::string file = again ? (scratch / "answer.json").string() : std::string();
    if (again && !asked.exam.is_null()) {
        const Row itself{"exam", "", {}, {}, {}, false};
        ask_again(itself, exam.out, file, compared);
    }
    for (const Row& row : rows()) {
        if (row.applies(asked)) {
            compare_row(row, asked, file, compared);
        }
    }
}

namespace {

std::string wanted() {
    const char* text = std::getenv("EYEROOF_AGREEMENT"); // NOLINT(concurrency-mt-unsafe)
    return text == nullptr ? "" : text;
}

} // namespace

bool all_of_it() {
    return wanted() == "all";
}

std::pair<std::uint64_t, std::uint64_t> random_range(std::uint64_t usual) {
    const std::string text = wanted();
    const std::size_t colon = text.find(':');
    if (colon != std::string::npos) {
        return {std::stoull(text.substr(0, colon)), std::stoull(text.substr(colon + 1))};
    }
    return {0, all_of_it() ? 1000 : usual};
}

} // namespace eyeroof::tests
