#include "profiles/library_log.hpp"

#include "base/ascii.hpp"
#include "profiles/matching.hpp"
#include "profiles/operator_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>

namespace eyeroof::profiles {

namespace {

using Dims = std::vector<std::int64_t>;

constexpr std::int64_t kMissing = -1;

// The number behind "key" in `text`, from `from` on; kMissing when there is none.
std::int64_t number_after(std::string_view text, std::string_view key, std::size_t from = 0) {
    const std::size_t at = text.find(key, from);
    std::int64_t number = kMissing;
    if (at != std::string_view::npos) {
        const char* begin = text.data() + at + key.size();
        std::from_chars(begin, text.data() + text.size(), number);
    }
    return number;
}

// "Adesc=[type=R_16F rows=4096 cols=512 ld=4096]" -> the text between the brackets.
std::string_view bracket(std::string_view line, std::string_view name) {
    const std::size_t at = line.find(name);
    if (at == std::string_view::npos) {
        return {};
    }
    const std::size_t end = line.find(']', at);
    return line.substr(at, end == std::string_view::npos ? end : end - at);
}

// "type=R_16F" or "CUDA_R_16F" or "CUDNN_DATA_HALF" -> the framework's spelling.
std::string type_in(std::string_view text) {
    constexpr std::pair<std::string_view, const char*> kTypes[] = {
        {"R_16BF", "c10::BFloat16"},
        {"R_16F", "c10::Half"},
        {"R_32F", "float"},
        {"R_64F", "double"},
        {"R_8I", "signed char"},
        {"R_8F", "c10::Float8_e4m3fn"},
        {"DATA_BFLOAT16", "c10::BFloat16"},
        {"DATA_HALF", "c10::Half"},
        {"DATA_FLOAT", "float"},
        {"DATA_DOUBLE", "double"},
        {"DATA_INT8", "signed char"}};
    for (const auto& [word, name] : kTypes) {
        if (text.find(word) != std::string_view::npos) {
            return name;
        }
    }
    return {};
}

std::vector<std::string> types(const std::string& type) {
    return type.empty() ? std::vector<std::string>{} : std::vector<std::string>{type, type};
}

// One line: D is rows x cols; K is what A has beside the rows of D.
std::optional<Operator> lt_matmul(std::string_view line) {
    const std::string_view a = bracket(line, "Adesc=");
    const std::string_view d = bracket(line, "Ddesc=");
    const std::string_view compute = bracket(line, "computeDesc=");
    const std::int64_t m = number_after(d, "rows=");
    const std::int64_t n = number_after(d, "cols=");
    const bool transposed = compute.find("transa=OP_T") != std::string_view::npos ||
                            compute.find("transa=OP_C") != std::string_view::npos;
    const std::int64_t k = number_after(a, transposed ? "rows=" : "cols=");
    const std::int64_t batch = number_after(d, "batchCount=");
    if (m <= 0 || n <= 0 || k <= 0) {
        return std::nullopt;
    }
    if (batch > 1) {
        return Operator{"cublasLt::bmm", {{batch, m, k}, {batch, k, n}}, types(type_in(a)), {}};
    }
    return Operator{"cublasLt::gemm", {{m, k}, {k, n}}, types(type_in(a)), {}};
}

// "[1, 64, 56, 56]" behind the last "val=".
Dims list_of(std::string_view text) {
    Dims dims;
    const std::size_t at = text.find("val=");
    const char* next = text.data() + (at == std::string_view::npos ? text.size() : at);
    const char* const end = text.data() + text.size();
    while (next < end) {
        std::int64_t number = 0;
        const auto [after, error] = std::from_chars(next, end, number);
        if (error == std::errc{}) {
            dims.push_back(number);
            next = after;
        } else if (*next == ']' || *next == ';') {
            break;
        } else {
            ++next;
        }
    }
    return dims;
}

// A call written over several lines: "name: type=…; val=…", descriptors with members below them.
struct Block {
    std::string function;
    std::map<std::string, std::string, std::less<>> values; // "m", "xDesc.dimA" -> the line's rest

