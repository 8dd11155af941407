#!/bin/bash
# The documents as a site: site.sh SOURCES. Contents, links, and the number of pages are pages.py's; where mkdocs
# is installed the site builds without a warning, with its search.
set -u
cd "$1" || exit 1
wrong=0
python3 tests/docs/pages.py . || wrong=1
if command -v mkdocs >/dev/null; then
    folder=$(mktemp -d)
    if output=$(mkdocs build --quiet --strict -d "$folder" 2>&1) && [ -s "$folder/search/search_index.json" ]; then
        echo "the site builds, with its search"
    else
        echo "mkdocs build --strict: $output"
        wrong=1
    fi
    rm -rf "$folder"
else
    echo "mkdocs is not installed: contents and links only"
fi
exit "$wrong"
