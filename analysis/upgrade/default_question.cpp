#include "analysis/upgrade/default_question.hpp"

#include "analysis/exam/word_types.hpp"
#include "analysis/program/lower.hpp"
#include "analysis/upgrade/verdict.hpp"

#include <optional>

namespace eyeroof::analysis {

namespace {

std::optional<model::DataType> short_type(model::DataType own, const model::Machine& machine) {
    const bool is_short = model::storage_bits(own) < model::storage_bits(model::DataType::fp32);
    const auto has = [&](model::DataType type) { return computes_with(machine, type); };
    if (is_short && has(own)) {
        return std::nullopt;
    }
    for (const model::DataType type : {model::DataType::fp16, model::DataType::bf16}) {
        if (has(type)) {
            return type;
        }
    }
    return std::nullopt;
}

bool is_convolutional(const model::Network& network) {
    double convolutions = 0.0;
    double all = 0.0;
    for (const model::Layer& layer : network.layers) {
        const auto work = model::work_of(layer);
        const double macs =
            work ? static_cast<double>(work->macs) * static_cast<double>(layer.count) : 0.0;
        convolutions += std::holds_alternative<model::ConvShape>(layer.shape) ? macs : 0.0;
        all += macs;
    }
    return convolutions > 0.5 * all;
}

} // namespace

void compute_mixed(FleetMember& member, const model::Machine& from, const model::Machine& to) {
    const model::DataType own = main_type(member.network);
    member.from->data_type = short_type(own, from);
    member.to->data_type = short_type(own, to);
}

void train_mixed(FleetMember& member, const model::Machine& from, const model::Machine& to) {
    compute_mixed(member, from, to);
    member.from->training = member.to->training =
        TrainingOptions{is_convolutional(member.network) ? "sgd_momentum" : "adam"};
}

std::vector<PurchaseQuestion::Beside> inference_beside(const PurchaseQuestion& question) {
    std::vector<PurchaseQuestion::Beside> all;
    for (const bool largest : {false, true}) {
        PurchaseQuestion::Beside line;
        line.what = largest ? "inference, largest batch" : "inference, batch 1";
        line.fleet = question.fleet;
        for (FleetMember& member : line.fleet) {
            member.from->training.reset();
            member.to->training.reset();
            member.from->batch = member.to->batch = std::nullopt;
            member.largest = largest;
        }
        all.push_back(std::move(line));
    }
    return all;
}

} // namespace eyeroof::analysis
