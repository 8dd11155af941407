#include "cli/answer.hpp"

#include "cli/origin.hpp"
#include "report/answer/write.hpp"

namespace eyeroof::cli {

std::vector<std::string> answer_formats(bool picture) {
    std::vector<std::string> formats = {"text", "json", "csv", "md", "html"};
    if (picture) {
        formats.emplace_back("svg");
    }
    return formats;
}

namespace {

// Formats without a place for them.
void report_warnings(Context& context, const report::Answer& answer, const std::string& format) {
    if (format == "csv" || format == "svg") {
        Diagnostics weakened;
        for (const std::string& warning : answer.warnings) {
            weakened.warning("answer", warning);
        }
        context.report(weakened);
    }
}

} // namespace

Exit write_answer(Context& context, const report::Answer& answer, const OutputOptions& output,
                  Exit otherwise) {
    report_warnings(context, answer, output.format);
    return context.write(report::written(answer, output.format, context.columns(output.file)),
                         output.file, otherwise);
}

Exit write_answer(Context& context, const report::Answer& answer, const OutputOptions& output,
                  const std::string& command, const std::vector<model::Machine>& machines) {
    report_warnings(context, answer, output.format);
    return context.write(
        with_origin(report::written(answer, output.format, context.columns(output.file)),
                    output.format, command, machines),
        output.file);
}

} // namespace eyeroof::cli
