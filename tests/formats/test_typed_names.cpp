// Names as people type them, and files as other programs save them.
#include "base/foreign_file.hpp"
#include "base/meant_names.hpp"
#include "base/plain_text.hpp"
#include "base/text_file.hpp"

#include <doctest/doctest.h>

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
