// Text as other programs save it, made plain: the one place that knows byte order marks, UTF-16,
// and the blanks that spreadsheets and web pages put in the place of a space.
#pragma once

#include <string>
#include <string_view>

namespace eyeroof {

// Whether the bytes begin as UTF-16 does: by its mark, or by ASCII letters with zeros between them.
bool is_utf16(std::string_view head);

// The same text in UTF-8, without a byte order mark, and with a space for each no-break space.
// UTF-16 is decoded; a unit that is no character becomes U+FFFD. Other bytes stay as they are.
std::string plain_text(std::string text);

} // namespace eyeroof
