#include "profiles/profile_file.hpp"

#include "base/suggest.hpp"
#include "profiles/launch_line.hpp"
#include "profiles/launch_sums.hpp"
#include "profiles/run_fields.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace eyeroof::profiles {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxTextBytes = 1 << 20; // of one line's string; names are far below
constexpr std::size_t kMaxErrors = 20;

// Reads one record's fields, collecting what is wrong with them.
class Fields {
  public:
    Fields(const Json& json, std::string name, const SourceLocation& where, Diagnostics& found)
        : json_(json), name_(std::move(name)), where_(where), found_(found) {}

    void text(const char* key, std::string& value) const {
        if (const Json* json = find(key, &Json::is_string, "text")) {
            value = json->get<std::string>();
            if (value.size() > kMaxTextBytes) {
                error(key, "is longer than 1 MiB");
            }
        }
    }
    void number(const char* key, double& value) const {
        if (const Json* json = find(key, &Json::is_number, "a number")) {
            value = json->get<double>();
        }
    }
    void flag(const char* key, bool& value) const {
        if (const Json* json = find(key, &Json::is_boolean, "true or false")) {
            value = json->get<bool>();
        }
    }
    template <class Int> void integer(const char* key, Int& value) const {
        const Json* json = find(key, &Json::is_number_integer, "a whole number");
        if (json == nullptr) {
            return;
        }
        const bool too_large =
            json->is_number_unsigned() && json->get<std::uint64_t>() > std::uint64_t{1} << 62U;
        const auto wide = too_large ? 0 : json->get<std::int64_t>();
        value = static_cast<Int>(wide);
        if (too_large || static_cast<std::int64_t>(value) != wide) {
            error(key, "is out of range");
        }
    }
    void dim(const char* key, Dim3& value) const {
        std::vector<std::int64_t> list;
        const Json* json = find(key, &Json::is_array, "three whole numbers");
        if (json == nullptr || !integers(key, *json, list)) {
            return;
        }
        if (list.size() != 3) {
            error(key, "is not three whole numbers");
            return;
        }
        value = {list[0], list[1], list[2]};
    }
    void texts(const char* key, std::vector<std::string>& value) const {
        if (const Json* json = find(key, &Json::is_array, "a list of text")) {
            for (const Json& item : *json) {
                if (!item.is_string()) {
                    error(key, "is not a list of text");
                    return;
                }
                value.push_back(item.get<std::string>());
            }
        }
    }
    void dims(const char* key, std::vector<std::vector<std::int64_t>>& value) const {
        if (const Json* json = find(key, &Json::is_array, "a list of lists of whole numbers")) {
            for (const Json& item : *json) {
                std::vector<std::int64_t> list;
                if (!item.is_array() || !integers(key, item, list)) {
                    error(key, "is not a list of lists of whole numbers");
                    return;
                }
                value.push_back(std::move(list));
            }
        }
    }
    void counters(const char* key, Counters& value) const {
        if (const Json* json = find(key, &Json::is_object, "an object of numbers")) {
            for (const auto& [name, number] : json->items()) {
                if (!number.is_number()) {
                    error(key, "holds '" + name + "', which is not a number");
                    return;
                }
                value[name] = number.get<double>();
            }
        }
    }
    // One warning for each name in a file.
    void tell_unread(std::set<std::string>& told) const {
        for (const auto& [key, value] : json_.items()) {
            const bool known = std::ranges::find(asked_, key) != asked_.end();
            if (!known && told.size() < kMaxErrors / 2 && told.insert(name_ + "." + key).second) {
                found_.warning(
                    "unknown-field",
                    fmt::format("'{}' of the {} record is not read", key.substr(0, 40), name_),
                    suggestion(key, asked_), where_, name_ + "." + key.substr(0, 40));
            }
        }
    }
    void require(const char* key) const {
        if (!json_.contains(key)) {
            error(key, "is missing");
        }
    }
    void error(const std::string& key, const std::string& what) const {
        found_.error("bad-field", fmt::format("'{}' of the {} record {}", key, name_, what),
                     "docs/formats.md shows each record", where_, name_ + "." + key);
    }

