// Names as people type them, and files as other programs save them.
#include "base/foreign_file.hpp"
#include "base/meant_names.hpp"
#include "base/plain_name.hpp"
#include "base/plain_text.hpp"
#include "base/text_file.hpp"
#include "formats/catalog.hpp"
#include "hwdb/catalog.hpp"
#include "tests/paths.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace test_formats_typed_names {

using namespace eyeroof;

namespace {

const std::vector<std::string> kMachines = {"a10",
                                            "a100-pcie-40gb",
                                            "a100-sxm-80gb",
                                            "h100-pcie-80gb",
                                            "h100-sxm-80gb",
                                            "h100-nvl-94gb",
                                            "jetson-agx-orin-32gb",
                                            "jetson-orin-nx-16gb",
                                            "mi250x",
                                            "rtx-4090",
                                            "t4",
                                            "tpu-v4",
                                            "v100-pcie-32gb",
                                            "v100-sxm2-16gb",
                                            "v100-sxm2-32gb"};
const std::vector<std::string> kNetworks = {
    "bert-base",     "gemma-2-9b", "llama-3-8b", "llama-3.1-8b",    "qwen2.5-7b",
    "qwen3-30b-a3b", "qwen3-32b",  "resnet101",  "resnet50",        "sd-1.5-unet",
    "sdxl-unet",     "vit-b-16",   "vit-l-16",   "whisper-large-v3"};

MeantNames machine(const char* typed) {
    return meant_names(typed, kMachines, Where::anywhere);
}

std::string taken(const char* typed) {
    const MeantNames meant = meant_names(typed, kNetworks, Where::at_start);
    return meant.sure ? meant.names.front() : "";
}

std::string first(const char* typed) {
    const MeantNames meant = meant_names(typed, kNetworks, Where::at_start);
    return meant.names.empty() ? "" : meant.names.front();
}

} // namespace

TEST_CASE("separators between digits are one dot, and all others nothing") {
    CHECK(plain_name("ResNet-50") == "resnet50");
    CHECK(plain_name("opt-1.3b") == "opt1.3b");
    CHECK(plain_name("OPT 1-3B") == "opt1.3b");
    CHECK(plain_name("opt_1 - 3b") == "opt1.3b");
    CHECK(plain_name("opt-13b") == "opt13b");
    CHECK(plain_name(" -8.") == "8");
}

TEST_CASE("a vendor's word and a memory size do not hide a machine") {
    CHECK(machine("V100 32GB").names ==
          std::vector<std::string>{"v100-pcie-32gb", "v100-sxm2-32gb"});
    CHECK(machine("Tesla V100").names.size() == 3);
    CHECK(machine("jetson orin").complete);
    CHECK(machine("jetson orin").names.size() == 2);
    CHECK(machine("AMD Instinct MI250X") == MeantNames{{"mi250x"}, true, true});
    CHECK(machine("GeForce RTX 4090").sure);
    CHECK(machine("google tpu v4").sure);
    CHECK(machine("A100 80G") == MeantNames{{"a100-sxm-80gb"}, true, true});
    CHECK(machine("NVIDIA A100-SXM4-80GB") == MeantNames{{"a100-sxm-80gb"}, true, true});
    CHECK(machine("H100 80 GB HBM3").names ==
          std::vector<std::string>{"h100-pcie-80gb", "h100-sxm-80gb"});
    CHECK_FALSE(machine("H100 80 GB HBM3").complete);
}

TEST_CASE("a network is found behind its owner, by initials, and with a slash in its name") {
    CHECK(taken("Qwen/Qwen3-32B") == "qwen3-32b");
    CHECK(taken("meta-llama/Llama-3.1-8B-Instruct") == "llama-3.1-8b");
    CHECK(taken("google/gemma-2-9b-it") == "gemma-2-9b");
    CHECK(taken("vit-b/16") == "vit-b-16");
    CHECK(taken("stable diffusion xl") == "sdxl-unet");
    CHECK(taken("bert-base-uncased") == "bert-base");
    CHECK(taken("openai/whisper-large-v3") == "whisper-large-v3");
    CHECK(taken("runwayml/stable-diffusion-v1-5") == "sd-1.5-unet");
    CHECK(first("deepseek-ai/DeepSeek-R1-Distill-Llama-8B") == "llama-3-8b");
    const std::vector<std::filesystem::path> folder = {std::filesystem::path(tests::source_dir()) /
                                                       "examples/networks"};
    for (const char* typed : {"https://huggingface.co/Qwen/Qwen3-32B", "hf.co/Qwen/Qwen3-32B",
                              "llama3.1:8b", "gpt-oss:20b"}) {
        CAPTURE(std::string(typed));
        CHECK(formats::load_network(typed, folder).ok());
    }
}

