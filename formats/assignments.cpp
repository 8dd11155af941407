#include "formats/assignments.hpp"

#include "hwdb/yaml.hpp"

#include <yaml-cpp/yaml.h>

namespace eyeroof::formats {

namespace {

using Assignments = Result<std::vector<profiles::ManualAssignment>>;

Assignments read_assignments(Result<hwdb::Document> document) {
    if (!document) {
        return Assignments(document.diagnostics());
    }
    const hwdb::Node root = document->root();
    root.need("eyeroof_assignments").integer({1, 1});
    std::vector<profiles::ManualAssignment> assignments;
    for (const hwdb::Node& item : root.need("assign").items(1)) {
        profiles::ManualAssignment assignment;
        assignment.layer = item.need("layer").text().value_or("");
        assignment.kernel_regex = item["kernel"].text().value_or("");
        assignment.range = item["range"].text().value_or("");
        if (!item.has("kernel") && !item.has("range")) {
            item.error("missing-key", "an assignment names kernels, ranges or both",
                       "add 'kernel' or 'range'");
        }
        assignments.push_back(std::move(assignment));
    }
    return document->conclude(std::move(assignments));
}

} // namespace

Assignments parse_assignments(std::string text, std::string file) {
    return read_assignments(hwdb::parse_yaml(std::move(text), std::move(file)));
}

Assignments load_assignments(const std::filesystem::path& path) {
    return read_assignments(hwdb::load_yaml(path));
}

std::string write_assignments(const std::vector<profiles::ManualAssignment>& assignments) {
    YAML::Emitter out;
    out << YAML::BeginMap << YAML::Key << "eyeroof_assignments" << YAML::Value << 1;
    out << YAML::Key << "assign" << YAML::Value << YAML::BeginSeq;
    for (const profiles::ManualAssignment& assignment : assignments) {
        out << YAML::Flow << YAML::BeginMap << YAML::Key << "layer" << YAML::Value
            << YAML::DoubleQuoted << assignment.layer;
        if (!assignment.kernel_regex.empty()) {
            out << YAML::Key << "kernel" << YAML::Value << YAML::DoubleQuoted
                << assignment.kernel_regex;
        }
        if (!assignment.range.empty()) {
            out << YAML::Key << "range" << YAML::Value << YAML::DoubleQuoted << assignment.range;
        }
        out << YAML::EndMap;
    }
    out << YAML::EndSeq << YAML::EndMap;
    return std::string(out.c_str()) + "\n";
}

} // namespace eyeroof::formats
