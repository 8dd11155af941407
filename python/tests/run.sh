#!/bin/sh
# Tests of the Python package: run.sh PYTHON FOLDER-WITH-_eyeroof SOURCES. 77: something is missing, and
# what it is.
set -eu
python=$1 extension=$2 sources=$3
"$python" -c "import pytest" 2>/dev/null || { echo "skipped: $python has no pytest"; exit 77; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -r "$sources/python/eyeroof" "$sources/python/eyeroof_mcp" "$folder"
cp "$extension"/_eyeroof*.so "$folder/eyeroof/" || { echo "skipped: the extension is not built"; exit 77; }
cp "$extension/_options.py" "$folder/eyeroof/"
mkdir -p "$folder/eyeroof/share/eyeroof"
ln -s "$sources/hwdb" "$folder/eyeroof/share/eyeroof/hwdb"
ln -s "$sources/examples/networks" "$folder/eyeroof/share/eyeroof/networks"
ln -s "$sources/profiles/metrics" "$folder/eyeroof/share/eyeroof/metrics"
cd "$folder"
PYTHONPATH="$folder" XDG_DATA_HOME="$folder/none" "$python" -m pytest -q -p no:cacheprovider "$sources/python/tests"
if "$python" -c "import mcp.server.lowlevel" 2>/dev/null; then
    PYTHONPATH="$folder" XDG_DATA_HOME="$folder/none" "$python" "$sources/tests/hostile/mcp.py" 300
fi
