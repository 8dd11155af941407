#include "profiles/import/importer.hpp"

#include "base/printable.hpp"
#include "profiles/import/foreign_report.hpp"
#include "profiles/import/formats.hpp"
#include "profiles/import/kineto_events.hpp"
#include "profiles/profile_file.hpp"
#include "profiles/serial_streams.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

namespace eyeroof::profiles {

namespace {

constexpr std::size_t kHeadBytes = std::size_t{1} << 16;

constexpr std::size_t kMostPiped = std::size_t{1} << 30;

std::string head_of(ByteSource& source, std::size_t most = kHeadBytes) {
    std::string head;
    for (auto ahead = source.ahead(); !ahead.empty() && head.size() < most;
         ahead = source.ahead()) {
        const std::size_t size = std::min(ahead.size(), most - head.size());
        head.append(ahead.substr(0, size));
        source.skip(size);
    }
    return head;
}

// What can be read only once: "-" is stdin.
bool is_stream(const std::string& path) {
    std::error_code ignored;
    const auto status = std::filesystem::status(path, ignored);
    return path == "-" ||
           (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status) &&
            !std::filesystem::is_directory(status));
}

// A pipe is read into memory, unpacked, up to a limit.
Result<ImportInput> input_of_stream(const std::string& path) {
    auto source = ByteSource::open(path == "-" ? "/dev/stdin" : path);
    if (!source) {
        return Result<ImportInput>(source.diagnostics());
    }
    std::string text = head_of(**source, kMostPiped);
    if (text.size() == kMostPiped) {
        return Result<ImportInput>::failure("too-large", "a pipe may hold 1 GiB at most",
                                            "save it to a file first", {path, 0, 0});
    }
    return input_of_text(std::move(text), path == "-" ? "stdin" : path);
}

class ProfileImporter final : public Importer {
  public:
    std::string_view name() const override { return "eyeroof-profile"; }
    std::string_view what() const override {
        return "a profile file of eyeroof (JSON lines, gz too)";
    }
    bool recognises(std::string_view head) const override { return looks_like_profile(head); }
    Result<Profile> read(const ImportInput& input) const override {
        auto source = input.open();
        return source ? read_profile(**source) : Result<Profile>(source.diagnostics());
    }
};

// Names are printed and drawn in many places: what a terminal would obey stays outside.
void make_printable(Profile& profile, const std::string& file, Diagnostics& found) {
    std::size_t changed = 0;
    const auto clean = [&](std::string& text) {
        std::string shown = printable(text);
        changed += shown == text ? 0 : 1;
        text = std::move(shown);
    };
    for (std::string* text :
         {&profile.run.tool, &profile.run.gpu, &profile.run.chip, &profile.run.compute_capability,
          &profile.run.driver, &profile.run.cuda, &profile.run.command, &profile.run.date,
          &profile.run.host}) {
        clean(*text);
    }
    for (auto* texts : {&profile.sources, &profile.notes, &profile.ranges}) {
        std::ranges::for_each(*texts, clean);
    }
    for (Kernel& kernel : profile.kernels) {
        clean(kernel.name);
        clean(kernel.mangled);
    }
    for (Operator& op : profile.operators) {
        clean(op.name);
        std::ranges::for_each(op.input_types, clean);
        std::ranges::for_each(op.concrete_inputs, clean);
    }
    for (Ceiling& ceiling : profile.ceilings) {
        clean(ceiling.name);
        clean(ceiling.how);
    }
    if (changed > 0) {
        found.warning("control-characters",
                      fmt::format("{} names hold control characters or no UTF-8; they are kept as "
                                  "what they show, for example \\x1b",
                                  changed),
                      {}, {file, 0, 0});
    }
}

std::string list_of_importers() {
    std::string list;
    for (const Importer* importer : importers()) {
        list += fmt::format("{}{}", list.empty() ? "" : ", ", importer->name());
    }
    return list;
}

} // namespace

const Importer& profile_importer() {
    static const ProfileImporter importer;
    return importer;
}

