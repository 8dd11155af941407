#!/bin/bash
# The documents as a site: site.sh SOURCES. Every page is in its contents, every link between files leads
# somewhere, and where mkdocs is installed the site builds without a warning.
set -u
cd "$1" || exit 1
wrong=0 right=0

say() {
    echo "$1"
    wrong=$((wrong + 1))
}

for page in docs/*.md docs/dev/*.md; do
    name=${page#docs/}
    if grep -q ": $name\$" mkdocs.yml; then right=$((right + 1)); else say "$page is not in the contents of mkdocs.yml"; fi
done

# Links to files: [words](path), with or without a place in it; not to the web, not in code.
while IFS=: read -r page line link; do
    target=${link%%#*}
    [ -n "$target" ] || continue
    if [ -e "$(dirname "$page")/$target" ]; then right=$((right + 1)); else say "$page:$line: there is no $target"; fi
done < <(for page in README.md CONTRIBUTING.md CHANGELOG.md SECURITY.md THIRD-PARTY.md docs/*.md docs/dev/*.md; do
    awk -v page="$page" '
        /^ *```/ { code = !code }
        !code {
            text = $0
            gsub(/`[^`]*`/, "", text)
            while (match(text, /\]\([^)]*\)/)) {
                link = substr(text, RSTART + 2, RLENGTH - 3)
                if (link !~ /^[a-z]+:/) print page ":" NR ":" link
                text = substr(text, RSTART + RLENGTH)
            }
        }' "$page"
done)

if command -v mkdocs >/dev/null; then
    folder=$(mktemp -d)
    if told=$(mkdocs build --quiet --strict -d "$folder" 2>&1); then right=$((right + 1)); else say "mkdocs build --strict: $told"; fi
    rm -rf "$folder"
else
    echo "mkdocs is not installed: contents and links only"
fi
echo "$right passed, $wrong failed"
[ "$wrong" -eq 0 ] && [ "$right" -gt 0 ]
