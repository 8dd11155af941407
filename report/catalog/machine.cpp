#include "report/catalog/machine.hpp"

#include "analysis/step/pruning.hpp"
#include "base/figures.hpp"
#include "base/lines.hpp"
#include "base/operation_rate.hpp"
#include "base/units.hpp"
#include "hwdb/accelerator_reader.hpp"
#include "report/answer/write.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace eyeroof::report {

namespace {

using model::Accelerator, model::Channel, model::Gpu, model::Level, model::Operand, model::Store;

std::vector<std::string> operands_of(model::OperandSet operands) {
    std::vector<std::string> names;
    for (const Operand o : model::kAllOperands) {
        if (operands.contains(o)) {
            names.emplace_back(operand_name(o));
        }
    }
    return names;
}

std::string joined_operands(model::OperandSet operands) {
    return fmt::format("{}", fmt::join(operands_of(operands), "+"));
}

std::optional<double> positive(double value) {
    return value > 0.0 ? std::optional(value) : std::nullopt;
}

// A key for each operand that `of` knows in a row.
template <class T, class Row, class Of> std::vector<Column<Row>> per_operand(Of of) {
    std::vector<Column<Row>> columns;
    for (const Operand o : model::kAllOperands) {
        columns.push_back({std::string(operand_name(o)),
                           [of, o](const Row& row) { return std::optional<T>(of(row, o)); }});
    }
    return absent_if_unknown(std::move(columns));
}

// One number, or one for each operand where they differ.
Column<Store> energy(const char* key, double (Store::*of)(Operand) const) {
    const auto columns = per_operand<double, Store>([of](const Store& store, Operand o) {
        return store.operands.contains(o) ? std::optional((store.*of)(o)) : std::nullopt;
    });
    auto made = object<Store, Store>(
        key, [](const Store& store) { return std::optional(store); }, columns, "of a word");
    made.head.kind = Kind::number_or_table;
    made.head.absent = false;
    made.of = [of, whole = made.of](const Store& store) {
        std::set<double> different;
        for (const Operand o : model::kAllOperands) {
            if (store.operands.contains(o)) {
                different.insert((store.*of)(o));
            }
        }
        return different.size() == 1 ? Value(*different.begin()) : whole(store);
    };
    return made;
}

// For people "unlimited" where a program reads null.
template <class Row, class T>
void add_limit(std::vector<Column<Row>>& columns, const char* key, const char* title, Unit unit,
               T Row::*member) {
    const auto text = [unit, member](const Row& row) {
        const Value value = value_of(row.*member);
        return std::holds_alternative<std::monostate>(value) ? std::string("unlimited")
                                                             : value_text(value, unit);
    };
    Column<Row> column(key, member);
    column.head.may_miss = true;
    columns.push_back(std::move(column));
    columns.push_back({"", title, Unit::none, text, kPeople});
}

std::string energies_text(const Store& store) {
    const bool alike = store.own_read_pj == model::PerOperand<std::optional<double>>{} &&
                       store.own_write_pj == store.own_read_pj;
    std::string text;
    for (const Operand o : model::kAllOperands) {
        if (store.operands.contains(o) && (text.empty() || !alike)) {
            text += fmt::format("{}{}{:.4g} pJ read, {:.4g} pJ write", text.empty() ? "" : ", ",
                                alike ? "" : std::string(operand_name(o)) + " ",
                                store.read_pj_of(o), store.write_pj_of(o));
        }
    }
    return text + (store.leak_pj > 0.0 ? fmt::format(", leaks {:g} pJ/cycle", store.leak_pj) : "");
}

std::vector<Column<Store>> store_columns() {
    std::vector<Column<Store>> columns = {
        {"operands", [](const Store& s) { return operands_of(s.operands); }},
        {"", "store of", Unit::none, [](const Store& s) { return joined_operands(s.operands); },
         kPeople}};
    add_limit(columns, "capacity_bytes", "capacity", Unit::iec_bytes, &Store::capacity_bytes);
    const auto banks_text = [](const Store& s) {
        return s.bank_bytes > 1 ? value_text(value_of(s.bank_bytes), Unit::iec_bytes)
                                : std::string();
    };
    const std::vector<Column<Store>> banks = {{"bank_bytes", &Store::bank_bytes},
                                              {"", "banks of", Unit::none, banks_text, kPeople},
                                              {"buffers", "buffers", Unit::count, &Store::buffers}};
    columns.insert(columns.end(), banks.begin(), banks.end());
    add_limit(columns, "read_bytes_per_cycle", "read B/cycle", Unit::none,
              &Store::read_bytes_per_cycle);
    add_limit(columns, "write_bytes_per_cycle", "write B/cycle", Unit::none,
              &Store::write_bytes_per_cycle);
    Column<Store> update("update_energy_pj", &Store::update_pj);
    update.head.absent = true;
    const std::vector<Column<Store>> more = {
        {"prefetch", "prefetches", Unit::none, &Store::prefetch},
        {"leakage_pj_per_cycle", &Store::leak_pj},
        energy("read_energy_pj", &Store::read_pj_of),
        energy("write_energy_pj", &Store::write_pj_of),
        {"", "energy", Unit::sentence, energies_text, kPeople, "of a word"},
        {"may_bypass", &Store::may_bypass},
        update};
    columns.insert(columns.end(), more.begin(), more.end());
    return columns;
}

// "ddr4-3200 x 2: 51.2 GB/s peak; in runs of 64 B 45 % of it (bursts 100 %, …)", or
// "mesh of links of 8 B/cycle, 4 pJ a word delivered".
std::string wires_text(const Channel& channel) {
    if (!channel.dram) {
        return channel.wires ? fmt::format("{} of links of {:.4g} B/cycle, {:.4g} pJ a word "
                                           "delivered",
                                           model::wire_shape_name(channel.wires->topology),
                                           channel.wires->link_bytes_per_cycle, channel.hop_pj)
                             : std::string();
    }
    const model::DramLink& link = *channel.dram;
    const model::DramRate rate = model::rate_of(link);
    const double reached = 100.0 * rate.bytes_per_s() / rate.peak_bytes_per_s;
    const std::string text = fmt::format("{} x {}: {} peak; ", link.standard, link.channels,
                                         format_si(rate.peak_bytes_per_s, "B/s"));
    if (link.by_mapping) {
        return text + fmt::format("a stream reaches {:.3g} % of it, a mapping what its tiles allow "
                                  "(tensors {})",
                                  reached,
                                  link.layout == model::TensorLayout::channels_last
                                      ? "channels last"
                                      : "channels first");
    }
    const Count run =
        link.run_bytes > 0 ? link.run_bytes : model::dram_standard(link.standard)->row_bytes;
    return text + fmt::format("in runs of {} {:.3g} % of it (bursts {:.3g} %, bank groups {:.3g} "
                              "%, rows {:.3g} %, refresh {:.3g} %)",
                              format_iec(static_cast<double>(run), "B"), reached,
                              100.0 * rate.burst_share, 100.0 * rate.group_share,
                              100.0 * rate.row_share, 100.0 * rate.refresh_share);
}

std::vector<Column<Channel>> channel_columns() {
    using model::DramLink, model::DramRate;
    const auto rate = [](double DramRate::*member) {
        return [member](const DramLink& link) { return model::rate_of(link).*member; };
    };
    const std::vector<Column<DramLink>> dram = {
        {"standard", &DramLink::standard},
        {"channels", &DramLink::channels},
        {"run_bytes", &DramLink::run_bytes},
        {"pattern", [](const DramLink& d) { return d.by_mapping ? "mapping" : "stated"; }},
        {"peak_bytes_per_s", rate(&DramRate::peak_bytes_per_s)},
        {"bytes_per_s", [](const DramLink& d) { return model::rate_of(d).bytes_per_s(); }}};
    const auto topology = [](const Channel& c) {
        return c.wires ? std::optional(std::string(model::wire_shape_name(c.wires->topology)))
                       : std::nullopt;
    };
    std::vector<Column<Channel>> columns = {
        {"name", "channel", Unit::none, &Channel::name},
        {"operands", [](const Channel& c) { return operands_of(c.operands); }},
        {"", "carries", Unit::none, [](const Channel& c) { return joined_operands(c.operands); },
         kPeople}};
    add_limit(columns, "down_bytes_per_cycle", "down B/cycle", Unit::none,
              &Channel::down_bytes_per_cycle);
    add_limit(columns, "up_bytes_per_cycle", "up B/cycle", Unit::none,
              &Channel::up_bytes_per_cycle);
    const std::vector<Column<Channel>> more = {
        {"half_duplex", "half duplex", Unit::none, &Channel::half_duplex},
        {"cast", "cast", Unit::none, [](const Channel& c) { return hwdb::cast_name(c.cast); }},
        {"reduces", &Channel::reduces},
        {"adds_at_once", &Channel::adds_at_once},
        {"forwards", &Channel::forwards},
        {"hop_energy_pj", &Channel::hop_pj},
        {"bits_per_nonzero", &Channel::bits_per_nonzero},
        {"", "made of", Unit::sentence, wires_text, kPeople},
        null_if_unknown(object<Channel, DramLink>("dram", &Channel::dram, dram)),
        {"topology", topology}};
    columns.insert(columns.end(), more.begin(), more.end());
    return columns;
}

struct LevelRow {
    Level level;
    Count instances = 1;
};

std::vector<Column<LevelRow>> memory_columns() {
    const auto of = [](auto Level::*member) {
        return [member](const LevelRow& row) { return row.level.*member; };
    };
    const auto fanout = [](const LevelRow& row) {
        std::vector<std::string> axes;
        for (const model::Axis& axis : row.level.fanout) {
            axes.push_back(fmt::format("{} {}", axis.name, axis.size));
        }
        return fmt::format("{}", fmt::join(axes, " x "));
    };
    const auto bits = per_operand<int, LevelRow>([](const LevelRow& row, Operand o) {
        const int own = row.level.word_bits[index(o)];
        return own > 0 ? std::optional(own) : std::nullopt;
    });
    return {
        {"name", "level", Unit::none, of(&Level::name)},
        {"", "instances", Unit::count, &LevelRow::instances, kPeople},
        object<LevelRow, LevelRow>(
            "word_bits", [](const LevelRow& row) { return std::optional(row); }, bits,
            "where they differ from those of the machine"),
        {"keeps_between_layers", "keeps activations", Unit::none, of(&Level::keeps_between_layers),
         kAll, "activations that fit here never travel further out"},
        {"keeps_weights", "keeps weights", Unit::none, of(&Level::keeps_weights), kAll,
         "weights that fit here stay from one inference to the next"},
        {"", "fans out to", Unit::none, fanout, kPeople},
        nested<LevelRow, Store>("stores", "Stores", of(&Level::stores), store_columns()),
        nested<LevelRow, Channel>("channels", "Channels", of(&Level::channels), channel_columns()),
        nested<LevelRow, model::Axis>("fanout", "", of(&Level::fanout),
                                      {{"axis", &model::Axis::name}, {"size", &model::Axis::size}},
                                      kJson)};
}

// Figures of an array that computes in memory.
std::vector<Column<Accelerator>> array_columns() {
    using Cim = model::ComputeInMemory;
    const auto of = [](auto Cim::*member) {
        return [member](const Accelerator& a) { return (*a.array).*member; };
    };
    const auto step = [](auto model::ArrayStep::*member) {
        return [member](const Accelerator& a) {
            return model::step_of(*a.array, a.word_bits).*member;
        };
    };
    const auto area = [](const Accelerator& a) {
        const auto found = model::area_of(*a.array);
        return found ? std::optional(found->all() * 1e-6) : std::nullopt;
    };
    return {
        {"name", "array", Unit::none, of(&Cim::name)},
        {"clock_hz", "clock", Unit::hertz, of(&Cim::clock_hz)},
        {"rows", "rows", Unit::count, of(&Cim::rows)},
        {"columns", "columns", Unit::count, of(&Cim::columns)},
        {"bits_per_cell", "bits a cell", Unit::count, of(&Cim::bits_per_cell)},
        {"parallel_rows", "rows at a time", Unit::count, of(&Cim::parallel_rows)},
        {"input_bits", "input bits at a time", Unit::count, of(&Cim::input_bits)},
        {"columns_per_adc", "columns an ADC", Unit::count, of(&Cim::columns_per_adc)},
        {"adc_bits", "ADC bits", Unit::count, of(&Cim::adc_bits)},
        {"exact_adc_bits", "ADC bits of exact sums", Unit::count,
         step(&model::ArrayStep::exact_adc_bits)},
        {"weight_columns", "columns a weight", Unit::count,
         step(&model::ArrayStep::weight_columns)},
        {"evaluations", "evaluations a step", Unit::count, step(&model::ArrayStep::evaluations)},
        {"step_cycles", "cycles a step", Unit::none, step(&model::ArrayStep::cycles)},
        {"cell_energy_pj", of(&Cim::cell_pj)},
        {"driver_energy_pj", of(&Cim::driver_pj)},
        {"adc_energy_pj", "pJ a conversion", Unit::none, of(&Cim::adc_pj)},
        {"sum_energy_pj", of(&Cim::sum_pj)},
        {"area_mm2", "area, mm2", Unit::none, area}};
}

double peak_of(const Accelerator& a) {
    return static_cast<double>(model::mac_units(a)) * a.clock_hz;
}

std::vector<Column<Accelerator>> accelerator_columns() {
    const auto bits = [](Operand o) {
        return [o](const Accelerator& a) { return a.word_bits[index(o)]; };
    };
    const auto dataflows = [](const Accelerator& a) {
        std::vector<std::string> names;
        for (const model::Dataflow& dataflow : a.dataflows) {
            names.emplace_back(dataflow_name(dataflow.kind));
        }
        return names;
    };
    const auto array = [](const Accelerator& a) {
        return a.array ? std::optional(a) : std::nullopt;
    };
    return {{"clock_hz", &Accelerator::clock_hz},
            {"macs_per_cycle", model::mac_units},
            {"peak_macs_per_s", peak_of},
            {"word_bits.input", "input bits", Unit::count, bits(Operand::input)},
            {"word_bits.weight", "weight bits", Unit::count, bits(Operand::weight)},
            {"word_bits.output", "output bits", Unit::count, bits(Operand::output)},
            {"mac_energy_pj", "pJ a MAC", Unit::none, &Accelerator::mac_pj},
            {"mac_leakage_pj_per_cycle", &Accelerator::mac_leak_pj},
            {"gates_idle", &Accelerator::gates_idle},
            {"pipeline_stages", &Accelerator::pipeline_stages},
            {"dataflows", "dataflows", Unit::none, dataflows},
            null_if_unknown(object<Accelerator, Accelerator>("array", array, array_columns(),
                                                             "computes in memory"))};
}

std::vector<LevelRow> memory_rows(const Accelerator& a) {
    std::vector<LevelRow> rows;
    for (const Level& level : a.levels) {
        rows.push_back({level, model::instances_of(a, rows.size())});
    }
    return rows;
}

struct Peak {
    std::string type;
    model::Rate rate;
    std::optional<double> ridge, halved;
};

std::vector<Peak> peaks_of(const Gpu& gpu) {
    std::vector<Peak> peaks;
    for (const std::string_view name : model::data_type_names()) {
        const model::DataType type = *model::data_type_from_name(name);
        const model::Rate& rate = gpu.rate(type);
        if (rate.pipe != model::Pipe::none) {
            const double ridge = rate.flops_per_s / gpu.dram_bytes_per_s;
            const bool halves = analysis::step::serves_two_of_four(gpu, type);
            peaks.push_back({std::string(name), rate, positive(ridge),
                             halves ? positive(2.0 * ridge) : std::nullopt});
        }
    }
    return peaks;
}

std::vector<Column<Peak>> peak_columns() {
    return {
        {"data_type", "type", Unit::none, &Peak::type},
        {"", "peak", Unit::none,
         [](const Peak& p) { return format_si(p.rate.flops_per_s, operation_rate_unit(p.type)); },
         kPeople, "dense; a MAC is two operations"},
        {"flops_per_s", "peak", Unit::flops_per_s, [](const Peak& p) { return p.rate.flops_per_s; },
         kPrograms, "dense; a MAC is two operations"},
        {"units", "units", Unit::none,
         [](const Peak& p) { return p.rate.pipe == model::Pipe::tensor ? "tensor" : "vector"; }},
        {"flops_per_byte", "ridge, FLOP/B", Unit::none, &Peak::ridge, kAll,
         "the peak over the bandwidth of the memory"},
        {"flops_per_byte_2_of_4", "2:4 ridge, FLOP/B", Unit::none, &Peak::halved, kAll,
         "with operands of which two in four are zero, on tensor cores that skip them"}};
}

std::vector<Column<Gpu>> gpu_columns() {
    const auto known = [](double Gpu::*member) {
        return [member](const Gpu& gpu) { return positive(gpu.*member); };
    };
    return {
        {"vendor", "maker", Unit::none, &Gpu::vendor},
        {"architecture", "architecture", Unit::none,
         [](const Gpu& gpu) { return model::gpu_arch_name(gpu.arch); }},
        {"launch_year", "launched in", Unit::none, &Gpu::launch_year},
        {"units", "", Unit::count, &Gpu::sms, kAll, "SMs or compute units"},
        {"fp32_lanes_per_unit", &Gpu::fp32_lanes},
        {"base_clock_hz", "base clock", Unit::hertz, known(&Gpu::base_hz)},
        {"boost_clock_hz", "boost clock", Unit::hertz, known(&Gpu::boost_hz)},
        {"tensor_clock_hz", "clock of tensor peaks", Unit::hertz, known(&Gpu::tensor_hz)},
        {"dram_bytes", "DRAM", Unit::bytes, known(&Gpu::dram_bytes)},
        {"dram_bytes_per_s", "DRAM bandwidth", Unit::bytes_per_s, known(&Gpu::dram_bytes_per_s)},
        {"l2_bytes", "L2", Unit::iec_bytes, known(&Gpu::l2_bytes)},
        {"l2_bytes_per_s", "L2 bandwidth", Unit::bytes_per_s, known(&Gpu::l2_bytes_per_s)},
        {"near_l2_bytes_per_s", known(&Gpu::near_l2_bytes_per_s)},
        {"shared_bytes_per_unit", "shared memory per SM", Unit::iec_bytes,
         known(&Gpu::shared_bytes_per_sm)},
        {"registers_bytes_per_unit", "registers per SM", Unit::iec_bytes,
         known(&Gpu::registers_bytes_per_sm)},
        {"tdp_w", "board power", Unit::watts, known(&Gpu::tdp_w)}};
}

// Keys of one kind of machine: absent from the others'.
template <class Row>
void add_of_kind(Answer& answer, const Row* row, const std::vector<Column<Row>>& columns) {
    for (const Column<Row>& column : columns) {
        Head head = column.head;
        head.absent = row == nullptr;
        head.where = row == nullptr ? head.where & kPrograms : head.where;
        answer.figures.push_back({std::move(head), row == nullptr ? Value() : column.of(*row)});
    }
}

// Each source once; several that only differ in a "(note)" at the end are one. Last, the fields
// without a source; what is only derived from these has none either.
std::vector<std::string> source_notes(const ProvenanceMap& provenance) {
    struct Cited {
        std::set<std::string> sources;
        bool stated = false, recalled = false;
    };
    std::map<std::string, Cited> by_base;
    std::string unsourced;
    for (const auto& [field, entry] : provenance) {
        const std::string& source = entry.source;
        const auto note = source.ends_with(')') ? source.rfind(" (") : std::string::npos;
        Cited& cited = by_base[source.substr(0, note)];
        if (entry.confidence == Confidence::recalled) {
            cited.recalled = true;
            unsourced += (unsourced.empty() ? "Unsourced: " : ", ") +
                         (field.empty() ? std::string("what has no source of its own") : field);
            continue;
        }
        cited.sources.insert(source);
        cited.stated = cited.stated || entry.confidence != Confidence::derived;
    }
    std::vector<std::string> notes;
    for (const auto& [base, cited] : by_base) {
        if (!cited.sources.empty() && (cited.stated || !cited.recalled)) {
            notes.push_back("Source: " +
                            (cited.sources.size() == 1 ? *cited.sources.begin() : base));
        }
    }
    if (!unsourced.empty()) {
        notes.push_back(unsourced);
    }
    return notes;
}

std::string peak_sentence(const Accelerator* a, const Gpu* gpu) {
    return a != nullptr
               ? fmt::format("{} MAC/cycle at {}: {}", model::mac_units(*a),
                             format_si(a->clock_hz, "Hz"), format_si(peak_of(*a), "MAC/s"))
               : fmt::format("{} {} with {} fp32 lanes each", gpu->sms,
                             gpu->vendor == "NVIDIA" ? "SMs" : "compute units", gpu->fp32_lanes);
}

} // namespace

