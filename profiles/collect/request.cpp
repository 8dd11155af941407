#include "profiles/collect/request.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace eyeroof::profiles {

using Json = nlohmann::json;

std::string request_text(const CollectRequest& request) {
    const Json json = {{"mode", request.mode},          {"folder", request.folder},
                       {"token", request.token},        {"cupti_folder", request.cupti_folder},
                       {"metrics", request.metrics},    {"kernel", request.filter.name_regex},
                       {"range", request.filter.range}, {"skip", request.filter.skip},
                       {"count", request.filter.count}, {"window", request.window}};
    return json.dump();
}

Result<CollectRequest> request_from_text(std::string_view text) {
    try {
        const Json json = Json::parse(text);
        CollectRequest request;
        json.at("mode").get_to(request.mode);
        json.at("folder").get_to(request.folder);
        json.at("token").get_to(request.token);
        json.at("cupti_folder").get_to(request.cupti_folder);
        json.at("metrics").get_to(request.metrics);
        json.at("kernel").get_to(request.filter.name_regex);
        json.at("range").get_to(request.filter.range);
        json.at("skip").get_to(request.filter.skip);
        json.at("count").get_to(request.filter.count);
        constexpr std::size_t kLargestWindow = 2000;
        request.window =
            std::clamp(json.at("window").get<std::size_t>(), std::size_t{1}, kLargestWindow);
        return request;
    } catch (const Json::exception& error) {
        return Result<CollectRequest>::failure("bad-request", error.what());
    }
}

} // namespace eyeroof::profiles
