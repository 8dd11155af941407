// eyeroof claims: published claims, each asked again by its own commands.
#include "cli/claims.hpp"

#include "base/lines.hpp"
#include "cli/answer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>

namespace eyeroof::cli {

namespace {

namespace claims = analysis::claims;

struct ClaimsCommand {
    std::vector<std::string> only;
    bool list = false;
    bool details = false;
    OutputOptions output;
};

// Commands' answers, asked once each: several claims ask the same.
class Asked {
  public:
    explicit Asked(Context& context) : context_(context) {}

    Result<std::string> answer(const formats::Claim& claim, std::vector<std::string> words,
                               const std::string& format) {
        for (std::string& word : words) {
            if (const std::size_t at = word.find("{here}"); at != std::string::npos) {
                word.replace(at, 6, claim.folder.string());
            }
        }
        words.insert(words.end(), {"--format", format});
        for (const std::string& folder : context_.global().hwdb) {
            words.insert(words.end(), {"--hwdb", folder});
        }
        const auto known = answers_.find(words);
        if (known != answers_.end()) {
            return known->second;
        }
        return answers_.emplace(words, run(claim, words)).first->second;
    }

  private:
    Result<std::string> run(const formats::Claim& claim, const std::vector<std::string>& words) {
        std::ostringstream out, err;
        Environment environment = context_.environment();
        environment.out = &out;
        environment.err = &err;
        environment.out_is_terminal = environment.err_is_terminal = false;
        const int exit = run_program(words, environment);
        if (exit == static_cast<int>(Exit::done) || exit == static_cast<int>(Exit::says_no)) {
            return out.str();
        }
        const bool stopped = context_.stop().stop_requested();
        const bool absent = exit == static_cast<int>(Exit::unavailable);
        std::string said = err.str();
        said.erase(said.find_last_not_of('\n') + 1);
        return Result<std::string>::failure(stopped  ? "cancelled"
                                            : absent ? "unavailable"
                                                     : "uncosted",
                                            fmt::format("claim {}: `{}` gives no answer: {}",
                                                        claim.name,
                                                        report::command_line(claim, words), said));
    }

    Context& context_;
    std::map<std::vector<std::string>, Result<std::string>> answers_;
};

// True where a claim cannot be asked because a program is absent, and for no other reason.
bool is_of_absent_program(const Diagnostics& found) {
    return std::all_of(found.begin(), found.end(),
                       [](const Diagnostic& one) { return one.code == "unavailable"; });
}

Result<claims::ClaimFound> found_of(const formats::Claim& claim, Asked& asked, bool pictures) {
    claims::Answers answers;
    Diagnostics all;
    for (const formats::ClaimRun& run : claim.runs) {
        const auto answer = asked.answer(claim, run.words, "json");
        all.append(answer.diagnostics());
        if (answer) {
            all.append(answers.add(run.name, *answer).diagnostics());
        } else if (is_of_absent_program(answer.diagnostics())) {
            return answer.diagnostics(); // the others say the same
        }
    }
    if (all.has_errors()) {
        return all;
    }
    auto found = claims::judge(claim, answers);
    if (found && pictures && !claim.plot.command.empty()) {
        const auto picture = asked.answer(claim, claim.plot.command, "svg");
        if (!picture) {
            return picture.diagnostics();
        }
        found->picture = *picture;
    }
    return found;
}

Exit run_claims(Context& context, const ClaimsCommand& command) {
    const auto wanted = wanted_claims(context, command.only);
    if (!wanted) {
        return context.fail(wanted.diagnostics());
    }
    if (command.list) {
        report::ClaimsFound none;
        for (const formats::Claim& claim : *wanted) {
            none.push_back({});
            none.back().claim = claim;
            none.back().skipped = true;
        }
        return write_answer(context, report::claims_answer(none, true), command.output);
    }
    const auto all =
        ask_claims(context, *wanted, {!command.only.empty(), command.output.format == "html"});
    if (!all) {
        return context.fail(all.diagnostics());
    }
    const bool holds =
        std::all_of(all->begin(), all->end(), [](const auto& found) { return found.holds(); });
    report::Answer answer = report::claims_answer(*all);
    const bool text = command.output.format == "text";
    if (text && !command.details && command.only.empty()) {
        answer.parts.clear();
    }
    return write_answer(context, answer, command.output, holds ? Exit::done : Exit::says_no);
}

} // namespace

Result<std::vector<formats::Claim>> wanted_claims(const Context& context,
                                                  const std::vector<std::string>& only) {
    using Wanted = Result<std::vector<formats::Claim>>;
    std::vector<formats::Claim> wanted;
    std::vector<std::string> names;
    Diagnostics found;
    for (const auto& folder : formats::claim_folders(context.claim_dirs())) {
        names.push_back(folder.filename().string());
        const bool asked =
            only.empty() || std::find(only.begin(), only.end(), names.back()) != only.end();
        if (asked) {
            auto claim = formats::load_claim(folder);
            found.append(claim.diagnostics());
            if (claim) {
                wanted.push_back(*std::move(claim));
            }
        }
    }
    for (const std::string& name : only) {
        if (std::find(names.begin(), names.end(), name) == names.end()) {
            found.error("usage", fmt::format("there is no claim '{}'", name),
                        names.empty() ? "no data folder has claims/"
                                      : "eyeroof claims --list names them");
        }
    }
    if (names.empty() && !found.has_errors()) {
        found.error("no-claims", "no data folder has claims/", "examples/claims/ has them");
    }
    std::stable_sort(wanted.begin(), wanted.end(),
                     [](const auto& a, const auto& b) { return a.topic < b.topic; });
    return found.has_errors() ? Wanted(std::move(found)) : Wanted(std::move(wanted));
}

Result<report::ClaimsFound> ask_claims(Context& context, const std::vector<formats::Claim>& claims,
                                       ClaimsAsked wanted) {
    Asked asked(context);
    const ProgressCallback progress = context.progress();
    report::ClaimsFound all;
    Diagnostics left_out;
    for (const formats::Claim& claim : claims) {
        if (progress) {
            progress({static_cast<double>(all.size()) / static_cast<double>(claims.size()),
                      claim.name, 0.0, -1.0});
        }
        if (claim.measures && !wanted.measure) {
            all.push_back({});
            all.back().claim = claim;
            all.back().skipped = true;
            continue;
        }
        auto found = found_of(claim, asked, wanted.pictures);
        if (found) {
            all.push_back(*std::move(found));
        } else if (wanted.measure || !is_of_absent_program(found.diagnostics())) {
            return found.diagnostics();
        } else {
            left_out.warning("unavailable", found.diagnostics().items().front().message,
                             "this claim is left out");
        }
    }
    context.report(left_out);
    return all;
}

void add_claims(Frame& frame) {
    auto command = std::make_shared<ClaimsCommand>();
    CLI::App& app = frame.add(
        "claims", "Check published claims of the field: their figures beside the predictions",
        "# all claims in a table; claims that measure this machine run only by name\n"
        "eyeroof claims\n"
        "# one claim with its commands, figures, and explained differences\n"
        "eyeroof claims --only ops-per-byte\n"
        "# the page with pictures\n"
        "eyeroof claims --format html -o claims.html");
    app.add_option("--only", command->only,
                   "Check only this claim, and show its figures (repeatable)")
        ->type_name("NAME");
    app.add_flag("--list", command->list, "List the claims without running them");
    app.add_flag("--details", command->details, "Add the figures of every claim (text)");
    add_output(app, command->output, answer_formats());
    frame.run(app, [command](Context& context) { return run_claims(context, *command); });
}

} // namespace eyeroof::cli