Answer machine_answer(const model::Machine& machine) {
    using Sourced = ProvenanceMap::value_type;
    const bool any = !machine.id.empty(); // an answer to nothing has the keys of both kinds
    const auto* a = any ? std::get_if<Accelerator>(&machine.kind) : nullptr;
    const auto* gpu = any ? std::get_if<Gpu>(&machine.kind) : nullptr;
    Answer answer;
    answer.schema = "eyeroof/machine/1";
    answer.title = fmt::format("{} ({})", machine.name, machine.id);
    answer.question = answer.title;
    if (!machine.summary.empty()) {
        answer.sentences = {machine.summary};
    }
    if (any) {
        answer.sentences.push_back(peak_sentence(a, gpu));
    }
    answer.figures = {{"id", "", machine.id},
                      {"name", "", machine.name},
                      {"summary", "", machine.summary},
                      limited<Figure>({"kind", "", a != nullptr ? "accelerator" : "gpu"},
                                      {.words = {"accelerator", "gpu"}})};
    add_of_kind(answer, gpu, gpu_columns());
    add_of_kind(answer, a, accelerator_columns());
    answer.tables = {
        make_table("levels", "Levels", a == nullptr ? std::vector<LevelRow>() : memory_rows(*a),
                   memory_columns(), Form::list_if_any),
        make_table("peaks", "Peak rates", gpu == nullptr ? std::vector<Peak>() : peaks_of(*gpu),
                   peak_columns(), Form::list_if_any),
        make_table("", "Array that computes in memory",
                   a != nullptr && a->array ? std::vector{*a} : std::vector<Accelerator>(),
                   array_columns())};
    if (any) {
        std::erase_if(answer.tables, [](const AnswerTable& table) { return table.rows.empty(); });
    }
    answer.tables.push_back(make_table<Sourced>(
        "sources", "", {machine.provenance.begin(), machine.provenance.end()},
        {{"field", [](const Sourced& s) { return s.first; }},
         {"source", [](const Sourced& s) { return s.second.source; }},
         {"confidence", [](const Sourced& s) { return confidence_name(s.second.confidence); }}}));
    answer.notes = source_notes(machine.provenance);
    return answer;
}

