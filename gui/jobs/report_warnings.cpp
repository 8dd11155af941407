#include "gui/jobs/report_warnings.hpp"

#include "analysis/exam/report_warnings.hpp"

#include <QCoreApplication>
#include <algorithm>

namespace eyeroof::gui {

namespace {

// What the engine says already stands once.
void warn(Diagnostics& problems, const char* code, const std::string& what,
          const std::string& hint) {
    const bool known = std::any_of(problems.begin(), problems.end(), [&](const Diagnostic& d) {
        return d.code == code && d.message == what;
    });
    if (!known) {
        problems.warning(code, what, hint);
    }
}

} // namespace

void add_warnings(const analysis::Report& report, Diagnostics& problems, LayerMarks& marks) {
    if (const std::string what = analysis::no_fit_text(report); !what.empty()) {
        warn(problems, "does-not-fit", what,
             "the Memory tab shows what holds it and the largest batch that fits");
    }
    const analysis::OpenSearches open = analysis::open_searches(report);
    if (open.layers.empty()) {
        return;
    }
    warn(problems, "not-proved",
         report.machine.name + ": " + analysis::open_searches_text(report, open),
         open.effort ? "search a marked layer in its Mapping pane until its gap is closed"
                     : analysis::open_searches_hint(open));
    for (const std::size_t row : open.layers) {
        double gap = 0.0;
        bool effort = false;
        for (const mapper::Certificate& c : report.layers[row].certificates) {
            gap = std::max(gap, c.proved ? 0.0 : c.gap);
            effort = effort || (!c.proved && c.open_by == mapper::OpenBy::effort);
        }
        marks[{report.machine.id, row}] =
            (effort ? QCoreApplication::translate(
                          "Warnings",
                          "The search stopped before its proof: the optimality gap is at most %1 %")
                    : QCoreApplication::translate(
                          "Warnings",
                          "Not proven optimal among even mappings: the optimality gap is at "
                          "most %1 %"))
                .arg(100.0 * gap, 0, 'f', 1);
    }
}

} // namespace eyeroof::gui
