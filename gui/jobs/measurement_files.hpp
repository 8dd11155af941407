// The files of measurements that are open: profiles, ceilings, assignments of kernels to layers,
// logs of tuning. A file that cannot be read keeps its place, with the reason.
#pragma once

#include "gui/jobs/trace_origin.hpp"
#include "profiles/metric_family.hpp"
#include "report/draw/plot_make.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace eyeroof::gui {

// A file of measurements in the window: what it holds, or why it could not be read.
struct MeasurementFile {
    enum class Kind { profile, ceilings, assignments, trials };
    std::string path;
    Kind kind = Kind::profile;
    std::shared_ptr<const profiles::Profile> content;       // of profiles and ceilings
    std::string wrong;                                      // empty: it was read
    std::shared_ptr<const report::Trials> trials = nullptr; // of logs of tuning
    bool own = false; // the network is this trace: no file of the session beside it

    bool operator==(const MeasurementFile&) const = default;
};

class MeasurementFiles {
  public:
    explicit MeasurementFiles(const Folders& folders);

    const std::vector<MeasurementFile>& all() const { return files_; }
    const MeasurementFile* last_profile() const; // that was read; none
    const Diagnostics& problems() const { return problems_; }
    // Of the files as they are now, copied when it is called: any thread may do that. `own`: with
    // the times of the trace that is the network.
    std::function<report::Measured(bool own)> measured() const;
    void set_own(const std::string& path, std::shared_ptr<const profiles::Profile> profile);
    bool keeps(const std::string& path) const { return kept_.contains(path); }
    void keep(ReadFile read); // for the next open() of that path

    void load(const report::Session& session); // instead of what is open
    void write_into(report::Session& session) const;
    // Whether the file holds a measurement; `problems` says what was wrong.
    bool open(const std::string& path, Diagnostics& problems);
    bool take(const std::string& path, report::Opened opened);
    bool close(const std::string& path); // false: it is not open

    // Which profile is laid over the prediction: it becomes the first. Empty: all runs pooled into
    // one. The others stay runs of their own. False: nothing changes.
    bool compare(const std::string& path);
    bool pooled() const { return pooled_; }

    std::string run_name(const MeasurementFile& file) const;

    // Kernels to layers by hand, those of a file first. What is assigned here is kept until it is
    // taken back or saved.
    const std::vector<profiles::ManualAssignment>& assignments() const { return assignments_; }
    void assign(profiles::ManualAssignment assignment);
    bool take_back(); // the last one that was assigned here; false: there is none
    bool has_unsaved() const { return unsaved_ > 0; }
    // From now on they are of that file.
    void saved_in(const std::string& path);

  private:
    Folders folders_;
    std::vector<MeasurementFile> files_;
    std::vector<profiles::ManualAssignment> assignments_;
    std::vector<profiles::MetricFamily> families_;
    bool pooled_ = false;
    std::size_t unsaved_ = 0; // of assignments_, from the end
    Diagnostics problems_;    // of the session that was loaded
    std::map<std::string, ReadFile> kept_;
};

} // namespace eyeroof::gui