  private:
    const Json* find(const char* key, bool (Json::*is)() const noexcept, const char* what) const {
        asked_.emplace_back(key);
        const auto it = json_.find(key);
        if (it == json_.end()) {
            return nullptr;
        }
        if (!((*it).*is)()) {
            error(key, fmt::format("is not {}", what));
            return nullptr;
        }
        return &*it;
    }
    bool integers(const char* key, const Json& json, std::vector<std::int64_t>& list) const {
        for (const Json& item : json) {
            if (!item.is_number_integer()) {
                error(key, "holds something that is not a whole number");
                return false;
            }
            list.push_back(item.get<std::int64_t>());
        }
        return true;
    }

    const Json& json_;
    std::string name_;
    const SourceLocation& where_;
    Diagnostics& found_;
    mutable std::vector<std::string_view> asked_;
};

class Reader {
  public:
    explicit Reader(ByteSource& source) : source_(source) {}

    Result<Profile> run() {
        std::string line;
        while (found_.size() < kMaxErrors && source_.get_line(line)) {
            ++line_number_;
            source_.here(where_);
            where_.line = line_number_;
            where_.column = 1;
            if (ended_ && !line.empty()) {
                found_.error("trailing-data", "there is text after the last record",
                             "take away what follows the record `end`", where_);
                break;
            }
            if (!line.empty() && !take_launch(line) && fits(2 * line.size())) {
                read_line(line);
            }
            if (!begun_) {
                break; // the first line decides whether this is a profile
            }
        }
        return conclude();
    }

  private:
    Result<Profile> conclude() {
        where_.column = 0;
        if (!source_.failure().empty() && profile_.launches.empty()) {
            found_.error("damaged", source_.failure(), "read it again from where it comes", where_);
        }
        if (!begun_ && !found_.has_errors()) {
            found_.error("not-a-profile", "the file has no profile header",
                         "a profile is written by `eyeroof profile` or `import --save`", where_);
        }
        if (!found_.has_errors()) {
            found_.append(validate(profile_));
        }
        if (found_.has_errors()) {
            return Result<Profile>(std::move(found_));
        }
        if (!ended_) {
            tell_cut();
        }
        return {std::move(profile_), std::move(found_)};
    }

    void tell_cut() {
        const std::string why =
            !source_.failure().empty() ? source_.failure()
            : cut_line_ > 0 ? fmt::format("line {} is half written and was left out", cut_line_)
                            : "the profile has no last line";
        found_.warning("cut-off",
                       why + ": the program that was measured or the collector stopped early",
                       fmt::format("the {} launches of the whole lines before are kept",
                                   profile_.launch_count()),
                       where_);
    }

    // Whose names the next launch is likely to have.
    const Counters& before() const {
        static const Counters none;
        return profile_.launches.empty() ? none : profile_.launches.back().counters;
    }

    void keep(Launch launch) {
        ++lines_of_launches_;
        sums_.add(profile_, std::move(launch));
    }

    // Names, operators and what else is kept of each line that is no launch.
    bool fits(std::size_t bytes) {
        table_bytes_ += bytes;
        if (table_bytes_ > ProfileBuilder::kMostTableBytes) {
            found_.error("too-large", "the profile holds too many different names",
                         "profile fewer kernels (--kernel)", where_);
            return false;
        }
        return true;
    }

    // A launch as the writer writes it; anything else is read_line's.
    bool take_launch(std::string_view line) {
        auto launch = begun_ ? launch_of_line(line, before()) : std::nullopt;
        if (!launch || launch->kernel >= profile_.kernels.size() || launch->calls < 1) {
            return false;
        }
        keep(std::move(*launch));
        return true;
    }

    void read_line(const std::string& line) {
        Json json;
        try {
            json = Json::parse(line);
        } catch (const Json::parse_error& error) {
            where_.column = static_cast<int>(error.byte);
            if (begun_ && source_.peek() == ByteSource::kEnd && !source_.line_was_ended()) {
                cut_line_ = line_number_; // written half when the collector stopped
                return;
            }
            found_.error(
                "not-json", "this line is not JSON",
                "each line of a profile is one JSON object; a cut last line may be taken away",
                where_);
            return;
        } catch (const Json::exception&) { // 1e400
            found_.error("bad-number", "a number of this line does not fit",
                         "at most about 1.8e308", where_);
            return;
        }
        if (!json.is_object() || json.empty()) {
            found_.error("bad-record", "a record is a JSON object",
                         "docs/formats.md shows each record", where_);
            return;
        }
        if (!begun_) {
            read_header(json);
        } else {
            read_record(json);
        }
    }

