#include "formats/catalog.hpp"
#include "formats/layer_csv.hpp"
#include "tests/near.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

namespace test_formats_catalog {

using namespace eyeroof;
using eyeroof::tests::near;
using formats::load_network;
using model::Network;

namespace {

namespace fs = std::filesystem;

const std::vector<fs::path> kFolders = {fs::path(eyeroof::tests::source_dir()) /
                                        "examples/networks"};

Network net(const std::string& reference) {
    auto network = load_network(reference, kFolders);
    for (const Diagnostic& d : network.diagnostics()) {
        MESSAGE(to_string(d));
    }
    REQUIRE(network.ok());
    return *network;
}

model::NetworkTotals totals(const std::string& reference) {
    return totals_of(net(reference)).value();
}
Count macs(const std::string& reference) {
    return totals(reference).macs;
}

Count macs_of_op(const Network& network, model::Op op) {
    Network part = network;
    std::erase_if(part.layers, [&](const model::Layer& layer) { return layer.op != op; });
    return totals_of(part)->macs;
}

std::string code_of(const std::string& reference) {
    const auto network = load_network(reference, kFolders);
    REQUIRE_FALSE(network.ok());
    return network.diagnostics().items().front().code;
}

// A file that disappears with the test.
struct TemporaryFile {
    fs::path path;
    TemporaryFile(const std::string& name, const std::string& text)
        : path(fs::temp_directory_path() / ("eyeroof_" + name)) {
        std::ofstream(path, std::ios::binary) << text;
    }
    ~TemporaryFile() { fs::remove(path); }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
};

} // namespace

TEST_CASE("every network of the catalog loads, has a source and work to do") {
    const auto heads = formats::list_networks(kFolders);
    REQUIRE(heads.ok());
    CHECK(heads.diagnostics().empty());
    CHECK(heads->size() >= 14);
    for (const auto& head : *heads) {
        CAPTURE(head.id);
        const Network network = net(head.id);
        CHECK(network.id == head.id);
        CHECK(network.name == head.name);
        CHECK_FALSE(network.source.empty());
        CHECK(totals_of(network)->macs > 0);
        CHECK(net(head.id + ":all=1").layers == network.layers);
        const Network bare = net(head.id + ":all=0");
        CHECK(totals_of(network)->macs == totals_of(bare)->macs);
        CHECK(std::all_of(bare.layers.begin(), bare.layers.end(),
                          [](const model::Layer& l) { return model::multiplies(l.op); }));
    }
}

TEST_CASE("AlexNet has the published MACs, grouped, with and without its dense layers") {
    const Network alexnet = net("alexnet");
    // 105415200 + 223948800 + 149520384 + 112140288 + 74760192 = 665784864
    CHECK(macs_of_op(alexnet, model::Op::conv2d) == 665'784'864);
    // and 9216 * 4096 + 4096 * 4096 + 4096 * 1000 = 58621952: 724.4 M as published for Eyeriss v2
    CHECK(macs("alexnet") == 724'406'816);
    const Network four = with_batch(alexnet, 4).value();
    CHECK(macs_of_op(four, model::Op::conv2d) == 2'663'139'456);
    CHECK(alexnet.layers[0].name == "CONV1");
}

TEST_CASE("classification networks have their known totals") {
    // conv 15346630656, dense 25088 * 4096 + 4096 * 4096 + 4096 * 1000 = 123633664: 15.47 G
    CHECK(macs("vgg16") == 15'470'264'320);
    // Stem 118013952; stages 2 to 5 of (4, 4, 4, 4) 3x3 convolutions, 115605504 MACs each but the
    // strided first ones, which have half; three projections of 6422528; dense 512000.
    // 118013952 + 4 * 115605504 + 3 * (57802752 + 3 * 115605504 + 6422528) + 512000
    CHECK(macs("resnet18") == 1'814'073'344);
    // A block that keeps its size has 51380224 + 115605504 + 51380224 = 218365952 MACs; the first
    // of stage 2 has 231211008 with its projection, that of stages 3 to 5 372506624: 118013952 +
    // 231211008 + 3 * 372506624 + (2 + 3 + 5 + 2) * 218365952 + 2048 * 1000
    CHECK(macs("resnet50") == 4'089'184'256);
    CHECK(macs("googlenet") == near(1.58e9, 0.01)); // "1.5 billion" in the paper
}

TEST_CASE("MobileNet takes its width and resolution from its name") {
    CHECK(macs("mobilenet-v1") == near(569e6, 0.001)); // table 8 of the paper
    const Network small = net("mobilenet-v1-0.5-128");
    CHECK(totals_of(small)->macs == near(49.2e6, 0.002)); // Eyeriss v2's paper
    CHECK(net("mobilenet-v1:width=0.5,resolution=128").layers == small.layers);
    CHECK(net("mobilenet-v1:resolution=128,width=0.5").layers == small.layers);
    CHECK(net("mobilenet-v1:0.5,128").layers == small.layers);
    CHECK(macs("mobilenet-v1-0.5") == near(149e6, 0.005)); // table 6
    CHECK(small.id == "mobilenet-v1-0.5-128");
    CHECK(net("google/mobilenet_v1_0.5_128").layers == small.layers);
    CHECK(net("mobilenet-v2-1.0-224").layers == net("mobilenet-v2").layers);
    CHECK(macs("mobilenet_v2_1.4_224") == near(582e6, 0.001)); // table 4 of the second paper
    CHECK(macs("mobilenet-v2-0.75") == near(209e6, 0.001));
    CHECK(code_of("mobilenet-v1-0.33-128") == "not-a-number");
    CHECK(code_of("mobilenet-v1-1-100") == "not-a-number"); // 100 / 32 is not whole
    CHECK(code_of("mobilenet-v1:widht=1") == "unknown-parameter");
    CHECK(code_of("mobilenet-v1:width=x") == "bad-parameter");
    CHECK(code_of("mobilenet-v1:width=1,width=2") == "bad-parameter");
    CHECK(code_of("mobilenet-v1-1-128-1-7") == "bad-parameter");
}

TEST_CASE("transformers have the MACs of twelve squares and two products a layer") {
    // layers (12 seq hidden^2 + 2 seq^2 hidden) at seq = 128, and hidden^2 for the pooler
    CHECK(macs("bert-base") == 11'173'625'856 + 768 * 768);
    CHECK(macs("bert-large") == 39'460'012'032 + 1024 * 1024);
    // 12 (12 * 384 * 768^2 + 2 * 384^2 * 768) = 12 * (2717908992 + 226492416)
    CHECK(macs("bert-base:seq=384") == 35'332'816'896 + 768 * 768);
    // at seq = 1024, and the head 1024 * hidden * 50257
    CHECK(macs("gpt2") == 145'824'153'600);
    CHECK(macs("gpt2-large") == 887'285'350'400);
}

TEST_CASE("networks have as many parameters as those who published them say") {
    const auto parameters = [](const std::string& name) { return totals(name).parameters; };
    CHECK(parameters("resnet50") == 25'557'032);   // torchvision, num_params of ResNet50_Weights
    CHECK(parameters("resnet18") == 11'689'512);   // the same of ResNet18_Weights
    CHECK(parameters("vgg16") == 138'357'544);     // the same of VGG16_Weights
    CHECK(parameters("mask-rcnn") == 44'401'393);  // of MaskRCNN_ResNet50_FPN_Weights
    CHECK(parameters("bert-base") == 109'482'240); // with pooler and types: llm.md, section 4
    CHECK(parameters("bert-large") == 335'141'888);
    // "213 x 10^6" in table 3 of Vaswani et al.; 37000 words are "about 37000" there
    CHECK(parameters("transformer-big") == near(213e6, 0.01));
    CHECK(parameters("bert-large:pretraining=1,fused=1,dropout=1") ==
          335'141'888 + 1024 * 1024 + 3 * 1024 + 30522 + 2 * 1024 + 2);
}

TEST_CASE("language and vision models have the parameters of their published sizes") {
    // llm.md, section 4: equal to published totals where those are known.
    const std::map<std::string, Count> published = {
        {"llama-2-7b", 6'738'415'616},     {"llama-2-70b", 68'976'648'192},
        {"llama-3-8b", 8'030'261'248},     {"llama-3.1-405b", 405'853'388'800},
        {"llama-3.2-1b", 1'235'814'400},   {"mistral-7b", 7'241'732'096},
        {"mixtral-8x7b", 46'702'792'704},  {"mixtral-8x22b", 140'630'071'296},
        {"qwen2.5-7b", 7'615'616'512},     {"qwen3-8b", 8'190'735'360},
        {"qwen3-30b-a3b", 30'532'122'624}, {"phi-4", 14'659'507'200},
        {"gpt-3-175b", 174'604'259'328},   {"opt-6.7b", 6'658'473'984},
        {"opt-175b", 174'604'468'224},     {"vit-b-16", 86'567'656},
        {"vit-l-16", 304'326'632},         {"vit-h-14", 632'045'800}};
    for (const auto& [name, parameters] : published) {
        CAPTURE(name);
        CHECK(totals(name).parameters == parameters);
        CHECK(totals(name + ":fused=1").macs == macs(name));
    }
    // GPT-2, the sizes of its released models: a layer has 12 h^2 + 13 h, with words, places and
    // the last norm beside them.
    CHECK(totals("gpt2").parameters == 124'439'808);
    CHECK(totals("gpt2-medium").parameters == 354'823'168);
    CHECK(totals("gpt2-large").parameters == 774'030'080);
    CHECK(totals("gpt2-xl").parameters == 1'557'611'200);
    CHECK(macs("vit-b-16") == near(17.564e9, 0.0001)); // the same section
    CHECK(macs("vit-l-16") == near(61.555e9, 0.0001));
    CHECK(net("Llama3-8B").id == "llama-3-8b");
}

TEST_CASE("networks of today have the parameters of their published configurations") {
    // Counted by the authors' libraries from the same configurations, without weights: transformers
    // 5.24 (language models, DETR), diffusers 0.42 (diffusion), torchvision (image networks).
    // gpt-oss: 20.91 and 116.83 B in table 1 of arXiv:2508.10925. Text alone of Gemma 3 and Llama
    // 4; without the second heads of DeepSeek, GLM, and Qwen3-Next.
    const std::map<std::string, Count> published = {
        {"resnet34", 21'797'672},
        {"efficientnet-b1", 7'794'184},
        {"efficientnet-b4", 19'341'616},
        {"efficientnet-b7", 66'347'960},
        {"swin-t", 28'288'354},
        {"swin-s", 49'606'258},
        {"swin-b", 87'768'224},
        {"yolo11n", 2'624'080},
        {"yolo11s", 9'458'752},
        {"yolo11m", 20'114'688},
        {"sd-1.5-unet", 859'520'964},
        {"sd3-medium", 2'028'328'000},
        {"sd3.5-large", 8'056'627'520},
        {"flux.1-dev", 11'901'408'320},
        {"flux.1-schnell", 11'891'178'560},
        {"mamba2-130m", 128'989'632},
        {"mamba2-1.3b", 1'343'757'312},
        {"mamba2-2.7b", 2'702'599'680},
        {"llama-4-scout", 107'769'861'120},
        {"llama-4-maverick", 400'711'848'960},
        {"qwen3-0.6b", 596'049'920},
        {"qwen3-1.7b", 1'720'574'976},
        {"qwen3-4b", 4'022'468'096},
        {"qwen3-14b", 14'768'307'200},
        {"qwen3-235b-a22b", 235'093'634'560},
        {"qwen3-next-80b-a3b", 79'674'391'296},
        {"gpt-oss-20b", 20'914'757'184},
        {"gpt-oss-120b", 116'829'156'672},
        {"gemma-3-1b", 999'885'952},
        {"gemma-3-4b", 3'880'263'168},
        {"gemma-3-12b", 11'766'034'176},
        {"gemma-3-27b", 27'009'346'304},
        {"mistral-nemo-12b", 12'247'782'400},
        {"mistral-small-24b", 23'572'403'200},
        {"phi-4-mini", 3'836'021'760},
        // The libraries hold the scores' corrections as buffers: one for each expert and layer.
        {"glm-4.5", 352'797'814'784 + 89 * 160},
        {"glm-4.5-air", 106'852'245'504 + 45 * 128},
        {"kimi-k2", 1'026'408'209'408 + 60 * 384},
        {"deepseek-r1", 671'026'404'352 + 58 * 256},
        // 41,501,895 with 2 classes and without the 53,120 values of frozen norms.
        {"detr", 41'501'895 + 89 * 257 + 53'120}};
    for (const auto& [name, parameters] : published) {
        CAPTURE(name);
        CHECK(totals(name).parameters == parameters);
    }
}

TEST_CASE("image networks of today have the MACs that their authors print") {
    // G MACs: torchvision's pages of the models; YOLO11: half of the GFLOP of its table.
    const std::map<std::string, double> published = {
        {"resnet34", 3.664},         {"efficientnet-b1", 0.687}, {"efficientnet-b4", 4.394},
        {"efficientnet-b7", 37.746}, {"swin-t", 4.491},          {"swin-s", 8.741},
        {"swin-b", 15.431}};
    for (const auto& [name, giga] : published) {
        CAPTURE(name);
        CHECK(macs(name) == near(giga * 1e9, 0.001));
    }
    for (const auto& [name, gflop] :
         std::map<std::string, double>{{"yolo11n", 6.5}, {"yolo11s", 21.5}, {"yolo11m", 68.0}}) {
        CAPTURE(name);
        CHECK(macs(name) == near(gflop * 0.5e9, 0.01));
    }
}

TEST_CASE("a token of a mixture of experts multiplies by the active parameters of its card") {
    // One token without a cache multiplies once by each weight that it meets; embeddings are read,
    // not multiplied. Cards: gpt-oss 3.61 and 5.13 B (table 1), GLM-4.5 32 and 12 B, Kimi K2 32 B,
    // DeepSeek-V3 37 B, Qwen3 22 and 3.3 B, Llama 4 17 B, most of them rounded. Qwen's and Meta's
    // count the embedding too (vocabulary x hidden), GLM's neither the embedding nor the head.
    struct Card {
        std::string name;
        double billions;
        double more; // billions that the card counts beside the products, or leaves out of them
    };
    for (const Card& card : {Card{"gpt-oss-20b", 3.61, 0.0}, Card{"gpt-oss-120b", 5.13, 0.0},
                             Card{"glm-4.5", 32, -0.776}, Card{"glm-4.5-air", 12, -0.621},
                             Card{"deepseek-v3", 37, 0.0}, Card{"kimi-k2", 32, 0.0},
                             Card{"qwen3-235b-a22b", 22, 0.62}, Card{"qwen3-30b-a3b", 3.3, 0.31},
                             Card{"llama-4-scout", 17, 1.03}, Card{"llama-4-maverick", 17, 1.03}}) {
        CAPTURE(card.name);
        const auto active = static_cast<double>(macs(card.name + ":new=1"));
        CHECK(active / 1e9 + card.more == near(card.billions, 0.02));
    }
}

TEST_CASE("a short name is taken as the one network that begins with it, and said") {
    for (const auto& [name, meant] :
         std::map<std::string, std::string>{{"sdxl", "sdxl-unet"},
                                            {"SD 1.5", "sd-1.5-unet"},
                                            {"sd3", "sd3-medium"},
                                            {"llama-3.3", "llama-3.3-70b"},
                                            {"qwen3-235b", "qwen3-235b-a22b"},
                                            {"Qwen3-Next", "qwen3-next"}}) {
        CAPTURE(name);
        const auto network = load_network(name, kFolders);
        REQUIRE(network.ok());
        CHECK(network->id == meant);
        const bool exact = meant == "qwen3-next";
        CHECK(network.diagnostics().empty() == exact);
        CHECK((exact || network.diagnostics().items().front().code == "short-name"));
    }
    CHECK(net("sdxl:latent=64").layers == net("sdxl-unet:latent=64").layers);
    for (const std::string name : {"llama-3", "gpt-oss", "gpt-4", "mistral", "s"}) {
        CAPTURE(name);
        CHECK(code_of(name) == "unknown-network"); // several begin so, or none does
    }
}

TEST_CASE("a variant is found however its file writes its name") {
    const fs::path folder = fs::temp_directory_path() / "eyeroof_family";
    fs::create_directories(folder);
    const TemporaryFile file("family/family.yaml",
                             "name: Family\nsource: a test\n"
                             "parameters: {m: {default: 1}}\n"
                             "variants:\n  tiny-1: {m: 2}\n  'large 2': {m: 3}\n"
                             "  \"hu\\x67e-3\": {m: 4}\n"
                             "layers:\n  - {name: fc, op: gemm, m: =m, n: 2, k: 3}\n");
    for (const auto& [name, rows] :
         std::map<std::string, Count>{{"tiny-1", 2}, {"TINY_1", 2}, {"Large2", 3}, {"huge-3", 4}}) {
        CAPTURE(name);
        const auto network = load_network(name, {folder});
        REQUIRE(network.ok());
        CHECK(std::get<model::GemmShape>(network->layers.front().shape).m == rows);
    }
    CHECK_FALSE(load_network("tiny-2", {folder}).ok());
}

TEST_CASE("a step of decoding has one word's products and a cache full of keys") {
    // Weights without the embedding once a word, and 2 x heads x size MACs a word seen and layer.
    const Count weights = 8'030'261'248 - 128'256 * 4096 - 65 * 4096;
    CHECK(macs("llama-3-8b:new=1,context=2047") == weights + 32 * 2 * 2048 * 32 * 128);
}

TEST_CASE("GNMT has the parameters and MACs of its formula") {
    // Embedding and classifier 32320 x 1024 (with biases); an LSTM of n inputs 4 h (n + h + 2);
    // attention two squares, and 2 h + 1 values of its scoring.
    const Count h = 1024;
    const auto lstm = [&](Count in) { return 4 * h * (in + h + 2); };
    const Count encoder = 2 * lstm(h) + lstm(2 * h) + 2 * lstm(h);
    const Count decoder = lstm(h) + 3 * lstm(2 * h) + 2 * h * h + 2 * h + 1;
    CHECK(totals("gnmt").parameters == 32320 * h + encoder + decoder + 32320 * (h + 1));
    // A word of the source: the LSTMs and the keys; of the target: the LSTMs, the query, scores and
    // context of 32 words, the classifier.
    const auto steps = [&](Count in) { return 4 * h * (in + h); };
    const Count source = 4 * steps(h) + steps(2 * h) + h * h;
    const Count target = steps(h) + 3 * steps(2 * h) + h * h + 2 * 32 * h + 32320 * h;
    CHECK(macs("gnmt") == 128 * 32 * (source + target));
}

TEST_CASE("nnU-Net has the parameters and MACs of its levels") {
    const std::vector<Count> widths = {32, 64, 128, 256, 320, 320};
    const auto convolution = [](Count in, Count out) { return 27 * in * out; };
    Count parameters = 0;
    Count work = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        const Count k = widths[i];
        const Count c = i == 0 ? 5 : widths[i - 1];
        const Count voxels = (128 >> i) * (128 >> i) * (128 >> i);
        const Count down = convolution(c, k) + convolution(k, k);
        parameters += down + 4 * k;
        work += down * voxels;
        if (i + 1 < widths.size()) {
            const Count up = convolution(2 * k, k) + convolution(k, k);
            parameters += up + 4 * k + 8 * k * widths[i + 1];
            work += (up + k * widths[i + 1]) * voxels;
        }
        parameters += i < 3 ? 3 * (k + 1) : 0;
        work += i < 3 ? 3 * k * voxels : 0;
    }
    CHECK(totals("nnunet").parameters == parameters);
    CHECK(macs("nnunet") == 2 * work);
}

TEST_CASE("attention may be one kernel instead of two products and a softmax") {
    for (const std::string name : {"bert-large", "transformer-big"}) {
        CAPTURE(name);
        const Network fused = net(name + ":fused=1");
        CHECK(totals_of(fused)->macs == macs(name));
        CHECK(totals_of(fused)->parameters == totals(name).parameters);
        CHECK(macs_of_op(fused, model::Op::attention) == macs_of_op(net(name), model::Op::bmm));
        CHECK(macs_of_op(fused, model::Op::bmm) == 0);
    }
}

TEST_CASE("a network's name is found however people write it") {
    for (const std::string name : {"resnet-50", "ResNet50", "RESNET_50", "res net.50"}) {
        CAPTURE(name);
        CHECK(net(name).id == "resnet50");
    }
    CHECK(net("BERT_Large").id == "bert-large");
    CHECK(net("Bert-Large:seq=64").layers == net("bert-large:seq=64").layers);
    const auto several = load_network("resnet", kFolders);
    REQUIRE_FALSE(several.ok());
    CHECK(several.diagnostics().items()[0].hint.find("resnet18") != std::string::npos);
    CHECK(several.diagnostics().items()[0].hint.find("resnet50") != std::string::npos);
}

TEST_CASE("the TPU's networks have the published weights, layers and intensity") {
    const auto mlp = totals("tpu-mlp0");
    CHECK(mlp.weight_bytes == 20'000'000);
    CHECK(mlp.macs == 200 * mlp.weight_bytes); // 200 MACs a weight byte
    const auto lstm = totals("tpu-lstm0");
    CHECK(lstm.weight_bytes == near(52e6, 0.001));
    CHECK(lstm.macs == 64 * lstm.weight_bytes);
    Count dense = 0;
    Count vector = 0;
    for (const model::Layer& layer : net("tpu-lstm0").layers) {
        (layer.op == model::Op::gemm ? dense : vector) += layer.count;
    }
    CHECK(dense == 24);
    CHECK(vector == 34);
}

TEST_CASE("training two linear layers takes five products") {
    Count products = 0;
    for (const model::Layer& layer : net("mlp-2layer").layers) {
        products += layer.op == model::Op::gemm ? layer.count : 0;
    }
    CHECK(products == 5); // 3 n - 1
    // 64 (784 * 1024 * 2 + 1024 * 10 * 3): the first layer has no gradient of its input
    CHECK(macs("mlp-2layer") == 64 * (784 * 1024 * 2 + 1024 * 10 * 3));
}

TEST_CASE("the twelve workloads of ResNet-18 have the sizes of the list") {
    const Network twelve = net("resnet18-c1-c12");
    REQUIRE(twelve.layers.size() == 12);
    const auto& c10 = std::get<model::ConvShape>(twelve.layers[9].shape);
    CHECK(c10.k == 512);
    CHECK(c10.p() == 7);
    CHECK(work_of(twelve.layers[0])->macs == 118'013'952);
    CHECK(work_of(twelve.layers[1])->macs == 115'605'504); // 56 * 56 * 64 * 64 * 9
}

TEST_CASE("output sizes chain from layer to layer through every CNN") {
    for (const std::string reference : {"alexnet", "vgg16", "mobilenet-v1"}) {
        CAPTURE(reference);
        Count channels = 3;
        Count height = 0;
        for (const model::Layer& layer : net(reference).layers) {
            if (const auto* conv = std::get_if<model::ConvShape>(&layer.shape)) {
                CAPTURE(layer.name);
                CHECK(conv->c == channels);
                CHECK((height == 0 || conv->h == height));
                channels = conv->k;
                height = conv->p();
            } else if (const auto* pool = std::get_if<model::PoolShape>(&layer.shape)) {
                CAPTURE(layer.name);
                CHECK(pool->c == channels);
                CHECK(pool->h == height);
                height = pool->p();
            }
        }
    }
}

TEST_CASE("an unknown network is refused with the nearest name") {
    const auto network = load_network("alexnt", kFolders);
    REQUIRE_FALSE(network.ok());
    CHECK(network.diagnostics().items()[0].code == "unknown-network");
    CHECK(network.diagnostics().items()[0].hint == "did you mean 'alexnet'?");
    CHECK(code_of("no/such/file.yaml") == "file-not-found");
    CHECK(code_of("nosuch.csv") == "file-not-found");
    CHECK(code_of("../networks/alexnet") == "file-not-found");
    CHECK(code_of("alexnet:") == "bad-parameter");
    CHECK(code_of("") == "unknown-network");
    CHECK(code_of("/tmp") == "is-a-directory");
    CHECK(load_network("alexnet", {}).diagnostics().items()[0].code == "unknown-network");
}

TEST_CASE("a file's format is told by its content, whatever its name") {
    const TemporaryFile table("table.txt", "name,op,m,n,k\nfc,gemm,1,2,3\n");
    CHECK(net(table.path.string()).layers[0].name == "fc");
    const TemporaryFile yaml("net.csv", "layers:\n  - {op: gemm, m: 1, n: 2, k: 3}\n");
    CHECK(net(yaml.path.string()).layers.size() == 1);
    const TemporaryFile topology("topo.txt",
                                 "Layer name, IFMAP Height, IFMAP Width, Filter Height, "
                                 "Filter Width, Channels, Num Filter, Strides,\n"
                                 "Conv1, 224, 224, 7, 7, 3, 64, 2,\n");
    CHECK(net(topology.path.string()).layers[0].op == model::Op::conv2d);
    CHECK(code_of(table.path.string() + ":seq=3") == "bad-parameter");
}

TEST_CASE("huge, empty, binary and bottomless files are refused quickly") {
    const TemporaryFile huge("huge.csv", "name,op,m,n,k\n");
    fs::resize_file(huge.path, 100'000'000);
    CHECK(code_of(huge.path.string()) == "file-too-large");
    const TemporaryFile large("large.csv", "name,op,m,n,k\n");
    fs::resize_file(large.path, 20'000'000); // zeros
    CHECK(code_of(large.path.string()) == "not-text");
    const TemporaryFile empty("empty.yaml", "");
    CHECK(code_of(empty.path.string()) == "empty-file");
    std::string bomb = "a: &a [x, x]\n";
    for (char c = 'b'; c <= 'z'; ++c) {
        bomb += std::string(1, c) + ": &" + c + " [*" + static_cast<char>(c - 1) + ", *" +
                static_cast<char>(c - 1) + "]\n";
    }
    const TemporaryFile aliases("bomb.yaml", bomb + "layers: *z\n");
    CHECK_FALSE(load_network(aliases.path.string(), {}).ok());
    const TemporaryFile deep("deep.yaml", "layers: " + std::string(100'000, '['));
    CHECK_FALSE(load_network(deep.path.string(), {}).ok());
    CHECK_FALSE(load_network("/dev/zero", {}).ok());
}

TEST_CASE("the nearer of two folders wins") {
    const fs::path near = fs::temp_directory_path() / "eyeroof_near_networks";
    fs::create_directories(near);
    std::ofstream(near / "alexnet.yaml") << "layers:\n  - {op: gemm, m: 1, n: 2, k: 3}\n";
    const std::vector<fs::path> folders = {near, kFolders[0]};
    CHECK(load_network("alexnet", folders)->layers.size() == 1);
    CHECK(load_network("vgg16", folders).ok());
    std::ofstream(near / "broken.yaml") << "layers: [\n";
    const auto heads = formats::list_networks(folders);
    REQUIRE(heads.ok());
    CHECK_FALSE(heads.diagnostics().empty()); // broken.yaml, as a warning
    fs::remove_all(near);
}

TEST_CASE("deeper ResNets are ResNet-50 with more blocks, and have torchvision's parameters") {
    const auto shallow = totals("resnet50");
    const auto same = totals("resnet101:blocks4=6");
    CHECK(same.macs == shallow.macs);
    CHECK(same.flops == shallow.flops);
    CHECK(same.parameters == shallow.parameters);
    CHECK(totals("resnet101").parameters == 44'549'160);
    CHECK(totals("resnet152").parameters == 60'192'808);
    CHECK(macs("resnet101") == 7'801'405'440); // as torchvision's graphs, docs/formats.md
    CHECK(macs("resnet152") == 11'513'626'624);
}

TEST_CASE("a 1-D convolution has as many MACs as outputs and taps, and 4 accesses a MAC") {
    CHECK(macs("conv1d:outputs=55,taps=11") == 55 * 11);
    CHECK(totals("conv1d:outputs=9,taps=4").accesses_without_reuse() == 144.0);
}

} // namespace test_formats_catalog
