#include "gui/panes/short_names.hpp"

#include <QHash>
#include <QSet>
#include <algorithm>
#include <cstdlib>

namespace eyeroof::gui {

namespace {

QString cut(const QString& name, int head, int most) {
    return name.size() <= most ? name : name.left(head) + "…" + name.right(most - 1 - head);
}

qsizetype apart(const QSet<QString>& names, int head, int most) {
    QSet<QString> shorter;
    for (const QString& name : names) {
        shorter.insert(cut(name, head, most));
    }
    return shorter.size();
}

int best_head(const QSet<QString>& names, int most) {
    const int middle = most / 2;
    int best = middle;
    qsizetype most_apart = apart(names, middle, most);
    for (int head = most / 6; head <= most - most / 6 && most_apart < names.size(); ++head) {
        const qsizetype now = apart(names, head, most);
        if (now > most_apart ||
            (now == most_apart && std::abs(head - middle) < std::abs(best - middle))) {
            most_apart = now;
            best = head;
        }
    }
    return best;
}

// The first place where a name is not like one of the others.
int first_difference(const QString& name, const QStringList& others) {
    int least = 0;
    for (const QString& other : others) {
        int at = 0;
        while (at < name.size() && at < other.size() && name[at] == other[at]) {
            ++at;
        }
        least = std::max(least, name == other ? 0 : at);
    }
    return least;
}

QString around(const QString& name, int place, int most) {
    const int ends = most / 4;
    const int inside = most - 2 * ends - 2;
    const int from =
        std::clamp<int>(place - inside / 3, ends, std::max<int>(ends, name.size() - ends - inside));
    return name.left(ends) + "…" + name.mid(from, inside) + "…" + name.right(ends);
}

} // namespace

QStringList short_names(const QStringList& names, int most) {
    QSet<QString> different(names.begin(), names.end());
    const int head = best_head(different, most);
    QHash<QString, QStringList> same; // by what they are cut to
    for (const QString& name : different) {
        same[cut(name, head, most)] << name;
    }
    QStringList result;
    for (const QString& name : names) {
        const QString shorter = cut(name, head, most);
        const QStringList& others = same[shorter];
        result << (others.size() < 2 || name.size() <= most
                       ? shorter
                       : around(name, first_difference(name, others), most));
    }
    return result;
}

} // namespace eyeroof::gui
