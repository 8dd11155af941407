#include "report/step/memory_answer.hpp"

#include "base/lines.hpp"
#include "base/units.hpp"
#include "report/step/step_scenes.hpp"

#include <fmt/format.h>

#include <array>

namespace eyeroof::report {

namespace {

using analysis::step::Operand;
using analysis::step::Streamed;

constexpr std::array<const char*, analysis::step::kHolders> kKeys = {
    "inputs",      "state",     "weights",          "optimizer",
    "activations", "gradients", "weight_gradients", "workspace"};

std::string amount_of(Count bytes) {
    return format_si(static_cast<double>(bytes), "B", 4);
}

std::string operand_name(Operand operand) {
    return operand == Operand::weights ? "weights" : "activations";
}

std::string fit_text(const MemoryReport& r) {
    const Count peak = r.memory().peak;
    return r.fits()
               ? fmt::format("It fits: {} of {} free", amount_of(r.limit - peak),
                             amount_of(r.limit))
               : fmt::format("It does not fit: {} over the {} available{}",
                             amount_of(peak - r.limit), amount_of(r.limit),
                             r.memory().resident > r.limit ? "; weights and states alone are " +
                                                                 amount_of(r.memory().resident)
                                                           : std::string());
}

std::string stream_text(const MemoryReport& r) {
    const Streamed& s = r.streamed;
    return s.streamed == 0
               ? fmt::format("No {} need to stream from the host", operand_name(*r.operand))
               : fmt::format("Streamed from the host: {} of {} of {}, over {}; a step of {}, {} "
                             "without copies",
                             amount_of(s.streamed), amount_of(s.of), operand_name(*r.operand),
                             format_si(r.link_bytes_per_s, "B/s"), format_si(s.time_s, "s"),
                             format_si(s.alone_s, "s"));
}

std::vector<std::string> memory_sentences(const MemoryReport& r) {
    std::vector<std::string> lines = {fit_text(r)};
    if (r.largest_batch) {
        lines.push_back(*r.largest_batch > 0
                            ? fmt::format("Largest batch that fits: {}", *r.largest_batch)
                            : std::string("No batch fits"));
    }
    if (r.operand) {
        lines.push_back(stream_text(r));
    }
    return lines;
}

void add_streamed(std::vector<Figure>& figures, const MemoryReport& r) {
    const Streamed& s = r.streamed;
    const auto add = [&](const char* key, const char* title, const auto& value, Unit unit,
                         const char* meaning) {
        const bool shown = r.operand && s.streamed > 0;
        figures.emplace_back(std::string("streamed.") + key, shown ? title : "",
                             r.operand ? std::optional(value) : std::nullopt, unit, kAll, meaning);
    };
    add("operand", "", r.operand ? operand_name(*r.operand) : std::string(), Unit::none,
        "weights or activations; null without --stream, as all below");
    add("streamed_bytes", "", s.streamed, Unit::bytes, "of tensors that leave the device");
    add("operand_bytes", "", s.of, Unit::bytes, "of those that could");
    add("tensors", "", s.tensors, Unit::count, "that leave");
    add("largest_copy_bytes", "largest copy", s.part, Unit::bytes, "");
    add("to_device_bytes", "host to device", s.to_device, Unit::bytes, "a step");
    add("to_host_bytes", "device to host", s.to_host, Unit::bytes, "a step");
    add("link_bytes_per_s", "", r.link_bytes_per_s, Unit::bytes_per_s, "");
    add("time_s", "", s.time_s, Unit::seconds, "of the step");
    add("alone_s", "", s.alone_s, Unit::seconds, "of the step without copies");
    add("exposed_s", "exposed copies", s.exposed_s(), Unit::seconds, "the difference of both");
}

std::vector<Figure> memory_figures(const MemoryReport& r) {
    const analysis::step::Memory& m = r.memory();
    const auto& operators = r.graph().operators;
    std::vector<Figure> figures = {
        {"network", "", r.graph().id},
        {"machine", "", r.report.machine.id},
        {"phase", "", r.report.scenario.training ? "training" : "inference", Unit::none, kPrograms,
         "inference or training"},
        {"", "operators", operators.size(), Unit::count, kPeople},
        {"chain", "", r.graph().chain, Unit::none, kPrograms,
         "no graph was given: each layer reads the one before it"},
        {"parameters", "parameters", m.parameters, Unit::none, kAll,
         "learned values, shared ones once"},
        {"gradient_bytes", "", m.gradients, Unit::bytes, kPrograms,
         "of the weights' gradients, in training"},
        {"peak_bytes", "peak", m.peak, Unit::bytes},
        {"peak_at", "at", operators.empty() ? "" : r.graph().name_of(operators[m.peak_at]),
         Unit::none, kAll, "the operator at which it is reached"},
        {"resident_bytes", "resident", m.resident, Unit::bytes, kAll,
         "weights, optimizer, states: there all the time"},
        {"limit_bytes", "available", r.limit, Unit::bytes},
        {"fits", "", r.fits(), Unit::none, kPrograms},
        {"largest_batch", "", r.largest_batch, Unit::count, kPrograms,
         "samples, as --batch takes them; 0: not one batch fits; null: not asked"}};
    for (std::size_t h = 0; h < analysis::step::kHolders; ++h) {
        figures.emplace_back(fmt::format("at_peak.{}_bytes", kKeys[h]), "", m.at_peak[h],
                             Unit::bytes, kPrograms);
    }
    add_streamed(figures, r);
    return figures;
}

struct Role {
    std::string name;
    Count bytes = 0;
    double share = 0.0;
};

// What people see of `at_peak`.
AnswerTable roles_of(const MemoryReport& r) {
    const analysis::step::Memory& m = r.memory();
    std::vector<Role> roles;
    for (std::size_t h = 0; h < analysis::step::kHolders; ++h) {
        if (m.at_peak[h] > 0) {
            roles.push_back({std::string(analysis::step::holder_text(h)), m.at_peak[h],
                             static_cast<double>(m.at_peak[h]) / static_cast<double>(m.peak)});
        }
    }
    return make_table<Role>("", "Peak by role", roles,
                            {{"", "role", Unit::none, &Role::name},
                             {"", "bytes", Unit::bytes, &Role::bytes},
                             {"", "share", Unit::share, &Role::share}});
}

AnswerTable holders_of(const MemoryReport& r) {
    using analysis::step::Holder;
    const auto name = [&r](const Holder& holder) {
        return r.graph().name_of(r.graph().tensors[holder.tensor]);
    };
    AnswerTable made = make_table<Holder>(
        "holders", "Largest at the peak", r.memory().holders,
        {{"name", "tensor", Unit::none, name}, {"bytes", "bytes", Unit::bytes, &Holder::bytes}});
    made.most_for_people = 10;
    return made;
}

AnswerTable waits_of(const MemoryReport& r) {
    using Wait = std::pair<analysis::step::OperatorId, double>;
    const auto name = [&r](const Wait& wait) {
        return r.graph().name_of(r.graph().operators[wait.first]);
    };
    AnswerTable made =
        make_table<Wait>("streamed.waits", "Operators that wait for copies", r.streamed.waits,
                         {{"operator", "operator", Unit::none, name},
                          {"wait_s", "wait", Unit::seconds, &Wait::second}});
    made.most_for_people = 5;
    return made;
}

AnswerTable memory_curve(const MemoryReport& r) {
    struct Point {
        std::string name;
        const analysis::step::Bytes* bytes;
    };
    std::vector<Point> points;
    for (std::size_t i = 0; i < r.memory().at.size(); ++i) {
        points.push_back({r.graph().name_of(r.graph().operators[i]), &r.memory().at[i]});
    }
    std::vector<Column<Point>> columns = {
        {"operator", "", Unit::none, &Point::name},
        {"bytes", "", Unit::bytes,
         [](const Point& p) { return analysis::step::total_of(*p.bytes); }, kPrograms}};
    for (std::size_t h = 0; h < analysis::step::kHolders; ++h) {
        columns.emplace_back(
            std::string(kKeys[h]) + "_bytes", "", Unit::bytes,
            [h](const Point& p) { return (*p.bytes)[h]; }, kPrograms);
    }
    return make_table("curve", "", points, columns);
}

} // namespace

Answer memory_answer(const MemoryReport& r) {
    Answer a;
    a.schema = "eyeroof/memory/1";
    a.title = "Memory over a step of " + r.graph().id;
    a.question = r.report.words;
    a.sentences = memory_sentences(r);
    // Allocators lose 5 to 15 % to fragmentation (unsourced).
    if (r.fits() && static_cast<double>(r.memory().peak) * 1.1 > static_cast<double>(r.limit)) {
        a.warnings.emplace_back("with a tenth lost to fragmentation it would not fit");
    }
    a.figures = memory_figures(r);
    a.tables = {roles_of(r), holders_of(r), waits_of(r), memory_curve(r)};
    a.rows = "curve";
    if (r.graph().chain) {
        a.notes.emplace_back("The network has no graph: its layers form a chain, and no tensor is "
                             "kept for a later addition");
    }
    a.picture = [r](const Canvas& canvas) { return draw_memory(r, canvas); };
    return a;
}

} // namespace eyeroof::report
