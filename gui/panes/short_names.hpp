// Long names made short where they differ least, so that a column of them stays narrow and every
// one is still known from the others.
#pragma once

#include <QString>
#include <QStringList>

namespace eyeroof::gui {

inline constexpr int kLongestName = 34; // characters

// One for each, at most `most` characters: "…" stands for what is left out. All are cut at the same
// place, the one that keeps most of them apart; those that would still be the same keep the part
// in which they differ.
QStringList short_names(const QStringList& names, int most = kLongestName);

} // namespace eyeroof::gui