std::span<const Importer* const> importers() {
    static const std::array<const Importer*, 8> all = {
        &profile_importer(), &rocpd_importer(),   &nsys_sqlite_importer(),  &kineto_importer(),
        &ncu_csv_importer(), &rocprof_importer(), &rocprof_json_importer(), &plain_csv_importer()};
    return all;
}

Result<ImportInput> input_of_file(const std::string& path) {
    if (is_stream(path)) {
        return input_of_stream(path);
    }
    auto source = ByteSource::open(path);
    if (!source) {
        return Result<ImportInput>(source.diagnostics());
    }
    return ImportInput{path, head_of(**source), [path] { return ByteSource::open(path); }, path};
}

ImportInput input_of_text(std::string text, const std::string& name) {
    const auto shared = std::make_shared<const std::string>(std::move(text));
    ImportInput input{name, head_of(*ByteSource::of_text(shared, name)), {}};
    input.open = [shared, name] {
        return Result<std::unique_ptr<ByteSource>>(ByteSource::of_text(shared, name));
    };
    return input;
}

RunInfo run_of_head(const ImportInput& input) {
    if (looks_like_profile(input.head)) {
        const std::string line = input.head.substr(0, input.head.find('\n') + 1);
        const auto source = ByteSource::of_text(line, input.name);
        const auto profile = read_profile(*source);
        return profile ? profile->run : RunInfo{};
    }
    return kineto_importer().recognises(input.head) ? run_in_trace_head(input.head) : RunInfo{};
}

std::string_view format_of_file(const std::string& path) {
    const auto input = input_of_file(path);
    for (const Importer* importer : importers()) {
        if (input && importer->recognises(input->head)) {
            return importer->name();
        }
    }
    return {};
}

Result<Profile> import_profile(const ImportInput& input, std::string_view format) {
    const auto all = importers();
    const auto chosen = std::ranges::find_if(all, [&](const Importer* importer) {
        return format.empty() ? importer->recognises(input.head) : importer->name() == format;
    });
    const SourceLocation where{input.name, 0, 0};
    const auto foreign =
        format.empty() &&
                (chosen == all.end() || (*chosen)->name() == "plain-csv" ||
                 (*chosen)->name() == "nsight-compute-csv" || (*chosen)->name() == "kineto-json")
            ? foreign_report(input.head, input.name)
            : std::nullopt;
    if (foreign) {
        return Result<Profile>::failure("foreign-report", "this is " + foreign->what, foreign->fix,
                                        where);
    }
    if (chosen == all.end()) {
        return format.empty()
                   ? Result<Profile>::failure("unknown-format",
                                              "this is no measurement that is known",
                                              "read are: " + list_of_importers(), where)
                   : Result<Profile>::failure("unknown-importer",
                                              fmt::format("there is no format '{}'", format),
                                              "there are: " + list_of_importers(), where);
    }
    auto profile = (*chosen)->read(input);
    if (profile) {
        make_printable(*profile, input.name, profile.diagnostics());
        profile.diagnostics().append(drop_repeats(*profile, input.name));
        profile.diagnostics().append(cut_overruns(*profile, input.name));
    }
    if (profile && profile->launches.empty()) {
        const std::string what = "the file holds no kernel launches";
        const std::string fix = "record them: ProfilerActivity.CUDA (PyTorch), nsys profile "
                                "--trace=cuda, rocprofv3 --kernel-trace";
        Diagnostics& found = profile.diagnostics();
        if (profile->copies.empty() && profile->ceilings.empty()) {
            found.error("no-launches", what, fix, where);
            return Result<Profile>(std::move(found));
        }
        found.warning("no-launches", what, fix, where);
    }
    return profile;
}

Result<Profile> import_file(const std::string& path, std::string_view format,
                            const ProgressCallback& progress) {
    auto input = input_of_file(path);
    if (input && progress && !input->path.empty()) {
        input->open = [path, progress] {
            auto source = ByteSource::open(path);
            if (source) {
                (*source)->tell([path, progress](double share) {
                    progress({share, "reads " + path, 0.0});
                });
            }
            return source;
        };
    }
    return input ? import_profile(*input, format) : Result<Profile>(input.diagnostics());
}

} // namespace eyeroof::profiles