    void read_header(const Json& json) {
        const auto version = json.find("eyeroof_profile");
        if (version == json.end()) {
            found_.error("not-a-profile", "the first line has no 'eyeroof_profile'",
                         "a profile is written by `eyeroof profile` or `import --save`", where_);
            return;
        }
        if (*version != kProfileVersion) {
            found_.error("bad-version",
                         fmt::format("this is profile version {}, and version {} is read",
                                     version->dump().substr(0, 20), kProfileVersion),
                         "another version of eyeroof wrote it", where_);
            return;
        }
        begun_ = true;
        if (const auto run = json.find("run"); run != json.end() && run->is_object()) {
            const Fields fields(*run, "run", where_, found_);
            for (const TextField& field : kTextFields) {
                fields.text(field.key, profile_.run.*field.member);
            }
            for (const NumberField& field : kNumberFields) {
                fields.number(field.key, profile_.run.*field.member);
            }
            fields.integer("sm_count", profile_.run.sm_count);
            fields.integer("ranks", profile_.run.ranks);
            fields.integer("rank", profile_.run.rank);
            fields.tell_unread(unread_);
        }
    }

    void read_record(const Json& json) {
        const std::string& kind = json.begin().key();
        const Json& body = json.begin().value();
        if (json.size() != 1) {
            found_.error("bad-record", "a record has exactly one key, its kind",
                         "docs/formats.md shows each record", where_);
        } else if (kind == "launch" && body.is_object()) {
            read_launch(body);
        } else if (kind == "copy" && body.is_object()) {
            read_copy(body);
        } else if (kind == "kernel" && body.is_object()) {
            read_kernel(body);
        } else if (kind == "operator" && body.is_object()) {
            read_operator(body);
        } else if (kind == "ceiling" && body.is_object()) {
            read_ceiling(body);
        } else if (kind == "range" && body.is_string()) {
            profile_.ranges.push_back(body.get<std::string>());
        } else if (kind == "source" && body.is_string()) {
            profile_.sources.push_back(body.get<std::string>());
        } else if (kind == "note" && body.is_string()) {
            profile_.notes.push_back(body.get<std::string>());
        } else if (kind == "end" && body.is_object()) {
            read_end(body);
        } else {
            found_.error("bad-record",
                         fmt::format("'{}' is not a record of this version", kind.substr(0, 40)),
                         "docs/formats.md shows each record", where_);
        }
    }

    void read_kernel(const Json& json) {
        const Fields fields(json, "kernel", where_, found_);
        Kernel kernel;
        fields.require("name");
        fields.text("name", kernel.name);
        fields.text("mangled", kernel.mangled);
        fields.tell_unread(unread_);
        profile_.kernels.push_back(std::move(kernel));
    }

    void read_ceiling(const Json& json) {
        const Fields fields(json, "ceiling", where_, found_);
        Ceiling ceiling;
        fields.require("name");
        fields.require("value");
        fields.text("name", ceiling.name);
        fields.text("level", ceiling.level);
        fields.text("precision", ceiling.precision);
        fields.text("pipe", ceiling.pipe);
        fields.text("how", ceiling.how);
        fields.number("value", ceiling.value);
        fields.number("median", ceiling.median);
        fields.number("spread", ceiling.spread);
        fields.integer("trials", ceiling.trials);
        fields.tell_unread(unread_);
        if (!(ceiling.value > 0.0) || !(ceiling.median >= 0.0)) {
            fields.error("value", "is not a positive number");
        }
        profile_.ceilings.push_back(std::move(ceiling));
    }

    void read_operator(const Json& json) {
        const Fields fields(json, "operator", where_, found_);
        Operator op;
        fields.require("name");
        fields.text("name", op.name);
        fields.dims("input_dims", op.input_dims);
        fields.dims("input_strides", op.input_strides);
        fields.texts("input_types", op.input_types);
        fields.texts("concrete_inputs", op.concrete_inputs);
        fields.text("borrowed_from", op.borrowed_from);
        if (const auto listed = json.find("listed"); listed != json.end()) {
            read_listed(*listed, fields, op);
        }
        profile_.operators.push_back(std::move(op));
    }