namespace {

// Least trusted first.
constexpr std::array kTrust = {Confidence::user,      Confidence::recalled, Confidence::fitted,
                               Confidence::secondary, Confidence::derived,  Confidence::measured,
                               Confidence::paper,     Confidence::datasheet};

Confidence least_trusted(const ListedMachine& listed) {
    const auto has = [&](Confidence c) {
        return std::ranges::any_of(listed.machine.provenance,
                                   [c](const auto& entry) { return entry.second.confidence == c; });
    };
    const auto* const found = std::ranges::find_if(kTrust, has);
    return found == kTrust.end() ? Confidence::user : *found;
}

// A GPU's generation, where the machine is one.
std::string description_of(const ListedMachine& listed) {
    const auto* gpu = std::get_if<Gpu>(&listed.machine.kind);
    return gpu == nullptr || gpu->arch == model::GpuArch::host
               ? listed.machine.summary
               : fmt::format("{}, {}", model::gpu_arch_name(gpu->arch), gpu->launch_year);
}

template <class Kind, class Get> auto of_kind(Get get) {
    using T = std::remove_cvref_t<std::invoke_result_t<Get, const Kind&>>;
    return [get](const ListedMachine& listed) {
        const auto* kind = std::get_if<Kind>(&listed.machine.kind);
        return kind == nullptr ? std::optional<T>() : std::optional<T>(std::invoke(get, *kind));
    };
}

// For people: the machines of one family.
AnswerTable family_table(const std::vector<ListedMachine>& machines, const char* family,
                         const char* title) {
    const auto rate = [](model::DataType type) {
        return [type](const ListedMachine& listed) {
            const auto* gpu = std::get_if<Gpu>(&listed.machine.kind);
            return gpu == nullptr ? std::nullopt : positive(gpu->rate(type).flops_per_s);
        };
    };
    std::vector<ListedMachine> rows;
    std::ranges::copy_if(machines, std::back_inserter(rows), [&](const ListedMachine& listed) {
        return listed.entry.family == family;
    });
    std::vector<Column<ListedMachine>> columns = {
        {"", "machine", Unit::none, [](const ListedMachine& l) { return l.entry.id; }, kPeople}};
    if (family == std::string_view("accelerators")) {
        columns.push_back({"", "MACs", Unit::count, of_kind<Accelerator>(model::mac_units), kPeople,
                           "per cycle"});
        columns.push_back({"", "peak", Unit::macs_per_s, of_kind<Accelerator>(peak_of), kPeople});
    } else {
        columns.push_back({"", "fp32", Unit::flops_per_s, rate(model::DataType::fp32), kPeople});
        columns.push_back({"", "fp16", Unit::flops_per_s, rate(model::DataType::fp16), kPeople});
        columns.push_back(
            {"", "DRAM", Unit::bytes_per_s, of_kind<Gpu>(&Gpu::dram_bytes_per_s), kPeople});
    }
    columns.push_back({"", "confidence", Unit::none,
                       [](const ListedMachine& l) { return confidence_words(least_trusted(l)); },
                       kPeople});
    columns.push_back({"", "description", Unit::line, description_of, kPeople});
    return make_table("", title, rows, columns);
}

} // namespace

