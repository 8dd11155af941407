#pragma once
// Tables of measurements in the shared folder, where it is present, and errors against them.
#include "tests/paths.hpp"

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace eyeroof::tests {

using PublishedRow = std::map<std::string, std::string>;

// Rows of gpu/NAME.csv.gz by column; none where the folder is absent. No cell has a quoted comma.
inline std::vector<PublishedRow> published_rows(const std::string& name) {
    std::vector<PublishedRow> rows;
    gzFile file = gzopen((shared_data_dir() + "/gpu/" + name + ".csv.gz").c_str(), "rb");
    if (file == nullptr) {
        return rows;
    }
    std::vector<std::string> head;
    std::string line(1 << 16, '\0');
    while (gzgets(file, line.data(), static_cast<int>(line.size())) != nullptr) {
        std::istringstream cells(line.substr(0, line.find_first_of("\r\n")));
        std::vector<std::string> row;
        for (std::string cell; std::getline(cells, cell, ',');) {
            row.push_back(cell);
        }
        if (head.empty()) {
            head = row;
            continue;
        }
        PublishedRow named;
        for (std::size_t i = 0; i < std::min(head.size(), row.size()); ++i) {
            named[head[i]] = row[i];
        }
        rows.push_back(std::move(named));
    }
    gzclose(file);
    return rows;
}

// Ratios predicted / published of a group of rows.
struct Ratios {
    std::vector<double> values;
    void add(double predicted, double published) { values.push_back(predicted / published); }
    double error() const { // mean absolute
        double sum = 0.0;
        for (const double v : values) {
            sum += std::abs(v - 1.0);
        }
        return values.empty() ? 0.0 : sum / static_cast<double>(values.size());
    }
    double quantile(double q) const {
        std::vector<double> sorted = values;
        std::sort(sorted.begin(), sorted.end());
        return sorted.empty() ? 1.0
                              : sorted[static_cast<std::size_t>(
                                    q * static_cast<double>(sorted.size() - 1) + 0.5)];
    }
    double within(double factor) const {
        const auto near = std::count_if(values.begin(), values.end(),
                                        [&](double v) { return v <= factor && v >= 1.0 / factor; });
        return values.empty() ? 1.0
                              : static_cast<double>(near) / static_cast<double>(values.size());
    }
    // Share of the published figures between low and high times the prediction.
    double covered(double low, double high) const {
        const auto inside = std::count_if(values.begin(), values.end(), [&](double v) {
            return 1.0 / v >= low && 1.0 / v <= high;
        });
        return values.empty() ? 1.0
                              : static_cast<double>(inside) / static_cast<double>(values.size());
    }
};

} // namespace eyeroof::tests