    std::int64_t number(std::string_view key) const {
        const auto found = values.find(key);
        return found == values.end() ? kMissing : number_after(found->second, "val=");
    }
    Dims list(std::string_view key) const {
        const auto found = values.find(key);
        return found == values.end() ? Dims{} : list_of(found->second);
    }
};

bool has(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

std::optional<Operator> blas_call(const Block& block) {
    const std::string lower = lowered(block.function);
    if (!has(lower, "gemm") || has(lower, "grouped")) {
        return std::nullopt;
    }
    const std::int64_t m = block.number("m");
    const std::int64_t n = block.number("n");
    const std::int64_t k = block.number("k");
    const std::int64_t batch = block.number("batchCount");
    if (m <= 0 || n <= 0 || k <= 0) {
        return std::nullopt;
    }
    const auto given = block.values.find("Atype");
    const std::string type = given != block.values.end() ? type_in(given->second)
                             : has(lower, "sgemm")       ? "float"
                             : has(lower, "dgemm")       ? "double"
                             : has(lower, "hgemm")       ? "c10::Half"
                                                         : "";
    if (batch > 1) {
        return Operator{"cublas::bmm", {{batch, m, k}, {batch, k, n}}, types(type), {}};
    }
    return Operator{"cublas::gemm", {{m, k}, {k, n}}, types(type), {}};
}

std::string pair_text(const Dims& dims) {
    return dims.size() < 2 ? "" : fmt::format("[{}, {}]", dims[0], dims[1]);
}

std::optional<Operator> dnn_call(const Block& block) {
    const bool forward = has(block.function, "ConvolutionForward") ||
                         has(block.function, "ConvolutionBiasActivationForward");
    const bool data = has(block.function, "ConvolutionBackwardData");
    const bool weight = has(block.function, "ConvolutionBackwardFilter");
    if (!forward && !data && !weight) {
        return std::nullopt;
    }
    const Dims input = block.list(data ? "dxDesc.dimA" : "xDesc.dimA");
    const Dims filter = block.list(weight ? "dwDesc.dimA" : "wDesc.dimA");
    if (input.size() != 4 || filter.size() != 4) {
        return std::nullopt;
    }
    const std::string stride = pair_text(block.list("convDesc.strideA"));
    const std::string pad = pair_text(block.list("convDesc.padA"));
    const std::string dilation = pair_text(block.list("convDesc.dilationA"));
    const auto typed = block.values.find(data ? "dxDesc.dataType" : "xDesc.dataType");
    const std::string type = typed == block.values.end() ? "" : type_in(typed->second);
    if (forward) {
        return Operator{"cudnn::conv2d",
                        {input, filter},
                        types(type),
                        {"", "", "", stride, pad, dilation, "1"}};
    }
    return Operator{"cudnn::convolution_backward",
                    {{}, input, filter},
                    type.empty() ? std::vector<std::string>{} : std::vector{type, type, type},
                    {"", "", "", "", stride, pad, dilation, "False", "", "",
                     data ? "[True, False, False]" : "[False, True, False]"}};
}

class LogReader {
  public:
    explicit LogReader(ByteSource& source) : source_(source) {}

    Result<std::vector<Operator>> run() {
        std::string line;
        while (source_.get_line(line)) {
            read(line);
        }
        finish();
        using Calls = Result<std::vector<Operator>>;
        if (!source_.failure().empty()) {
            return Calls::failure("damaged", source_.failure(), "read it again from where it comes",
                                  source_.here());
        }
        if (calls_.empty()) {
            return Calls::failure("no-calls", "the log holds no product and no convolution",
                                  "it is read as cuBLAS, cuBLASLt and cuDNN write it");
        }
        Diagnostics notes;
        if (strange_ > 0) {
            notes.warning("not-understood",
                          fmt::format("{} calls of the log are not understood", strange_));
        }
        return {std::move(calls_), std::move(notes)};
    }

  private:
    void read(std::string_view line) {
        if (has(line, "cublasLtMatmul]") || has(line, "[cublasLtMatmul ")) {
            finish();
            keep(lt_matmul(line), true);
        } else if (line.starts_with("I!")) {
            finish();
            const std::size_t at = line.find("function ");
            if (at != std::string_view::npos) {
                block_.function = function_name(line.substr(at + 9));
            }
        } else if (line.starts_with("i!") && !block_.function.empty()) {
            member(line.substr(2));
        }
    }

    // "cublasStatus_t cublasSgemm_v2(cublasHandle_t, …) called:" -> "cublasSgemm_v2".
    static std::string function_name(std::string_view text) {
        const std::size_t open = text.find('(');
        const std::string_view before = text.substr(0, open);
        const std::size_t blank = before.rfind(' ');
        return std::string(blank == std::string_view::npos ? before : before.substr(blank + 1));
    }

    // "        dimA: type=int; val=[1,64,56,56];" below "    xDesc: type=…" is "xDesc.dimA".
    void member(std::string_view text) {
        const std::size_t indent = text.find_first_not_of(" \t");
        const std::size_t colon = text.find(':');
        if (indent == std::string_view::npos || colon == std::string_view::npos) {
            return;
        }
        const std::string name(text.substr(indent, colon - indent));
        const std::string rest(text.substr(colon + 1));
        const bool inside = !owner_.empty() && indent > owner_indent_;
        if (has(rest, "Descriptor_t") && !inside) {
            owner_ = name;
            owner_indent_ = indent;
            return;
        }
        if (!inside) {
            owner_.clear();
        }
        block_.values.emplace(owner_.empty() ? name : owner_ + "." + name, rest);
    }

    void finish() {
        if (!block_.function.empty()) {
            const bool blas = block_.function.starts_with("cublas");
            const bool works =
                has(block_.function, "gemm") || has(block_.function, "Gemm") ||
                (has(block_.function, "Convolution") &&
                 (has(block_.function, "Forward") || has(block_.function, "Backward")) &&
                 !has(block_.function, "Get") && !has(block_.function, "Find") &&
                 !has(block_.function, "Set") && !has(block_.function, "Bias("));
            keep(blas ? blas_call(block_) : dnn_call(block_), works);
        }
        block_ = {};
        owner_.clear();
    }

    void keep(std::optional<Operator> call, bool works) {
        if (call && layer_of(*call)) {
            calls_.push_back(*std::move(call));
        } else if (works) {
            ++strange_;
        }
    }

    ByteSource& source_;
    std::vector<Operator> calls_;
    Block block_;
    std::string owner_; // descriptor whose members stand below it
    std::size_t owner_indent_ = 0;
    std::size_t strange_ = 0;
};

bool adds_up_splits(std::string_view kernel) {
    return has(kernel, "splitKreduce") || has(kernel, "splitKReduce") ||
           has(kernel, "splitk_reduce");
}

bool is_conv(const Operator& op) {
    return op.name.starts_with("cudnn::");
}

} // namespace

Result<std::vector<Operator>> read_library_log(ByteSource& source) {
    return LogReader(source).run();
}

Result<Profile> give_logged_calls(const Profile& profile, const std::vector<Operator>& calls) {
    ProfileBuilder built;
    built.profile = profile;
    std::vector<std::int32_t> numbers;
    for (const Operator& call : calls) {
        built.profile.operators.push_back(call);
        numbers.push_back(static_cast<std::int32_t>(built.profile.operators.size() - 1));
    }
    std::int64_t next_call = 0;
    for (const Launch& launch : profile.launches) {
        next_call = std::max(next_call, launch.op_call + 1);
    }
    for (const bool conv : {false, true}) {
        std::vector<std::size_t> wanted;
        for (std::size_t i = 0; i < calls.size(); ++i) {
            if (is_conv(calls[i]) == conv) {
                wanted.push_back(i);
            }
        }
        std::size_t given = 0;
        for (Launch& launch : built.profile.launches) {
            const std::string& kernel = profile.kernel_of(launch).name;
            const KernelCategory category = category_of(kernel);
            const bool fits = category == (conv ? KernelCategory::conv : KernelCategory::gemm);
            if (launch.op != kNone || !fits) {
                continue;
            }
            const bool follows = adds_up_splits(kernel) && given > 0;
            const std::size_t call = follows ? given - 1 : given++;
            if (call < wanted.size()) {
                launch.op = numbers[wanted[call]];
                launch.op_call = next_call + static_cast<std::int64_t>(wanted[call]);
            }
        }
        if (given != wanted.size() && !wanted.empty()) {
            return Result<Profile>::failure(
                "runs-differ",
                fmt::format("the log has {} {}, the profile {} kernels for them", wanted.size(),
                            conv ? "convolutions" : "products", given),
                "log and profile must be of the same run, of one process, without other kernels "
                "of that kind");
        }
    }
    return std::move(built.profile);
}

bool is_logged(const Operator& op) {
    return op.name.starts_with("cublas::") || op.name.starts_with("cublasLt::") ||
           op.name.starts_with("cudnn::");
}

} // namespace eyeroof::profiles
