#include "base/foreign_file.hpp"

#include "base/ascii.hpp"

#include <algorithm>
#include <array>

namespace eyeroof {

namespace {

struct Row {
    ForeignFile file;
    std::string_view endings; // separated by blanks
    std::size_t at = 0;       // of the first bytes in the file
    std::string_view bytes;   // empty: nothing tells but the ending
    bool may_be_text = false; // an ending that text files have, too
};

using namespace std::string_view_literals;

constexpr std::string_view kModel =
    "read the model's config.json, or export the network: torch.onnx.export, er.from_torch";

// A zip archive and a pickle may hold anything: their endings are asked first.
constexpr auto kRows = std::to_array<Row>({
    {{"a TensorFlow Lite model", "python -m tf2onnx.convert --tflite MODEL --output model.onnx"},
     ".tflite",
     4,
     "TFL3"sv},
    {{"a GGUF file of weights", kModel}, ".gguf", 0, "GGUF"sv},
    {{"a GGML file of weights", kModel}, ".ggml", 0, "lmgg"sv},
    {{"a file of safetensors weights", kModel}, ".safetensors", 8, "{\""sv},
    {{"an HDF5 file, such as a Keras model",
      "python -m tf2onnx.convert --keras MODEL --output model.onnx"},
     ".h5 .hdf5",
     0,
     "\x89HDF\r\n"sv},
    {{"a NumPy array", "export the network as ONNX; arrays hold no layers"},
     ".npy .npz",
     0,
     "\x93NUMPY"sv},
    {{"a TensorRT engine or plan", "examine the ONNX file that it was built from"},
     ".engine .plan .trt",
     0,
     "ftrt"sv},
    {{"a PyTorch file", "export it: torch.onnx.export(model, args, 'model.onnx'), or use "
                        "er.from_torch(model, args) in Python"},
     ".pt .pth .pt2 .ckpt .torchscript",
     0,
     ""sv},
    {{"a Keras model", "python -m tf2onnx.convert --keras MODEL --output model.onnx"},
     ".keras",
     0,
     ""sv},
    {{"a profile of XLA", "trace the program with Nsight Systems: nsys profile --trace=cuda,nvtx"},
     ".xplane.pb",
     0,
     ""sv},
    {{"a TensorFlow graph",
      "python -m tf2onnx.convert --graphdef MODEL --output model.onnx --inputs … --outputs …"},
     ".pb",
     0,
     ""sv,
     true},
    {{"a Core ML model", "convert the network that it was made of to ONNX"},
     ".mlmodel .mlpackage",
     0,
     ""sv},
    {{"weights without a network", kModel}, ".bin .weights .msgpack", 0, ""sv, true},
    {{"a pickled object", kModel}, ".pkl .pickle", 0, ""sv, true},
    {{"an SQLite database",
      "a profile goes beside the network, as in `eyeroof exam NETWORK --profile FILE`"},
     ".sqlite .sqlite3 .db",
     0,
     "SQLite format 3"sv},
    {{"a report of Nsight Systems",
      "nsys export --type sqlite FILE, then `eyeroof exam NETWORK --profile FILE.sqlite`"},
     ".nsys-rep .qdrep .qdstrm",
     0,
     ""sv},
    {{"a report of Nsight Compute",
      "ncu --import FILE --csv --page raw > FILE.csv, then `--profile FILE.csv`"},
     ".ncu-rep .ncu-repz",
     0,
     ""sv},
    {{"a zip archive", "unpack it and name a file in it"}, ".zip .whl", 0, "PK\x03\x04"sv},
    {{"a spreadsheet", "save the sheet as CSV"}, ".xlsx .xls .ods", 0, ""sv},
    {{"a PDF document", "copy the table into a CSV file"}, ".pdf", 0, "%PDF-"sv},
});

bool ends_as(std::string_view name, std::string_view endings) {
    while (!endings.empty()) {
        const std::string_view ending = endings.substr(0, endings.find(' '));
        if (name.ends_with(ending)) {
            return true;
        }
        endings.remove_prefix(std::min(endings.size(), ending.size() + 1));
    }
    return false;
}

bool is_binary(std::string_view head) {
    return std::ranges::any_of(head, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r';
    });
}

} // namespace

ForeignFile foreign_file(std::string_view head, std::string_view name) {
    const std::string plain = lowered(name);
    const bool binary = is_binary(head.substr(0, kForeignHead));
    const auto begins = [&](const Row& row) {
        return !row.bytes.empty() && head.size() > row.at &&
               head.substr(row.at).starts_with(row.bytes);
    };
    // An ending alone tells of bytes that are no text, and of formats that never are.
    const auto by_name = std::ranges::find_if(kRows, [&](const Row& row) {
        return ends_as(plain, row.endings) && (binary || (row.bytes.empty() && !row.may_be_text));
    });
    if (by_name != kRows.end()) {
        return by_name->file;
    }
    const auto by_bytes =
        std::ranges::find_if(kRows, [&](const Row& row) { return binary && begins(row); });
    return by_bytes == kRows.end() ? ForeignFile{} : by_bytes->file;
}

} // namespace eyeroof
