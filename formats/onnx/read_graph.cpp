// Field numbers are those of onnx.proto, https://github.com/onnx/onnx, IR
// version 13.
#include "formats/onnx/read_graph.hpp"

#include <fmt/format.h>

namespace eyeroof::formats::onnx {

namespace {

// Of one file.
class Reader {
  public:
    Reader(const BytesPassed& passed, const Limits& limits) : messages_(passed, limits) {}

    OnnxGraph model(std::string_view bytes);
    bool broken() const { return messages_.broken(); }
    bool too_large() const { return messages_.full(); }
    bool too_many_nodes() const { return nodes_ > kMostNodes; }

  private:
    template <class Take> void each(std::string_view message, Take take) {
        messages_.each(message, take);
    }
    std::string text(const Field& field) { return messages_.text(field); }
    void graph(std::string_view bytes, OnnxGraph& graph);
    OnnxNode node(std::string_view bytes);
    std::pair<std::string, Attribute> attribute(std::string_view bytes);
    std::shared_ptr<const OnnxGraph> body(std::string_view bytes);
    std::pair<std::string, TensorType> value(std::string_view bytes);
    TensorType type(std::string_view bytes);
    std::vector<Dim> dims(std::string_view bytes);
    OnnxFunction function(std::string_view bytes);
    void opset(std::string_view bytes, std::int64_t& version);
    void add(std::vector<OnnxNode>& nodes, std::string_view bytes);

