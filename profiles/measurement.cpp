#include "profiles/measurement.hpp"

#include <fmt/format.h>

#include <cmath>

namespace eyeroof::profiles {

const Operator* Profile::operator_of(const Launch& launch) const {
    return launch.op == kNone ? nullptr : &operators[static_cast<std::size_t>(launch.op)];
}

std::string_view Profile::range_of(const Launch& launch) const {
    return launch.range == kNone ? std::string_view{}
                                 : std::string_view{ranges[static_cast<std::size_t>(launch.range)]};
}

namespace {

bool index_ok(std::int32_t index, std::size_t size) {
    return index == kNone || (index >= 0 && static_cast<std::size_t>(index) < size);
}

void validate_launch(const Profile& profile, std::size_t number, model::Diagnostics& found) {
    const Launch& launch = profile.launches[number];
    const auto field = [number](const char* name) {
        return fmt::format("launches[{}].{}", number, name);
    };
    const auto index = [&](bool fits, const char* what, const char* list, const char* name) {
        if (!fits) {
            found.error("bad-index",
                        fmt::format("the launch names {} that is not in the profile", what),
                        fmt::format("its number counts the {} of this profile from 0", list), {},
                        field(name));
        }
    };
    index(launch.kernel < profile.kernels.size(), "a kernel", "kernels", "kernel");
    index(index_ok(launch.op, profile.operators.size()), "an operator", "operators", "op");
    index(index_ok(launch.range, profile.ranges.size()), "a range", "ranges", "range");
    index(launch.source < profile.sources.size(), "a source", "sources", "source");
    const bool unknown = launch.duration_ns == kUnknown;
    if (!std::isfinite(launch.duration_ns) || (launch.duration_ns < 0.0 && !unknown)) {
        found.error("bad-number", "the duration is not a time", "nanoseconds, from 0 on", {},
                    field("duration_ns"));
    }
    for (const auto& [name, value] : launch.counters) {
        if (!std::isfinite(value)) {
            found.error("bad-number", fmt::format("counter {} is not a number", name),
                        "a counter is a finite number", {}, field("counters"));
        }
    }
}

template <class Map> std::int32_t intern(Map& map, std::string_view key, std::size_t next) {
    const auto it = map.find(key);
    if (it != map.end()) {
        return static_cast<std::int32_t>(it->second);
    }
    using Index = typename Map::mapped_type;
    map.emplace(std::string(key), static_cast<Index>(next));
    return kNone; // the caller appends
}

void make_key(const Operator& op, std::string& key) {
    key = op.name;
    for (const auto& dims : op.input_dims) {
        key += '|';
        for (const std::int64_t dim : dims) {
            fmt::format_to(std::back_inserter(key), "{},", dim);
        }
    }
    for (const auto& type : op.input_types) {
        key.append("\x1e").append(type);
    }
    for (const auto& input : op.concrete_inputs) {
        key.append("\x1f").append(input);
    }
}

} // namespace

model::Diagnostics validate(const Profile& profile) {
    model::Diagnostics found;
    for (std::size_t i = 0; i < profile.launches.size(); ++i) {
        validate_launch(profile, i, found);
    }
    return found;
}

std::uint32_t ProfileBuilder::kernel(std::string_view name, std::string_view mangled) {
    key_.assign(name).append(1, '\0').append(mangled);
    const std::int32_t known = intern(kernels_, key_, profile.kernels.size());
    if (known != kNone) {
        return static_cast<std::uint32_t>(known);
    }
    profile.kernels.push_back({std::string(name), std::string(mangled)});
    return static_cast<std::uint32_t>(profile.kernels.size() - 1);
}

std::int32_t ProfileBuilder::op(const Operator& op) {
    make_key(op, key_);
    const std::int32_t known = intern(operators_, key_, profile.operators.size());
    if (known != kNone) {
        return known;
    }
    profile.operators.push_back(op);
    return static_cast<std::int32_t>(profile.operators.size() - 1);
}

std::int32_t ProfileBuilder::range(std::string_view text) {
    if (text.empty()) {
        return kNone;
    }
    const std::int32_t known = intern(ranges_, text, profile.ranges.size());
    if (known != kNone) {
        return known;
    }
    profile.ranges.emplace_back(text);
    return static_cast<std::int32_t>(profile.ranges.size() - 1);
}

std::uint32_t ProfileBuilder::source(std::string_view file) {
    const std::int32_t known = intern(sources_, file, profile.sources.size());
    if (known != kNone) {
        return static_cast<std::uint32_t>(known);
    }
    profile.sources.emplace_back(file);
    return static_cast<std::uint32_t>(profile.sources.size() - 1);
}

} // namespace eyeroof::profiles