TEST_CASE("an address is a model's page at Hugging Face, and a path is no publisher") {
    const std::vector<std::filesystem::path> folder = {std::filesystem::path(tests::source_dir()) /
                                                       "examples/networks"};
    std::string deep;
    for (int i = 0; i < 20'000; ++i) {
        deep += "hf.co/";
    }
    for (const std::string& typed :
         {deep + "resnet50", std::string("https://github.com/Qwen/Qwen3-32B"),
          std::string("https://resnet50"), std::string("hf.co/resnet50"),
          std::string("hf.co//resnet50"), std::string("https://hf.co/Qwen/"),
          std::string("https://huggingface.co/Qwen/Qwen3-32B/tree/main"),
          std::string("./mobilenet-v1-0.5-128"), std::string("/mobilenet-v1-0.5-128"),
          std::string("../resnet50"), std::string("hf.co/./mobilenet-v1-0.5-128")}) {
        CAPTURE(typed.substr(0, 80));
        CHECK_FALSE(formats::load_network(typed, folder).ok());
    }
    CHECK(formats::load_network("google/mobilenet-v1-0.5-128", folder).ok());
    CHECK(formats::load_network("http://hf.co/openai/gpt-oss-20b:new=1", folder).ok());
}

TEST_CASE("a name with words of its own is suggested the nearest, and not taken") {
    CHECK(taken("resnet50v1.5").empty());
    CHECK(first("resnet50v1.5") == "resnet50");
    CHECK(first("Qwen3-32B-FP8") == "qwen3-32b");
    CHECK(first("vit_base_patch16_224") == "vit-b-16");
    CHECK(first("stabilityai/stable-diffusion-xl-base-1.0") == "sdxl-unet");
    CHECK(first("sam2").empty());
    CHECK(taken("resnet9").empty());
    CHECK_FALSE(
        meant_names("resnet9", std::vector<std::string>{"resnet50", "resnet-deep"}, Where::at_start)
            .complete);
    CHECK(first(std::string(5000, 'x').c_str()).empty());
}

// What people type, and the names that are meant: one is taken where it is sure, several are asked
// about, and none is near. The catalog's own names, so that its growth is tested, too.
struct Typed {
    const char* typed;
    std::vector<std::string> meant;
    bool sure;
};

template <std::size_t N>
void check_typed(const Typed (&cases)[N], const std::vector<std::string>& known, Where where) {
    for (const Typed& one : cases) {
        CAPTURE(std::string(one.typed));
        const MeantNames found = meant_names(one.typed, known, where);
        CHECK(found.names == one.meant);
        CHECK(found.sure == one.sure);
    }
}

