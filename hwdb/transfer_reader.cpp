#include "hwdb/transfer_reader.hpp"

#include "hwdb/yaml_write.hpp"

#include <fmt/format.h>

namespace eyeroof::hwdb {

namespace {

constexpr std::pair<std::string_view, int> kTransferFormats[] = {{"transfer/1", 1}};

model::TransferKind read_kind(const Node& node) {
    model::TransferKind kind;
    kind.spread = node.need("spread").number(0.01, 3.0).value_or(kind.spread);
    kind.mape = node.need("mape").number(0.0, 10.0).value_or(kind.mape);
    kind.sheet_mape = node.need("sheet_mape").number(0.0, 10.0).value_or(kind.sheet_mape);
    kind.guess_mape = node.need("guess_mape").number(0.0, 10.0).value_or(kind.guess_mape);
    kind.families = static_cast<int>(node.need("families").integer({1, 1 << 20}).value_or(1));
    kind.rows = static_cast<int>(node.need("rows").integer({1, 1 << 30}).value_or(1));
    return kind;
}

} // namespace

Result<model::Transfer> load_transfer(Folders folders) {
    const auto path = nearest_file(folders, "transfer.yaml");
    if (!path) {
        return model::Transfer{};
    }
    auto document = load_yaml(*path);
    return document ? read_transfer(*document) : Result<model::Transfer>(document.diagnostics());
}

Result<model::Transfer> read_transfer(Document& document) {
    const Node root = document.root();
    root.need("eyeroof").choice(kTransferFormats, "format of this file");
    model::Transfer transfer;
    transfer.source = root.need("source").text().value_or("");
    transfer.share = root.need("share").number(0.0, 1.5).value_or(transfer.share);
    transfer.operators = root.need("operators").number(0.0, 3.0).value_or(transfer.operators);
    for (const auto& [name, node] : root.need("kinds").entries()) {
        transfer.kinds[name] = read_kind(node);
    }
    return document.conclude(std::move(transfer));
}

std::string write_transfer(const model::Transfer& transfer) {
    std::string text = fmt::format("# Made by `eyeroof validate PAIRS --pairs --fit`.\n"
                                   "eyeroof: transfer/1\nsource: {}\nshare: {:.4g}\n"
                                   "operators: {:.4g}\nkinds:{}\n",
                                   yaml_quoted(transfer.source), transfer.share, transfer.operators,
                                   transfer.kinds.empty() ? " {}" : "");
    for (const auto& [name, k] : transfer.kinds) {
        text += fmt::format("  {}: {{spread: {:.4g}, mape: {:.4g}, sheet_mape: {:.4g}, guess_mape: "
                            "{:.4g}, families: {}, rows: {}}}\n",
                            yaml_scalar(name), k.spread, k.mape, k.sheet_mape, k.guess_mape,
                            k.families, k.rows);
    }
    return text;
}

} // namespace eyeroof::hwdb