Answer machines_answer(const std::vector<ListedMachine>& machines) {
    const auto head = [](std::string model::Machine::*member) {
        return [member](const ListedMachine& l) { return l.machine.*member; };
    };
    std::vector<Column<ListedMachine>> columns = {
        {"id", [](const ListedMachine& l) { return l.entry.id; }},
        {"name", head(&model::Machine::name), kJson},
        {"summary", head(&model::Machine::summary), kJson},
        {"family", [](const ListedMachine& l) { return l.entry.family; }},
        {"name", head(&model::Machine::name), kCsv},
        {"trust", [](const ListedMachine& l) { return confidence_name(least_trusted(l)); }},
        {"macs_per_cycle", of_kind<Accelerator>(model::mac_units)},
        {"clock_hz", of_kind<Accelerator>(&Accelerator::clock_hz)},
        {"peak_macs_per_s", of_kind<Accelerator>(peak_of)},
        {"dram_bytes_per_s", of_kind<Gpu>(&Gpu::dram_bytes_per_s)}};
    columns = absent_if_unknown(std::move(columns));
    auto peaks = nested<ListedMachine, Peak>(
        "peaks", "",
        [](const ListedMachine& l) {
            const auto* gpu = std::get_if<Gpu>(&l.machine.kind);
            return gpu == nullptr ? std::vector<Peak>() : peaks_of(*gpu);
        },
        peak_columns(), kJson, "", Form::list_if_any);
    columns.push_back(std::move(peaks));
    Answer a;
    a.schema = "eyeroof/machines/1";
    a.title = "Machines of the catalog";
    a.sentences = {counted(machines.size(), "machine")};
    a.tables = {make_table("machines", "", machines, columns),
                family_table(machines, "accelerators", "Accelerators"),
                family_table(machines, "gpus", "GPUs"), family_table(machines, "hosts", "Hosts")};
    a.notes = {"Also systolic:ROWSxCOLUMNS, with :ws, :os or :is behind it",
               "MACs are per cycle; confidence is that of the least trusted source of any number "
               "(eyeroof hw check counts them)"};
    return a;
}

