// Every JSON document that a command writes keeps to the schema of its name in report/schema.
#include "report/answers/answers.hpp"
#include "tests/cli/program.hpp"
#include "tests/json_schema.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <regex>
#include <set>

namespace test_cli_schemas {

using namespace eyeroof; // NOLINT
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const fs::path& schemas() {
    static const fs::path folder = fs::path(tests::source_dir()) / "report/schema";
    return folder;
}

// "eyeroof/exam/1" stands in exam.schema.json.
fs::path file_of(const std::string& id) {
    const std::size_t begin = id.find('/') + 1;
    return schemas() / (id.substr(begin, id.rfind('/') - begin) + ".schema.json");
}

// Of answers from their columns, of all others from the file.
json schema_of(const std::string& id) {
    const std::size_t begin = id.find('/') + 1;
    const std::string made = report::schema_of(id.substr(begin, id.rfind('/') - begin));
    REQUIRE((!made.empty() || fs::exists(file_of(id))));
    return json::parse(made.empty() ? tests::read_file(file_of(id)) : made);
}

void check_document(const std::string& text, const std::string& id, const std::string& what) {
    CAPTURE(what);
    const json document = json::parse(text, nullptr, false);
    REQUIRE_FALSE(document.is_discarded());
    CHECK(document["schema"] == id);
    const json schema = schema_of(id);
    CHECK(schema["$id"] == id);
    for (const std::string& fault : tests::SchemaCheck(schema).faults(document)) {
        FAIL_CHECK(fault);
    }
}

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream in(line);
    return {std::istream_iterator<std::string>(in), {}};
}

struct Asked {
    std::string id;
    std::string command; // without --format json
};

const std::vector<Asked> kAsked = {
    {"eyeroof/exams/1", "exam alexnet --on t4 --on eyeriss-v1 --on l4"},
    {"eyeroof/exam/1", "exam alexnet --on t4"},
    {"eyeroof/exam/1", "exam alexnet --on t4 --phase training --batch 30000"},
    {"eyeroof/scalesim/1", "exam alexnet --on systolic:32x32 --compat scalesim"},
    {"eyeroof/map/1", "map alexnet --on eyeriss-v1 --layers CONV3"},
    {"eyeroof/capacity/1", "map alexnet --on eyeriss-v1 --layers FC8 --capacity-curve GLB"},
    {"eyeroof/reach/1", "map alexnet --on eyeriss-v1 --layers CONV3 --chain"},
    {"eyeroof/timeline/1", "timeline resnet18 --on t4 --phase training --copies all"},
    {"eyeroof/timeline/1", "timeline alexnet --on server-2x20 --dtype fp32"},
    {"eyeroof/copies/1", "timeline alexnet --on t4 --compare-copies"},
    {"eyeroof/launches/1", "timeline alexnet --on t4 --compare-launches"},
    {"eyeroof/launches/1", "timeline alexnet --on t4 --compare-launches --phase training"},
    {"eyeroof/claims/1", "claims --only ops-per-byte"},
    {"eyeroof/exam/1", "exam alexnet --on t4 --batch 7 --dtype fp16 --advice"},
    {"eyeroof/memory/1", "memory bert-base --on t4 --phase training --optimizer adam"},
    {"eyeroof/memory/1", "memory alexnet --on t4 --memory 1B"},
    {"eyeroof/memory/1", "memory gpt2 --on t4 --stream weights --memory 150MB"},
    {"eyeroof/memory/1",
     "memory vgg16 --on t4 --phase training --batch 64 --stream activations --memory 4GB"},
    {"eyeroof/improve/1", "improve resnet18 --on t4 --phase training"},
    {"eyeroof/improve/1", "improve resnet18 --on t4 --memory 1B"},
    {"eyeroof/bound/1", "bound resnet18 --on t4 --measured 9ms"},
    {"eyeroof/bound/1", "bound alexnet --on eyeriss-v1"},
    {"eyeroof/host-speed/1", "measure host resnet18 --on h100-sxm-80gb --measured 30ms"},
    {"eyeroof/sparse/1", "exam alexnet --on scnn --density alexnet-pruned"},
    {"eyeroof/sparse-curve/1", "exam alexnet --on scnn --density curve --layers CONV"},
    {"eyeroof/placement/1",
     "exam alexnet --on one-large-four-small --layers CONV[45] --search-nodes 200 --parts 2"},
    {"eyeroof/exam/1", "exam alexnet --on eyeriss-v1 --layers CONV3"},
    {"eyeroof/fuse/1", "fuse alexnet --on eyeriss-v1"},
    {"eyeroof/fuse-curve/1", "fuse alexnet --on eyeriss-v1 --layers ^CONV --curve"},
    {"eyeroof/scale/1", "scale alexnet --on t4 --fabric pcie4-100g --devices 1,8"},
    {"eyeroof/layer-search/1", "scale alexnet --on t4 --fabric pcie4-100g --devices 8 --search"},
    {"eyeroof/split/1",
     "scale alexnet --phase inference --on a100-sxm-40gb --on v100-sxm2-16gb --search-nodes 1000"},
    {"eyeroof/split/1", "scale alexnet --on a100-sxm-40gb --on v100-sxm2-16gb --search-nodes 1000"},
    {"eyeroof/serve/1",
     "serve llama-3-8b --on h100-sxm-80gb --fabric dgx-h100-ndr --tensor 1,2 --requests 4"},
    {"eyeroof/serve/1",
     "serve llama-3-8b --on h100-sxm-80gb --fabric dgx-h100-ndr --requests 4 --tpot 1ns"},
    {"eyeroof/diff/1", "diff alexnet@eyeriss-v1 vgg16@t4"},
    {"eyeroof/upgrade/1", "upgrade resnet50 --from t4 --owned --power-price 0 --to l4"},
    {"eyeroof/upgrade/1", "upgrade alexnet --from t4 --to l4"},
    {"eyeroof/upgrade/1", "upgrade alexnet@3 resnet18@1 --from t4 --to l4"},
    {"eyeroof/upgrade/1", "upgrade alexnet --from t4 --to l4 --sweep-batch 1,4"},
    {"eyeroof/offload/1", "upgrade mlp-2layer --from laptop-quad-3.1ghz --to k80-die --dtype fp32"},
    {"eyeroof/published/2", "validate --machines --on simba"},
    {"eyeroof/machines/1", "hw list"},
    {"eyeroof/machine/1", "hw show t4"},
    {"eyeroof/machine/1", "hw show eyeriss-v2"},
    {"eyeroof/machine/1", "hw show server-2x20"},
    {"eyeroof/hw-check/1", "hw check"},
    {"eyeroof/nets/1", "net list"},
    {"eyeroof/net/1", "net show bert-base"},
    {"eyeroof/net/1", "net show mixtral-8x7b"},
    {"eyeroof/net/1", "net show alexnet"},
};

} // namespace

