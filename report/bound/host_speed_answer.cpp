#include "report/bound/host_speed_answer.hpp"

#include <fmt/format.h>

namespace eyeroof::report {

Answer host_speed_answer(const analysis::HostSpeed& speed, const std::string& host,
                         double measured_s) {
    using analysis::HostSpeed;
    struct Row {
        std::string host;
        HostSpeed speed;
        double measured_s = 0.0;
    };
    const auto of = [](double HostSpeed::*member) {
        return [member](const Row& row) { return row.speed.*member; };
    };
    std::vector<Column<Row>> columns = {
        {"host", "host", Unit::none, &Row::host, kAll, "that the speed multiplies"},
        {"host_speed", "speed", Unit::times, of(&HostSpeed::speed), kAll,
         "as --host-speed takes it"},
        {"low", "least", Unit::times, of(&HostSpeed::low)},
        {"high", "most", Unit::times, of(&HostSpeed::high)},
        {"measured_s", "measured", Unit::seconds, &Row::measured_s},
        {"kernels_s", "kernels", Unit::seconds, of(&HostSpeed::kernels_s), kAll,
         "of the program without a host, predicted"}};
    const Row row{host, speed, measured_s};
    Answer a;
    a.schema = "eyeroof/host-speed/1";
    a.title = "Speed of a host";
    a.sentences = {fmt::format("--host-speed {:.2f} ({:.2f} to {:.2f} times {})", speed.speed,
                               speed.low, speed.high, host)};
    a.tables = {make_table<Row>("", "", {row}, columns)};
    for (Column<Row>& column : columns) {
        column.head.where = kJson; // people and CSV have the row
    }
    add_figures(a.figures, row, columns);
    return a;
}

} // namespace eyeroof::report
