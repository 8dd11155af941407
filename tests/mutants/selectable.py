"""Several wrong lines in one text, of which the environment chooses one when the program runs.

A change is a statement that is written once per mutant:

    return a * b;                       if (eyeroof_mutant == 3) { return a / b; } return a * b;
    const double x = a + b;             const double x = (eyeroof_mutant == 4) ? (a - b) : (a + b);
    if (a && b) {                       if ((eyeroof_mutant == 5) ? (a || b) : (a && b)) {

A statement that is none of these is compiled alone, with its mutant in its place.
"""

import re

HEAD = """#include <cstdlib>
static const int eyeroof_mutant = [] {
    const char* const number = std::getenv("EYEROOF_MUTANT");
    return number == nullptr ? 0 : std::atoi(number);
}();
"""


class Change:
    """One mutant: what stands between two offsets of a file, and what stands there instead."""

    def __init__(self, text, begin, end, new):
        self.begin, self.end, self.new = begin, end, new
        self.lines = statement_around(text, begin, end)
        self.old_statement = "\n".join(text.split("\n")[self.lines[0]:self.lines[1] + 1])
        start = offset_of(text, self.lines[0])
        self.new_statement = (self.old_statement[:begin - start] + new + self.old_statement[end - start:])

    def applied(self, text):
        return text[:self.begin] + self.new + text[self.end:]


def offset_of(text, line):
    at = 0
    for _ in range(line):
        at = text.index("\n", at) + 1
    return at


def code_of(line):
    """Without a comment at its end."""
    return line if '"' in line else line.partition("//")[0].rstrip()


def ends_statement(line):
    code = code_of(line).strip()
    return not code or code.startswith("#") or code.endswith((";", "{", "}", ":"))


def statement_around(text, begin, end):
    """First and last line of the statement that holds these offsets."""
    lines = text.split("\n")
    first = text.count("\n", 0, begin)
    last = text.count("\n", 0, max(begin, end - 1) if end > begin and text[end - 1] == "\n" else end)
    while first > 0 and not ends_statement(lines[first - 1]):
        first -= 1
    while last + 1 < len(lines) and not ends_statement(lines[last]):
        last += 1
    return first, last


def is_balanced(code):
    depth = 0
    for letter in code:
        depth += (letter in "([{") - (letter in ")]}")
        if depth < 0:
            return False
    return depth == 0


def split_top(code):
    """The parts of a for's or an if's parentheses that semicolons divide."""
    parts, depth = [""], 0
    for letter in code:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == ";" and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def frames(code):
    """Every way to see the statement as an expression between two constant texts."""
    found = []
    control = re.match(r"^((?:\} else )?(?:if|while) \()(.*)(\) \{)$", code)
    if control:
        parts = split_top(control[2])
        if not re.search(r"[^=!<>]=[^=]", parts[-1]):
            found.append((control[1] + "".join(p + ";" for p in parts[:-1]), parts[-1], control[3]))
    loop = re.match(r"^(for \()(.*)(\) \{)$", code)
    if loop:
        parts = split_top(loop[2])
        if len(parts) == 3:
            start = re.match(r"^(.*? = )(.*)$", parts[0])
            if start:
                found.append((loop[1] + start[1], start[2], ";" + parts[1] + ";" + parts[2] + loop[3]))
            found.append((loop[1] + parts[0] + ";", parts[1], ";" + parts[2] + loop[3]))
    declared = re.match(r"^((?:(?:inline|static|constexpr|const) )*[\w:<>, ]+[ &*]+(?:\w+|\[[\w, ]+\]) = )([^{].*)(;)$",
                        code)
    if declared and not code.startswith(("return ", "case ", "using ")):
        found.append((declared[1].replace("constexpr ", "const "), declared[2], declared[3]))
    return found


def is_whole(code):
    """Whether it may stand in a block of its own: it declares nothing."""
    return bool(code == ";" or re.match(r"^(return\b|continue;|break;|(\+\+|--)?\*?[\w:.\->\[\]()]+"
                                        r"(\(| [-+*/|&^]?= |\+\+;|--;))", code)) and code.endswith(";")


def flat(statement):
    return " ".join(code_of(line).strip() for line in statement.split("\n")).strip()


def choice_of(statement, instead):
    """The statement with all these mutants, (number, new statement) each; None if it is of no known form."""
    code = flat(statement)
    label = re.match(r"^(?:case [\w:]+|default): ", code)
    label = label[0] if label else ""
    code = code[len(label):]
    others = []
    for number, text in instead:
        other = flat(text)
        if not other.startswith(label):
            return None
        others.append((number, other[len(label):] or ";"))
    if is_whole(code) and is_balanced(code) and all(is_whole(o) and is_balanced(o) for _, o in others):
        return label + "".join(f"if (eyeroof_mutant == {n}) {{ {o} }} else " for n, o in others) + f"{{ {code} }}"
    for begin, expression, end in frames(code):
        chosen = f"({expression})"
        for number, other in others:
            same = [e for b, e, c in frames(other) if (b, c) == (begin, end)]
            if not same or not is_balanced(same[0]):
                break
            chosen = f"((eyeroof_mutant == {number}) ? ({same[0].strip()}) : {chosen})"
        else:
            if is_balanced(expression):
                return label + begin + chosen + end
    return None


def together(text, changes):
    """The text with all changes that can be selected, and their numbers by line; lines stay where they are."""
    by_lines = {}
    for number, change in changes:
        by_lines.setdefault(change.lines, []).append((number, change))
    lines, places, last = text.split("\n"), {}, -1
    for (first, end), members in sorted(by_lines.items()):
        if first <= last:
            continue
        code = choice_of(members[0][1].old_statement, [(n, c.new_statement) for n, c in members])
        if code is None:
            continue
        lines[first:end + 1] = [code] + [""] * (end - first)
        places[(first + 1, end + 1)] = [n for n, _ in members]
        last = end
    return "\n".join(lines), places
