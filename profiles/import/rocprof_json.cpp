// rocprofv3's JSON results: a list of processes, each with its agents, its kernels' names and the
// records of its dispatches and copies. Read as a stream: names may stand before or behind the
// dispatches that use them, so they are joined at the end.
#include "base/checked.hpp"
#include "profiles/import/formats.hpp"
#include "profiles/launch_sums.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <iterator>
#include <map>

namespace eyeroof::profiles {

namespace {

constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostNames = 1'000'000;
constexpr std::int64_t kLatestNs = std::int64_t{9'000'000'000'000'000'000};

// The bytes of a source for the parser.
class SourceBytes {
  public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    SourceBytes() = default;
    explicit SourceBytes(ByteSource& source) : source_(&source) { ++*this; }

    reference operator*() const { return byte_; }
    SourceBytes& operator++() {
        const int next = source_->get();
        byte_ = static_cast<char>(next);
        source_ = next == ByteSource::kEnd ? nullptr : source_;
        return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(const SourceBytes& other) const { return source_ == other.source_; }

  private:
    ByteSource* source_ = nullptr; // nullptr: the end
    char byte_ = 0;
};

struct Agent {
    bool gpu = false;
    std::string name, product;
    std::int64_t units = 0;
};
struct Dispatch {
    std::int64_t kernel = kNone, start_ns = kNone, end_ns = kNone;
    std::int64_t agent = kNone, queue = kNone, stream = kNone;
    Dim3 group, items; // threads of a workgroup, and of the whole grid
};
struct Copied {
    std::int64_t start_ns = kNone, end_ns = kNone, bytes = 0;
    std::int64_t from = kNone, to = kNone;
};

// Takes the values of the JSON one by one; the keys that lead to them say what they are.
class Listener final : public nlohmann::json_sax<nlohmann::json> {
  public:
    explicit Listener(const ImportInput& input) : input_(input) {}

    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(std::int64_t value) override { return number(value); }
    bool number_unsigned(std::uint64_t value) override {
        return number(static_cast<std::int64_t>(std::min<std::uint64_t>(value, kLatestNs)));
    }
    bool number_float(double value, const std::string&) override {
        return std::isfinite(value) && value >= 0.0 && value < 9e18
                   ? number(static_cast<std::int64_t>(value))
                   : true;
    }
    bool string(std::string& value) override {
        text(value);
        return true;
    }
    bool binary(nlohmann::json::binary_t&) override { return true; }
    bool key(std::string& name) override {
        if (!path_.empty()) {
            path_.back() = name.substr(0, 64);
        }
        return true;
    }
    bool start_object(std::size_t) override { return open(); }
    bool end_object() override {
        close();
        return true;
    }
    bool start_array(std::size_t) override { return open(); }
    bool end_array() override {
        close();
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override {
        return false;
    }

    bool too_deep() const { return path_.size() > kDeepest; }
    bool seen() const { return seen_; }

    Profile finish() {
        for (const Copied& copied : copies_) {
            keep(copied);
        }
        std::map<std::int64_t, double> busy_ns;
        for (const Dispatch& dispatch : dispatches_) {
            busy_ns[dispatch.agent] +=
                static_cast<double>(dispatch.end_ns) - static_cast<double>(dispatch.start_ns);
            keep(dispatch);
        }
        double longest = -1.0;
        for (const auto& [handle, agent] : agents_) {
            if (agent.gpu && busy_ns[handle] > longest) {
                longest = busy_ns[handle];
                built_.profile.run.gpu = agent.product.empty() ? agent.name : agent.product;
                built_.profile.run.compute_capability = agent.name;
                built_.profile.run.sm_count = agent.units;
            }
        }
        if (lost_ > 0) {
            built_.profile.notes.push_back(
                fmt::format("{} dispatches without a time are left out", lost_));
        }
        return std::move(built_.profile);
    }

  private:
    // What encloses the value at hand, from the inside: at(0) is its own key, at(1) the key of the
    // object that holds it; the elements of a list count as one that has no key.
    std::string_view at(std::size_t back) const {
        return back < path_.size() ? std::string_view(path_[path_.size() - 1 - back])
                                   : std::string_view();
    }
    bool open() {
        path_.emplace_back();
        if (at(2) == "kernel_symbols" && at(1).empty()) { // the next symbol
            symbol_ = kNone;
            rank_ = 0;
            name_.clear();
        }
        if (at(2) == "kernel_dispatch" || at(1) == "kernel_dispatch") {
            begin_dispatch();
        }
        return !too_deep();
    }
    void begin_dispatch() {
        const bool record = path_.size() >= 3 && at(2) == "kernel_dispatch" && at(1).empty();
        if (record && dispatches_.size() < kMostLaunches) {
            dispatches_.emplace_back();
        } else if (record) {
            ++lost_;
        }
    }
    void close() { path_.pop_back(); }

    // The value stands in a record of this list, `inside` keys below it.
    bool in_record(std::string_view list, std::size_t inside) const {
        return at(inside + 2) == list && at(inside + 1).empty();
    }

    bool number(std::int64_t value) {
        const std::string_view name = at(0);
        if (!dispatches_.empty()) {
            take_dispatch(name, value);
        }
        take_copy(name, value);
        if (in_record("kernel_symbols", 0) && name == "kernel_id") {
            symbol_ = value;
            give_name();
        }
        take_agent(name, value);
        return true;
    }

    void take_dispatch(std::string_view name, std::int64_t value) {
        Dispatch& d = dispatches_.back();
        if (in_record("kernel_dispatch", 0)) {
            seen_ = true;
            d.start_ns = name == "start_timestamp" ? value : d.start_ns;
            d.end_ns = name == "end_timestamp" ? value : d.end_ns;
        } else if (in_record("kernel_dispatch", 1)) {
            d.kernel = at(1) == "dispatch_info" && name == "kernel_id" ? value : d.kernel;
            d.stream = at(1) == "stream_id" && name == "handle" ? value : d.stream;
        } else if (in_record("kernel_dispatch", 2) && at(2) == "dispatch_info") {
            d.agent = at(1) == "agent_id" && name == "handle" ? value : d.agent;
            d.queue = at(1) == "queue_id" && name == "handle" ? value : d.queue;
            Dim3* const size = at(1) == "workgroup_size" ? &d.group
                               : at(1) == "grid_size"    ? &d.items
                                                         : nullptr;
            if (size != nullptr) {
                (name == "x" ? size->x : name == "y" ? size->y : size->z) = value;
            }
        }
    }

    void take_copy(std::string_view name, std::int64_t value) {
        if (in_record("memory_copy", 0)) {
            // A record's first figures begin it: it repeats one of those that it has.
            const bool begins = name == "start_timestamp";
            if (begins && copies_.size() < kMostLaunches) {
                copies_.emplace_back();
                copies_.back().start_ns = value;
            } else if (!copies_.empty()) {
                Copied& c = copies_.back();
                c.end_ns = name == "end_timestamp" ? value : c.end_ns;
                c.bytes = name == "bytes" ? value : c.bytes;
            }
        } else if (in_record("memory_copy", 1) && name == "handle" && !copies_.empty()) {
            Copied& c = copies_.back();
            c.from = at(1) == "src_agent_id" ? value : c.from;
            c.to = at(1) == "dst_agent_id" ? value : c.to;
        }
    }

    void take_agent(std::string_view name, std::int64_t value) {
        if (in_record("agents", 1) && at(1) == "id" && name == "handle") {
            agent_ = value;
            agents_[agent_];
        } else if (in_record("agents", 0) && agents_.size() < kMostNames) {
            Agent& agent = agents_[agent_];
            agent.gpu = name == "type" ? value == 2 : agent.gpu; // 1: a processor
            agent.units = name == "cu_count" ? value : agent.units;
        }
    }

    void text(const std::string& value) {
        const std::string_view name = at(0);
        if (in_record("kernel_symbols", 0)) {
            const int rank = name == "formatted_kernel_name"   ? 3
                             : name == "demangled_kernel_name" ? 2
                             : name == "kernel_name"           ? 1
                                                               : 0;
            if (rank > rank_) {
                rank_ = rank;
                name_ = value;
                give_name();
            }
        } else if (in_record("agents", 0)) {
            Agent& agent = agents_[agent_];
            (name == "product_name" ? agent.product
             : name == "name"       ? agent.name
                                    : unused_) = value;
        }
    }

    // A symbol's number and names come in any order.
    void give_name() {
        if (symbol_ == kNone || name_.empty()) {
            return;
        }
        if (names_.size() < kMostNames) {
            names_[symbol_] = name_;
        }
    }

    void keep(const Dispatch& d) {
        const bool timed = d.start_ns >= 0 && d.end_ns >= d.start_ns && d.kernel != kNone;
        if (!timed) {
            ++lost_;
            return;
        }
        Launch launch;
        launch.source = built_.source(input_.name);
        const auto name = names_.find(d.kernel);
        launch.kernel =
            built_.kernel(name == names_.end() ? fmt::format("kernel {}", d.kernel) : name->second);
        launch.stream = d.stream != kNone ? d.stream : d.queue;
        launch.device = d.agent;
        launch.start_ns = d.start_ns;
        launch.duration_ns = static_cast<double>(d.end_ns - d.start_ns);
        const auto blocks = [](std::int64_t items, std::int64_t size) {
            return items > 0 && size > 0 ? ceil_div(items, size) : 1;
        };
        launch.block = d.group;
        launch.grid = {blocks(d.items.x, d.group.x), blocks(d.items.y, d.group.y),
                       blocks(d.items.z, d.group.z)};
        sums_.add(built_.profile, std::move(launch));
    }

    void keep(const Copied& c) {
        if (c.start_ns < 0 || c.end_ns < c.start_ns || c.bytes < 0) {
            return;
        }
        const auto is_gpu = [this](std::int64_t handle) {
            const auto agent = agents_.find(handle);
            return agent != agents_.end() && agent->second.gpu;
        };
        DeviceCopy copy;
        copy.source = built_.source(input_.name);
        copy.kind = is_gpu(c.from) && is_gpu(c.to)
                        ? (c.from == c.to ? CopyKind::on_device : CopyKind::to_peer)
                    : is_gpu(c.to) ? CopyKind::host_to_device
                                   : CopyKind::device_to_host;
        copy.bytes = c.bytes;
        copy.device = is_gpu(c.to) ? c.to : c.from;
        copy.start_ns = c.start_ns;
        copy.duration_ns = static_cast<double>(c.end_ns - c.start_ns);
        built_.profile.copies.push_back(copy);
    }

    const ImportInput& input_;
    ProfileBuilder built_;
    LaunchSums sums_;
    std::vector<std::string> path_; // keys of what is open
    std::vector<Dispatch> dispatches_;
    std::vector<Copied> copies_;
    std::map<std::int64_t, std::string> names_; // by kernel
    std::map<std::int64_t, Agent> agents_;      // by handle
    std::int64_t symbol_ = kNone, agent_ = kNone;
    int rank_ = 0;
    std::string name_, unused_;
    std::size_t lost_ = 0;
    bool seen_ = false;
};

class RocprofJsonImporter final : public Importer {
  public:
    std::string_view name() const override { return "rocprofv3-json"; }
    std::string_view what() const override {
        return "rocprofv3 JSON results, gz too: rocprofv3 --kernel-trace --memory-copy-trace "
               "--output-format json -- ./app";
    }
    bool recognises(std::string_view head) const override {
        return head.find("\"rocprofiler-sdk-tool\"") != std::string_view::npos;
    }
    Result<Profile> read(const ImportInput& input) const override {
        auto source = input.open();
        if (!source) {
            return Result<Profile>(source.diagnostics());
        }
        Listener listener(input);
        const bool whole =
            nlohmann::json::sax_parse(SourceBytes(**source), SourceBytes(), &listener);
        const SourceLocation where = (*source)->here();
        using Read = Result<Profile>;
        if (!(*source)->failure().empty()) {
            return Read::failure("damaged", (*source)->failure(), "write the results again", where);
        }
        if (!whole) {
            return Read::failure(listener.too_deep() ? "too-deep" : "not-json",
                                 listener.too_deep() ? "the JSON is nested deeper than 64"
                                                     : "this is not JSON, or it ends in the middle",
                                 "rocprofv3 --output-format json writes it", where);
        }
        if (!listener.seen()) {
            return Read::failure("no-events", "there are no dispatches of kernels",
                                 "trace them: rocprofv3 --kernel-trace --output-format json",
                                 {input.name, 0, 0});
        }
        Profile profile = listener.finish();
        profile.run.tool = "rocprofv3-json";
        return profile;
    }
};

} // namespace

const Importer& rocprof_json_importer() {
    static const RocprofJsonImporter importer;
    return importer;
}

} // namespace eyeroof::profiles