TEST_CASE("machines as people and drivers call them") {
    const Typed cases[] = {
        {"V100",
         {"v100-pcie-16gb", "v100-pcie-32gb", "v100-sxm2-16gb", "v100-sxm2-32gb", "v100-sxm3-32gb"},
         false},
        {"V100 32GB", {"v100-pcie-32gb", "v100-sxm2-32gb", "v100-sxm3-32gb"}, false},
        {"Tesla V100-SXM2-16GB", {"v100-sxm2-16gb"}, true},
        {"Tesla V100-PCIE-32GB", {"v100-pcie-32gb"}, true},
        {"A100 80GB", {"a100-pcie-80gb", "a100-sxm-80gb"}, false},
        {"NVIDIA A100-SXM4-80GB", {"a100-sxm-80gb"}, true},
        {"NVIDIA A100 80GB PCIe", {"a100-pcie-80gb"}, true},
        {"NVIDIA A100-SXM4-40GB", {"a100-sxm-40gb"}, true},
        {"H100 PCIe", {"h100-pcie-80gb"}, true},
        {"H100 SXM", {"h100-sxm-64gb", "h100-sxm-80gb"}, false},
        {"NVIDIA H100 80GB HBM3", {"h100-pcie-80gb", "h100-sxm-80gb"}, false},
        {"NVIDIA H100 NVL", {"h100-nvl-94gb"}, true},
        {"NVIDIA H200", {"h200-nvl", "h200-sxm-141gb"}, false},
        {"NVIDIA H20", {"h20-96gb"}, true},
        {"NVIDIA B200", {"b200-sxm"}, true},
        {"b300", {"b300-sxm"}, true},
        {"GB200 NVL72", {"gb200"}, false},
        {"NVIDIA GH200 480GB", {"gh200-144gb", "gh200-96gb"}, false},
        {"NVIDIA L4", {"l4"}, true},
        {"NVIDIA L40S", {"l40s"}, true},
        {"Tesla T4", {"t4"}, true},
        {"NVIDIA A10G", {"a10g"}, true},
        {"Tesla P100-PCIE-16GB", {"p100-pcie-16gb"}, true},
        {"Tesla K80", {"k80-die"}, true},
        {"4090", {"rtx-4090"}, true},
        {"NVIDIA GeForce RTX 4090", {"rtx-4090"}, true},
        {"NVIDIA GeForce RTX 3090 Ti", {"rtx-3090-ti"}, true},
        {"2080 Ti", {"rtx-2080-ti"}, true},
        {"1080ti", {"gtx-1080-ti"}, false},
        {"A6000", {"rtx-a6000"}, true},
        {"NVIDIA RTX 6000 Ada Generation", {"rtx-6000-ada"}, false},
        {"NVIDIA RTX PRO 6000 Blackwell Server Edition", {"rtx-pro-6000-blackwell-server"}, false},
        {"Titan V", {"titan-v"}, true},
        {"jetson agx orin", {"jetson-agx-orin-32gb", "jetson-agx-orin-64gb"}, false},
        {"orin nano", {"jetson-orin-nano-super"}, true},
        {"AMD Instinct MI300X", {"mi300x"}, true},
        {"AMD Instinct MI300X OAM", {"mi300x"}, false},
        {"AMD Instinct MI250X / MI250", {"mi250x", "mi250x-die"}, false},
        {"MI355X", {"mi355x"}, true},
        {"Radeon RX 7900 XTX", {"rx-7900-xtx"}, true},
        {"7900xtx", {"rx-7900-xtx"}, false},
        {"W7900", {"radeon-pro-w7900"}, true},
        {"Ryzen AI Max+ 395", {"ryzen-ai-max-395"}, false},
        {"Gaudi 3", {"gaudi3"}, true},
        {"Intel Gaudi2", {"gaudi2"}, true},
        {"TPU v4", {"tpu-v4"}, true},
        {"tpuv5e", {"tpu-v5e"}, true},
        {"Google TPU v6e", {"tpu-v6e"}, true},
        {"AWS Trainium2", {"trainium2"}, true},
        {"Coral", {"coral-edge-tpu"}, true},
        {"Hailo", {"hailo-8"}, true},
        {"NVDLA", {"nvdla-large", "nvdla-small"}, false},
        {"Eyeriss v2", {"eyeriss-v2"}, true},
        {"m4 max", {}, false}};
    std::vector<std::string> known;
    const std::vector<std::filesystem::path> folders = {tests::source_dir() + "/hwdb"};
    for (const hwdb::CatalogEntry& entry : hwdb::list_machines(folders)) {
        known.push_back(entry.id);
    }
    check_typed(cases, known, Where::anywhere);
}

TEST_CASE("networks as people and hubs call them") {
    const Typed cases[] = {{"microsoft/resnet-50", {"resnet50"}, true},
                           {"resnet50v1.5", {"resnet50"}, false},
                           {"torchvision/resnet18", {"resnet18"}, true},
                           {"bert-large-cased", {"bert-large"}, false},
                           {"google-bert/bert-base-uncased", {"bert"}, true},
                           {"Qwen/Qwen3-32B", {"qwen3-32b"}, true},
                           {"Qwen/Qwen3-32B-FP8", {"qwen3-32b"}, false},
                           {"Qwen/Qwen2.5-7B-Instruct", {"qwen2.5-7b"}, true},
                           {"Qwen3-30B-A3B-Instruct-2507", {"qwen3-30b-a3b"}, false},
                           {"Qwen/Qwen3-Next-80B-A3B-Instruct", {"qwen3-next-80b-a3b"}, true},
                           {"meta-llama/Llama-3.1-8B-Instruct", {"llama-3.1-8b"}, true},
                           {"meta-llama/Meta-Llama-3-70B", {"llama-3-70b"}, true},
                           {"meta-llama/Meta-Llama-3.1-8B-Instruct", {"llama-3.1-8b"}, true},
                           {"llama3.1-70b", {"llama-3.1-70b"}, true},
                           {"llama 3 8b", {"llama-3-8b"}, true},
                           {"Llama-2-7b-hf", {"llama-2-7b"}, true},
                           {"mistralai/Mistral-7B-Instruct-v0.3", {"mistral-7b"}, false},
                           {"mistralai/Mixtral-8x7B-v0.1", {"mixtral-8x7b"}, false},
                           {"google/gemma-2-9b-it", {"gemma-2-9b"}, true},
                           {"openai/gpt-oss-120b", {"gpt-oss-120b"}, true},
                           {"deepseek-ai/DeepSeek-V3", {"deepseek-v3"}, true},
                           {"moonshotai/Kimi-K2-Instruct", {"kimi-k2"}, true},
                           {"zai-org/GLM-4.5-Air", {"glm-4.5-air"}, true},
                           {"facebook/opt-13b", {"opt-13b"}, true},
                           {"facebook/opt-1.3b", {"opt-1.3b"}, true},
                           {"OPT 13B", {"opt-13b"}, true},
                           {"opt-1-3b", {"opt-1.3b"}, true},
                           {"opt 1 3b", {"opt-1.3b"}, true},
                           {"opt_1_3b", {"opt-1.3b"}, true},
                           {"llama-3-1-8b", {"llama-3.1-8b"}, true},
                           {"openai-community/gpt2-xl", {"gpt2-xl"}, true},
                           {"gpt3", {"gpt-3-175b", "gpt-3-6.7b"}, false},
                           {"vit-b/16", {"vit-b-16"}, true},
                           {"google/vit-base-patch16-224", {"vit-b-16"}, false},
                           {"openai/clip-vit-large-patch14", {"clip-vit-l-14"}, false},
                           {"stable diffusion xl", {"sdxl-unet"}, true},
                           {"stabilityai/stable-diffusion-xl-base-1.0", {"sdxl-unet"}, false},
                           {"black-forest-labs/FLUX.1-dev", {"flux.1-dev"}, true},
                           {"openai/whisper-large-v3", {"whisper-large-v3"}, true},
                           {"ultralytics/yolov8s", {"yolov8s"}, true},
                           {"mobilenetv2", {"mobilenet-v2"}, true},
                           {"google/efficientnet-b4", {"efficientnet-b4"}, true},
                           {"swin-tiny", {"swin-t"}, true},
                           {"facebook/convnext-base-224", {"convnext-b"}, false},
                           {"state-spaces/mamba2-1.3b", {"mamba2-1.3b"}, true},
                           {"microsoft/phi-4", {"phi-4"}, true},
                           {"DiT-XL/2", {"dit-xl-2"}, true},
                           {"sam2", {}, false}};
    std::vector<std::string> known;
    const auto heads = formats::list_networks({tests::source_dir() + "/examples/networks"});
    REQUIRE(heads.ok());
    for (const formats::NetworkHead& head : *heads) {
        known.push_back(head.id);
        for (const formats::Variant& variant : head.variants) {
            known.push_back(variant.id);
        }
    }
    std::ranges::sort(known);
    known.erase(std::unique(known.begin(), known.end()), known.end());
    check_typed(cases, known, Where::at_start);
}

