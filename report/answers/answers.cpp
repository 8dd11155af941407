#include "report/answers/answers.hpp"

#include "report/answer/write.hpp"
#include "report/bound/bound_answer.hpp"
#include "report/bound/host_speed_answer.hpp"
#include "report/calibrate/validation_answers.hpp"
#include "report/catalog/machine.hpp"
#include "report/catalog/network.hpp"
#include "report/chip/chip_answer.hpp"
#include "report/claims/claims_write.hpp"
#include "report/cores/cores_answer.hpp"
#include "report/diff/diff_answer.hpp"
#include "report/exam/exam_answer.hpp"
#include "report/exam/scalesim_answer.hpp"
#include "report/exam/side_by_side.hpp"
#include "report/fuse/fuse_answer.hpp"
#include "report/roofline/roofline_answer.hpp"
#include "report/scale/collective_answer.hpp"
#include "report/scale/layer_search_answer.hpp"
#include "report/scale/scale_answer.hpp"
#include "report/scale/serving_answer.hpp"
#include "report/scale/split_answer.hpp"
#include "report/search/map_answer.hpp"
#include "report/sparse/sparse_answer.hpp"
#include "report/step/improve_answer.hpp"
#include "report/step/memory_answer.hpp"
#include "report/step/timeline_write.hpp"
#include "report/tune/tune_answer.hpp"
#include "report/upgrade/offload_answer.hpp"
#include "report/upgrade/purchase_answer.hpp"

#include <map>

namespace eyeroof::report {

namespace {

const analysis::Report& no_report() {
    static const analysis::Report report = [] {
        analysis::Report empty;
        empty.memory.emplace();
        return empty;
    }();
    return report;
}

const std::vector<analysis::Report>& no_reports() {
    static const std::vector<analysis::Report> reports;
    return reports;
}

const model::Gpu& no_gpu() {
    static const model::Gpu gpu;
    return gpu;
}

const analysis::Purchase& no_purchase() {
    static const analysis::Purchase purchase = [] {
        analysis::Purchase empty;
        empty.answers.resize(1);
        return empty;
    }();
    return purchase;
}

// Answers to nothing: their columns are those of every answer.
const std::map<std::string, Answer>& empty_answers() {
    static const std::map<std::string, Answer> answers = [] {
        std::map<std::string, Answer> made;
        for (Answer& answer : std::vector<Answer>{
                 bound_answer({}, {}, {}),
                 chip_answer({}),
                 claims_answer({}),
                 collective_answer({}),
                 cores_answer({}),
                 diff_answer({}),
                 exam_answer(no_report(), {.every = true}),
                 side_by_side_answer(no_reports()),
                 run_diff_answer({}),
                 network_answer({}, {}),
                 networks_answer({}),
                 machine_answer({}),
                 machines_answer({}),
                 lint_answer({}),
                 roofline_answer({}, {}),
                 scalesim_answer({}, 0, 0, {}, {}),
                 layer_search_answer({}, {}),
                 host_speed_answer({}, {}, 0.0),
                 tune_answer({}, false),
                 fuse_answer({}),
                 fuse_curve_answer({}, {}, {}),
                 scale_answer({}),
                 serving_answer({}),
                 split_answer({}),
                 placement_answer({}),
                 sparse_answer({}),
                 density_curve_answer({}, {}, {}),
                 map_answer({}, {}, false),
                 front_answer({}, {}, false),
                 capacity_answer({}),
                 reach_answer({}),
                 improve_answer({}, {}, {}, 0),
                 offload_answer({}),
                 purchase_answer(no_purchase()),
                 layers_validated({}),
                 networks_validated({}),
                 pairs_validated({}),
                 clusters_validated({}, 0),
                 machines_validated({}),
                 memory_answer({no_report(), 0, std::nullopt}),
                 timeline_answer({no_report(), no_gpu()}),
                 copies_answer({}),
                 launches_answer({}),
             }) {
            const std::size_t begin = answer.schema.find('/') + 1;
            const std::string name = answer.schema.substr(begin, answer.schema.rfind('/') - begin);
            made.emplace(name, std::move(answer));
        }
        return made;
    }();
    return answers;
}

} // namespace

std::vector<std::string> answer_names() {
    std::vector<std::string> names;
    for (const auto& [name, answer] : empty_answers()) {
        names.push_back(name);
    }
    return names;
}

std::string schema_of(const std::string& name) {
    const auto found = empty_answers().find(name);
    return found == empty_answers().end() ? std::string() : to_schema(found->second);
}

} // namespace eyeroof::report