    void read_listed(const Json& json, const Fields& fields, Operator& op) {
        if (!json.is_array()) {
            fields.error("listed", "is not a list of tensors");
            return;
        }
        for (const Json& item : json) {
            const Fields each(item, "listed", where_, found_);
            const auto dims = item.is_object() ? item.find("dims") : item.end();
            if (!item.is_object() || dims == item.end() || !dims->is_array()) {
                fields.error("listed", "holds something that is no tensor");
                return;
            }
            ListedTensor tensor;
            each.integer("argument", tensor.argument);
            for (const Json& dim : *dims) {
                if (!dim.is_number_integer()) {
                    fields.error("listed", "holds a dimension that is no whole number");
                    return;
                }
                tensor.dims.push_back(dim.get<std::int64_t>());
            }
            op.listed.push_back(std::move(tensor));
        }
    }

    void read_copy(const Json& json) {
        const Fields fields(json, "copy", where_, found_);
        DeviceCopy copy;
        std::string kind;
        fields.require("kind");
        fields.text("kind", kind);
        fields.integer("source", copy.source);
        fields.integer("bytes", copy.bytes);
        fields.integer("stream", copy.stream);
        fields.integer("device", copy.device);
        fields.integer("start_ns", copy.start_ns);
        fields.integer("called_ns", copy.called_ns);
        fields.integer("step", copy.step);
        fields.number("duration_ns", copy.duration_ns);
        fields.flag("pageable", copy.pageable);
        fields.tell_unread(unread_);
        if (const auto known = copy_kind_from_name(kind)) {
            copy.kind = *known;
        } else {
            fields.error("kind", "is none of h2d, d2h, d2d, peer, fill");
        }
        if (profile_.copies.size() >= kMostLaunches) {
            fields.error("kind", "is one copy too many: at most 250,000 are read");
        } else {
            profile_.copies.push_back(copy);
        }
    }

    void read_launch(const Json& json) {
        const Fields fields(json, "launch", where_, found_);
        Launch launch;
        fields.require("kernel");
        fields.integer("kernel", launch.kernel);
        fields.integer("source", launch.source);
        fields.integer("op", launch.op);
        fields.integer("range", launch.range);
        fields.integer("leaf", launch.leaf);
        fields.integer("leaf_call", launch.leaf_call);
        fields.integer("module", launch.module);
        fields.flag("backward", launch.backward);
        fields.integer("called_ns", launch.called_ns);
        fields.integer("step", launch.step);
        fields.integer("op_call", launch.op_call);
        fields.integer("range_call", launch.range_call);
        fields.dim("grid", launch.grid);
        fields.dim("block", launch.block);
        fields.integer("stream", launch.stream);
        fields.integer("device", launch.device);
        fields.integer("start_ns", launch.start_ns);
        fields.number("duration_ns", launch.duration_ns);
        fields.flag("under_replay", launch.under_replay);
        fields.integer("calls", launch.calls);
        fields.counters("counters", launch.counters);
        fields.tell_unread(unread_);
        if (launch.kernel >= profile_.kernels.size()) {
            fields.error("kernel", "names a kernel that no line before has described");
        }
        if (launch.calls < 1) {
            fields.error("calls", "is no number of launches");
        }
        keep(std::move(launch));
    }

    void read_end(const Json& json) {
        const Fields fields(json, "end", where_, found_);
        std::int64_t launches = -1;
        fields.integer("launches", launches);
        ended_ = true;
        if (launches != lines_of_launches_) {
            found_.error("count-differs",
                         fmt::format("the last line counts {} launches, the file holds {}",
                                     launches, lines_of_launches_),
                         "lines were lost or added", where_);
        }
    }

    ByteSource& source_;
    Profile profile_;
    LaunchSums sums_;
    std::int64_t lines_of_launches_ = 0;
    std::size_t table_bytes_ = 0;
    Diagnostics found_;
    SourceLocation where_;
    int line_number_ = 0;
    bool begun_ = false;
    bool ended_ = false;
    std::set<std::string> unread_;
    int cut_line_ = 0; // the half line at the end, if there is one
};

} // namespace

Result<Profile> read_profile(ByteSource& source) {
    return Reader(source).run();
}

bool looks_like_profile(std::string_view head) {
    return head.substr(0, head.find('\n')).find("\"eyeroof_profile\"") != std::string_view::npos;
}

} // namespace eyeroof::profiles
