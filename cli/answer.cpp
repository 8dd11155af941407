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

void report_warnings(Context& context, const report::Answer& answer, const std::string& format) {
    if (format == "csv" || format == "svg") {
        Diagnostics weakened;
        for (const std::string& warning : answer.warnings) {
            weakened.warning("answer", warning);
        }
        context.report(weakened);
    }
}

Exit write_answer(Context& context, const report::Answer& answer, const OutputOptions& output,
                  Exit otherwise) {
    return write_answer(context, answer, output, std::string(), {}, otherwise);
}

Exit write_answer(Context& context, const report::Answer& answer, const OutputOptions& output,
                  const std::string& command, const std::vector<model::Machine>& machines,
                  Exit otherwise) {
    if (output.format == "svg" && !answer.picture) {
        return context.fail_usage("this answer has no picture", "take text, json, csv, md or html");
    }
    report_warnings(context, answer, output.format);
    std::string text = report::written(answer, output.format, context.columns(output.file));
    if (!command.empty()) {
        text = with_origin(std::move(text), output.format, command, machines);
    }
    return context.write(text, output.file, otherwise);
}

Exit write_answer(Context& context, const report::Answer& answer, const OutputOptions& output,
                  const FailIf& fail_if, const analysis::GateFigures& figures, Exit otherwise) {
    report_warnings(context, answer, output.format);
    return fail_if.write(context,
                         report::written(answer, output.format, context.columns(output.file)),
                         output.file, figures, otherwise);
}

} // namespace eyeroof::cli
