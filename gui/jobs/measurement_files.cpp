#include "gui/jobs/measurement_files.hpp"

#include "formats/metric_family.hpp"
#include "gui/views/discard.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

namespace eyeroof::gui {

namespace {

using Kind = MeasurementFile::Kind;

std::shared_ptr<const profiles::Profile> shared(profiles::Profile profile) {
    return freed_in_background(std::move(profile)); // millions of launches take a while
}

} // namespace

MeasurementFiles::MeasurementFiles(const Folders& folders) : folders_(folders) {
    for (const auto& folder : folders_.metrics) {
        if (const auto families = formats::read_metric_families(folder)) {
            families_ = *families;
            break;
        }
    }
}

const MeasurementFile* MeasurementFiles::last_profile() const {
    const auto found = std::find_if(files_.rbegin(), files_.rend(), [](const auto& file) {
        return file.kind == Kind::profile && file.content;
    });
    return found == files_.rend() ? nullptr : &*found;
}

void MeasurementFiles::set_own(const std::string& path,
                               std::shared_ptr<const profiles::Profile> profile) {
    std::erase_if(files_, [](const auto& file) { return file.own; });
    if (profile) {
        files_.insert(files_.begin(), {path, Kind::profile, std::move(profile), {}, nullptr, true});
    }
}

void MeasurementFiles::keep(ReadFile read) {
    kept_.insert_or_assign(read.path, std::move(read));
}

std::function<report::Measured(bool)> MeasurementFiles::measured() const {
    std::vector<std::string> runs; // beside the files
    for (const MeasurementFile& file : files_) {
        runs.push_back(run_name(file));
    }
    return [files = files_, runs, pooled = pooled_, assignments = assignments_,
            families = families_](bool own) {
        report::Measured all{{}, {}, assignments, families, {}};
        for (std::size_t i = 0; i < files.size(); ++i) {
            const MeasurementFile& file = files[i];
            if (!file.content || (file.own && !own)) {
                continue;
            }
            (file.kind == Kind::profile ? all.profiles : all.ceilings).push_back(*file.content);
            if (file.kind == Kind::profile && !pooled) {
                all.runs.push_back(runs[i]);
            }
        }
        return all;
    };
}

// The file's name, with as many of its folders as tell it from other profiles.
std::string MeasurementFiles::run_name(const MeasurementFile& file) const {
    std::filesystem::path folder = std::filesystem::path(file.path).parent_path();
    std::filesystem::path name = std::filesystem::path(file.path).filename();
    const auto is_another = [&](const MeasurementFile& other) {
        return other.kind == Kind::profile && other.path != file.path &&
               other.path.ends_with("/" + name.string());
    };
    while (folder.has_filename() && std::ranges::any_of(files_, is_another)) {
        name = folder.filename() / name;
        folder = folder.parent_path();
    }
    return name.string();
}

void MeasurementFiles::assign(profiles::ManualAssignment assignment) {
    assignments_.push_back(std::move(assignment));
    ++unsaved_;
}

bool MeasurementFiles::take_back() {
    if (unsaved_ == 0) {
        return false;
    }
    assignments_.pop_back();
    --unsaved_;
    return true;
}

void MeasurementFiles::saved_in(const std::string& path) {
    unsaved_ = 0;
    std::erase_if(files_, [](const auto& file) { return file.kind == Kind::assignments; });
    files_.push_back({path, Kind::assignments, {}, {}});
}

bool MeasurementFiles::compare(const std::string& path) {
    if (path.empty()) {
        return !std::exchange(pooled_, true);
    }
    const auto chosen = std::find_if(files_.begin(), files_.end(), [&](const auto& file) {
        return file.kind == Kind::profile && file.path == path;
    });
    if (chosen == files_.end()) {
        return false;
    }
    const bool was_pooled = std::exchange(pooled_, false);
    const auto first = std::find_if(files_.begin(), files_.end(),
                                    [](const auto& file) { return file.kind == Kind::profile; });
    std::rotate(first, chosen, std::next(chosen));
    return was_pooled || first != chosen;
}

// A file that cannot be read stays in the list with the reason, and in the session that is saved.
void MeasurementFiles::load(const report::Session& session) {
    files_.clear();
    pooled_ = false;
    unsaved_ = 0;
    assignments_.clear();
    problems_ = {};
    const auto load_one = [&](const std::string& path, Kind kind) {
        Diagnostics problems;
        if (!open(path, problems)) {
            files_.push_back(
                {path, kind, {}, problems.empty() ? "" : problems.items().front().message});
        }
        problems_.append(problems);
    };
    for (const std::string& path : session.profiles) {
        load_one(path, Kind::profile);
    }
    for (const std::string& path : session.ceilings) {
        load_one(path, Kind::ceilings);
    }
    for (const std::string& path : session.trials) {
        load_one(path, Kind::trials);
    }
    if (!session.assignments.empty()) {
        load_one(session.assignments, Kind::assignments);
    }
}

void MeasurementFiles::write_into(report::Session& session) const {
    for (const MeasurementFile& file : files_) {
        if (file.own) {
            continue;
        }
        switch (file.kind) {
        case Kind::profile:
            session.profiles.push_back(file.path);
            break;
        case Kind::ceilings:
            session.ceilings.push_back(file.path);
            break;
        case Kind::assignments:
            session.assignments = file.path;
            break;
        case Kind::trials:
            session.trials.push_back(file.path);
            break;
        }
    }
}

// The content tells which kind it is.
bool MeasurementFiles::open(const std::string& path, Diagnostics& problems) {
    auto kept = kept_.extract(path);
    auto opened = kept ? std::move(kept.mapped().opened)
                       : report::open_any(path, folders_.machines, folders_.networks);
    problems.append(opened.diagnostics());
    if (opened && !take(path, *std::move(opened))) {
        problems.error("not-measured", "this file holds no measurement", {}, {path, 0, 0});
        return false;
    }
    return opened.ok();
}

bool MeasurementFiles::take(const std::string& path, report::Opened opened) {
    if (auto* profile = std::get_if<profiles::Profile>(&opened)) {
        files_.push_back({path, Kind::profile, shared(std::move(*profile)), {}});
    } else if (auto* ceilings = std::get_if<report::Ceilings>(&opened)) {
        files_.push_back({path, Kind::ceilings, shared(std::move(ceilings->measured)), {}});
    } else if (auto* assignments = std::get_if<report::Assignments>(&opened)) {
        std::erase_if(files_, [](const auto& file) { return file.kind == Kind::assignments; });
        files_.push_back({path, Kind::assignments, {}, {}});
        assignments_ = std::move(*assignments);
        unsaved_ = 0;
    } else if (auto* trials = std::get_if<report::Trials>(&opened)) {
        auto held = std::make_shared<const report::Trials>(std::move(*trials));
        files_.push_back({path, Kind::trials, {}, {}, std::move(held)});
    } else {
        return false;
    }
    return true;
}

bool MeasurementFiles::close(const std::string& path) {
    const auto file = std::find_if(files_.begin(), files_.end(),
                                   [&](const auto& known) { return known.path == path; });
    if (file == files_.end()) {
        return false;
    }
    if (file->kind == Kind::assignments) {
        assignments_.clear();
    }
    files_.erase(file);
    problems_ = {};
    return true;
}

} // namespace eyeroof::gui
