// Every kind of answer, for its JSON schema.
#pragma once

#include <string>
#include <vector>

namespace eyeroof::report {

// "fuse" of "eyeroof/fuse/1", in alphabetical order.
std::vector<std::string> answer_names();
// Empty where there is none of this name.
std::string schema_of(const std::string& name);

} // namespace eyeroof::report