Answer lint_answer(const std::vector<hwdb::LintReport>& reports) {
    using hwdb::LintReport;
    const auto ok = [](const LintReport& r) { return !r.findings.has_errors(); };
    const auto sources = [](const LintReport& r) {
        std::string text;
        for (const auto& [confidence, count] : r.confidences) {
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count,
                                confidence_words(confidence));
        }
        return text;
    };
    const auto place = [](auto SourceLocation::*member) {
        return [member](const Diagnostic& d) { return d.where.*member; };
    };
    Answer a;
    a.schema = "eyeroof/hw-check/1";
    a.title = "Checks of machines";
    const auto failed = std::ranges::count_if(reports, std::not_fn(ok));
    a.sentences = {
        failed == 0 ? counted(reports.size(), "machine") + ": ok"
                    : fmt::format("{} of {} failed", failed, counted(reports.size(), "machine"))};
    std::vector<Column<LintReport>> columns = {
        {"id", "machine", Unit::none, &LintReport::id},
        {"ok", ok},
        {"", "check", Unit::none, [ok](const LintReport& r) { return ok(r) ? "ok" : "failed"; },
         kPeople},
        {"numbers", "numbers", Unit::count, &LintReport::numbers},
        {"macs_per_cycle", &LintReport::units},
        {"peak_macs_per_s", "peak", Unit::macs_per_s, &LintReport::peak_macs_per_s},
        {"fit_for_benchmarks", "for benchmarks", Unit::none, hwdb::fit_for_benchmarks},
        {"", "confidence of the numbers", Unit::line, sources, kPeople},
        nested<LintReport, Diagnostic>(
            "findings", "", [](const LintReport& r) { return r.findings.items(); },
            {{"code", &Diagnostic::code},
             {"message", &Diagnostic::message},
             {"file", place(&SourceLocation::file)},
             {"line", place(&SourceLocation::line)},
             {"column", place(&SourceLocation::column)},
             {"field", &Diagnostic::field}},
            kJson),
        {"printed_peak_macs_per_s", &LintReport::printed_peak_macs_per_s}};
    for (const Confidence c : kTrust) {
        columns.push_back(
            {std::string("confidences.") + confidence_name(c), [c](const LintReport& r) {
                 const auto found = r.confidences.find(c);
                 return found == r.confidences.end() ? std::optional<int>()
                                                     : std::optional(found->second);
             }});
    }
    a.tables = {make_table("machines", "", reports, absent_if_unknown(std::move(columns)))};
    return a;
}

} // namespace eyeroof::report