TEST_CASE("what each command writes as JSON keeps to its schema") {
    for (const Asked& asked : kAsked) {
        std::vector<std::string> words = words_of(asked.command);
        words.insert(words.end(), {"--format", "json"});
        const tests::Outcome outcome = tests::run(words);
        CAPTURE(outcome.err);
        CHECK_MESSAGE(outcome.exit <= 1, asked.command);
        check_document(outcome.out, asked.id, asked.command);
    }
}

TEST_CASE("two runs side by side keep to their schema") {
    const std::string trace = tests::source_dir() + "/tests/profiles/samples/kineto.json";
    const tests::Outcome outcome = tests::run({"diff", trace, trace, "--format", "json"});
    CHECK(outcome.exit == 0);
    check_document(outcome.out, "eyeroof/run-diff/1", "diff of runs");
}

TEST_CASE("a front of mappings keeps to its schema") {
    const tests::Scratch scratch;
    tests::write_text(scratch / "one.csv", "name,op,m,n,k\na,gemm,4,4,4\n");
    const tests::Outcome outcome =
        tests::run({"map", (scratch / "one.csv").string(), "--on", "eyeriss-v1", "--pareto",
                    "--time-limit", "5", "--format", "json"});
    CAPTURE(outcome.err);
    CHECK(outcome.exit <= 1);
    check_document(outcome.out, "eyeroof/front/1", "front");
}

TEST_CASE("tables of measurements, judged as JSON, keep to their schemas") {
    const tests::Scratch scratch;
    const auto judged = [&](const char* id, const char* option, const std::string& table) {
        tests::write_text(scratch / "table.csv", table);
        std::vector<std::string> words = {"validate", (scratch / "table.csv").string(), "--format",
                                          "json"};
        if (*option != '\0') {
            words.emplace_back(option);
        }
        const tests::Outcome outcome = tests::run(words);
        CAPTURE(outcome.err);
        CHECK(outcome.exit == 0);
        check_document(outcome.out, id, table);
    };
    judged("eyeroof/validation/1", "",
           "name,op,dtype,m,n,k,gpu,measured_s\na,gemm,fp32,64,64,64,t4,1e-5\n");
    judged("eyeroof/pairs/3", "--pairs", "network,from,to,speedup\nresnet50,t4,l4,1.5\n");
    judged("eyeroof/clusters/2", "--scale",
           "table,metric,published,fabric,network,machine,devices,batch,zero,tensor,engine,prompt,"
           "answer,operation,bytes\n"
           "steps,step_s,1.5,dgx-a100-hdr,gpt-3-6.7b,a100-sxm-80gb,8,8,3,,,,,,\n"
           "servers,tokens_per_s,9000,dgx-h100-ndr,llama-3-8b,h100-sxm-80gb,,,,1,vllm,512,64,,\n"
           "nccl-tests,time_s,2e-5,dgx-h100-ndr,,,8,,,,,,,all-reduce,65536\n");
    judged("eyeroof/networks/1", "--networks",
           "network,gpu,dtype,phase,batch,measured_s\nresnet50,t4,fp32,inference,1,0.01\n");
}

TEST_CASE("a roofline's figures and its ladder keep to their schema") {
    const tests::Scratch scratch;
    const std::string file = (scratch / "a.json").string();
    REQUIRE(tests::run({"roofline", "alexnet", "--on", "eyeriss-v1", "-o", file}).exit == 0);
    check_document(tests::read_file(file), "eyeroof/roofline/1", "roofline");
}

TEST_CASE("every schema that the sources name stands in report/schema") {
    std::set<std::string> named;
    const std::regex id(R"("(eyeroof/[a-z-]+/[0-9]+)\")");
    for (const char* folder : {"analysis", "report", "formats", "cli", "profiles", "mapper"}) {
        for (const auto& entry :
             fs::recursive_directory_iterator(fs::path(tests::source_dir()) / folder)) {
            if (entry.path().extension() != ".cpp") {
                continue;
            }
            const std::string text = tests::read_file(entry.path());
            for (std::sregex_iterator it(text.begin(), text.end(), id), end; it != end; ++it) {
                named.insert((*it)[1].str());
            }
        }
    }
    CHECK(named.size() > 25);
    named.erase("eyeroof/sweep/1"); // beside an unfinished sweep, for --resume alone
    for (const std::string& one : named) {
        CAPTURE(one);
        CHECK(schema_of(one)["$id"] == one);
    }
}

} // namespace test_cli_schemas