TEST_CASE("text is plain whatever mark, encoding, and blanks it was saved with") {
    CHECK(plain_text("\xEF\xBB\xBFname") == "name");
    CHECK(plain_text("a\xC2\xA0"
                     "b\xE2\x80\xAF"
                     "c\xE2\x80\x87"
                     "d") == "a b c d");
    const std::string wide("\xFF\xFEh\0\xE9\0\x3D\xD8\x00\xDE", 10);
    CHECK(plain_text(wide) == "h\xC3\xA9\xF0\x9F\x98\x80"); // a pair of units is one character
    CHECK(plain_text(std::string("\xFE\xFF\0a\0b", 6)) == "ab");
    CHECK(plain_text(std::string("a\0,\0b\0\n\0", 8)) == "a,b\n");           // without a mark
    CHECK(plain_text(std::string("\xFF\xFE\x00\xD8", 4)) == "\xEF\xBF\xBD"); // half a pair
    CHECK(plain_text("\xFF\xFE").empty());
    const std::string plain = "name,op\nfc,gemm\n";
    CHECK(plain_text(plain) == plain);
    CHECK(plain_text(plain_text(wide)) == plain_text(wide));
}

TEST_CASE("a model of another format is named with the way in") {
    const auto what = [](std::string_view head, const char* name) {
        return std::string(foreign_file(head, name).what);
    };
    using namespace std::string_view_literals;
    CHECK(what("\x1c\0\0\0TFL3\0\0"sv, "m.tflite") == "a TensorFlow Lite model");
    CHECK(what("\x1c\0\0\0TFL3\0\0"sv, "model") == "a TensorFlow Lite model");
    CHECK(what("GGUF\3\0\0\0"sv, "w.gguf") == "a GGUF file of weights");
    CHECK(what("\x40\0\0\0\0\0\0\0{\"w\":"sv, "x") == "a file of safetensors weights");
    CHECK(what("PK\3\4\0\0"sv, "model.pt") == "a PyTorch file");
    CHECK(what("x\n", "a.pt") == "a PyTorch file");
    CHECK(what("SQLite format 3\0"sv, "r.sqlite") == "an SQLite database");
    CHECK(what("name,op\n", "layers.csv").empty());
    CHECK(what("layers: []\n", "model.bin").empty()); // text, whatever its ending
    const auto refused = checked_text(std::string("GGUF\3\0\0\0", 8), "w.gguf");
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.diagnostics().items()[0].code == "foreign-file");
    CHECK(refused.diagnostics().items()[0].hint.find("config.json") != std::string::npos);
}

} // namespace test_formats_typed_names