    Messages messages_;
    std::size_t nodes_ = 0;
    int depth_ = 0; // of bodies within bodies
};

std::vector<Dim> Reader::dims(std::string_view bytes) {
    std::vector<Dim> all;
    each(bytes, [&](const Field& f) {
        Dim dim;
        each(f.bytes, [&](const Field& part) {
            if (part.number == 1 && part.integer() >= 0) {
                dim.size = part.integer();
            } else if (part.number == 2) {
                dim.name = text(part);
            }
        });
        if (f.number == 1 && all.size() < 64) {
            messages_.store(sizeof dim);
            all.push_back(std::move(dim));
        }
    });
    return all;
}

TensorType Reader::type(std::string_view bytes) {
    TensorType type;
    each(bytes, [&](const Field& f) { // 1: tensor_type; others (sequences, maps)
                                      // have no shape here
        if (f.number != 1) {
            return;
        }
        each(f.bytes, [&](const Field& part) {
            if (part.number == 1) {
                type.element = static_cast<int>(part.value & 0xFFU);
            } else if (part.number == 2) {
                type.dims = dims(part.bytes);
            }
        });
    });
    return type;
}

std::pair<std::string, TensorType> Reader::value(std::string_view bytes) {
    std::pair<std::string, TensorType> named;
    messages_.store(sizeof named);
    each(bytes, [&](const Field& f) {
        if (f.number == 1) {
            named.first = text(f);
        } else if (f.number == 2) {
            named.second = type(f.bytes);
        }
    });
    return named;
}

std::pair<std::string, Attribute> Reader::attribute(std::string_view bytes) {
    std::pair<std::string, Attribute> named;
    Attribute& a = named.second;
    messages_.store(sizeof named);
    each(bytes, [&](const Field& f) {
        switch (f.number) {
        case 1:
            named.first = text(f);
            break;
        case 2:
            a.f = f.real();
            break;
        case 3:
            a.i = f.integer();
            break;
        case 4:
            a.s = text(f);
            break;
        case 5:
            a.tensor = read_tensor(messages_, f.bytes).second;
            break;
        case 6:
            a.graph = body(f.bytes);
            break;
        case 7: {
            const std::vector<double> values = read_floats(f);
            messages_.store(values.size() * sizeof(double));
            a.floats.insert(a.floats.end(), values.begin(), values.end());
            break;
        }
        case 8:
            messages_.integers(f, a.ints);
            break;
        case 21:
            a.refers = text(f);
            break;
        default:
            break;
        }
    });
    return named;
}

// Nothing where bodies are nested too deeply: the node is then reported as not costed.
std::shared_ptr<const OnnxGraph> Reader::body(std::string_view bytes) {
    constexpr int kDeepest = 16;
    if (depth_ >= kDeepest) {
        return nullptr;
    }
    ++depth_;
    auto read = std::make_shared<OnnxGraph>();
    graph(bytes, *read);
    --depth_;
    return read;
}

OnnxNode Reader::node(std::string_view bytes) {
    OnnxNode node;
    messages_.store(sizeof node);
    each(bytes, [&](const Field& f) {
        if (f.number == 1) {
            node.inputs.push_back(text(f));
        } else if (f.number == 2) {
            node.outputs.push_back(text(f));
        } else if (f.number == 3) {
            node.name = text(f);
        } else if (f.number == 4) {
            node.op = text(f);
        } else if (f.number == 5) {
            node.attributes.insert(attribute(f.bytes));
        } else if (f.number == 7) {
            node.domain = text(f);
        }
    });
    node.domain = node.domain == "ai.onnx" ? "" : node.domain;
    return node;
}

void Reader::add(std::vector<OnnxNode>& nodes, std::string_view bytes) {
    if (++nodes_ <= kMostNodes) {
        nodes.push_back(node(bytes));
    }
}

void Reader::graph(std::string_view bytes, OnnxGraph& graph) {
    std::vector<std::pair<std::string, TensorType>> inputs;
    each(bytes, [&](const Field& f) {
        switch (f.number) {
        case 1:
            add(graph.nodes, f.bytes);
            break;
        case 2:
            graph.name = text(f);
            break;
        case 5:
            graph.constants.insert(read_tensor(messages_, f.bytes));
            break;
        case 11:
            inputs.push_back(value(f.bytes));
            break;
        case 12: {
            auto output = value(f.bytes);
            graph.outputs.push_back(output.first);
            graph.told.insert(std::move(output));
            break;
        }
        case 13:
            graph.told.insert(value(f.bytes));
            break;
        case 15: // sparse initializers: their values are a tensor of their own
            each(f.bytes, [&](const Field& part) {
                if (part.number == 1) {
                    graph.constants.insert(read_tensor(messages_, part.bytes));
                }
            });
            break;
        default:
            break;
        }
    });
    for (auto& [name, type] : inputs) { // before IR version 4 initializers are inputs too
        if (!graph.constants.contains(name)) {
            graph.inputs.push_back(name);
            graph.input_types[name] = std::move(type);
        }
    }
}

OnnxFunction Reader::function(std::string_view bytes) {
    OnnxFunction function;
    messages_.store(sizeof function);
    each(bytes, [&](const Field& f) {
        if (f.number == 1) {
            function.op = text(f);
        } else if (f.number == 4) {
            function.inputs.push_back(text(f));
        } else if (f.number == 5) {
            function.outputs.push_back(text(f));
        } else if (f.number == 7) {
            add(function.nodes, f.bytes);
        } else if (f.number == 10) {
            function.domain = text(f);
        } else if (f.number == 11) {
            function.defaults.insert(attribute(f.bytes));
        }
    });
    return function;
}

void Reader::opset(std::string_view bytes, std::int64_t& version) {
    std::string domain;
    std::int64_t number = 1;
    each(bytes, [&](const Field& f) {
        if (f.number == 1) {
            domain = text(f);
        } else if (f.number == 2) {
            number = f.integer();
        }
    });
    version = domain.empty() || domain == "ai.onnx" ? number : version;
}

OnnxGraph Reader::model(std::string_view bytes) {
    OnnxGraph result;
    each(bytes, [&](const Field& f) {
        if (f.number == 7 && f.wire == Wire::bytes) {
            graph(f.bytes, result);
        } else if (f.number == 8 && f.wire == Wire::bytes) {
            opset(f.bytes, result.opset);
        } else if (f.number == 25 && f.wire == Wire::bytes) {
            result.functions.push_back(function(f.bytes));
        }
    });
    return result;
}

} // namespace

Result<OnnxGraph> read_graph(std::string_view bytes, const std::string& file,
                             const BytesPassed& passed, const Limits& limits) {
    Reader reader(passed, limits);
    OnnxGraph graph = reader.model(bytes);
    using Answer = Result<OnnxGraph>;
    if (reader.broken()) {
        return Answer::failure("bad-onnx", "the file is broken off, or is no ONNX model",
                               "export it again; `net check` reads other formats too",
                               {file, 0, 0});
    }
    if (reader.too_large()) {
        return Answer::failure(
            "too-large",
            fmt::format("the file has more than {} fields, or more than {} MiB without its weights",
                        limits.fields, limits.stored_bytes >> 20U),
            "is it an ONNX model? export it in parts", {file, 0, 0});
    }
    if (reader.too_many_nodes()) {
        return Answer::failure("too-many-layers",
                               fmt::format("the graph has more than {} nodes", kMostNodes),
                               "export the model in parts", {file, 0, 0});
    }
    if (graph.nodes.empty()) {
        return Answer::failure("no-layers", "the file holds no graph with nodes",
                               "is it an ONNX model?", {file, 0, 0});
    }
    return graph;
}

bool looks_like_onnx(std::string_view start) {
    Fields fields(start);
    const auto first = fields.next();
    return first && first->number == 1 && first->wire == Wire::varint && first->value < 1000 &&
           start.front() == '\x08';
}

model::DataType data_type_of(int element) {
    using model::DataType;
    switch (element) {
    case 10:
        return DataType::fp16;
    case 16:
        return DataType::bf16;
    case kDouble:
        return DataType::fp64;
    case kUint8:
    case kInt8:
    case kBool:
        return DataType::int8;
    case 4:
    case 5:
        return DataType::int16;
    case kInt32:
    case kInt64:
    case 12:
    case 13:
        return DataType::int32;
    case 17:
    case 18:
    case 19:
    case 20:
    case 24:
        return DataType::fp8;
    case 21:
    case 22:
        return DataType::int4;
    case 23:
        return DataType::fp4;
    default:
        return DataType::fp32;
    }
}

} // namespace eyeroof::formats::onnx
