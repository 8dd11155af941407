#!/bin/bash
# Debian packages in an empty root: packages.sh FOLDER-WITH-DEBS. Installs, runs and purges them there, and
# looks for what stays behind. The root has no other package, so that dependencies are listed, not followed.
set -eu
folder=$1
command -v dpkg >/dev/null || { echo "skipped: no dpkg"; exit 77; }
debs=("$folder"/*.deb)
[ -e "${debs[0]}" ] || { echo "skipped: no packages in $folder (cpack -G DEB makes them)"; exit 77; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/var/lib/dpkg/{info,updates,triggers} "$root/var/log"
touch "$root/var/lib/dpkg/status"
before=$(cd "$root" && find . -path ./var/lib/dpkg -prune -o -path ./var/log -prune -o -print | sort)
passed=0
dpkg --root="$root" --force-depends --force-not-root --force-script-chrootless -i "${debs[@]}" >/dev/null 2>&1
for deb in "${debs[@]}"; do
    name=$(dpkg-deb -f "$deb" Package)
    depends=$(dpkg-deb -f "$deb" Depends)
    echo "$name: needs ${depends:-nothing}"
    [ -n "$depends" ] || { echo "$name has no dependencies"; exit 1; }
    passed=$((passed + 1))
done
output=$(cd / && "$root/usr/bin/eyeroof" exam alexnet --on eyeriss-v1)
grep -q CONV1 <<<"$output" || { echo "the installed program does not examine: $output"; exit 1; }
output=$(cd / && "$root/usr/bin/eyeroof" tune resnet18-c1-c12 --layers 'C9$' --target model --trials 2)
grep -q C9 <<<"$output" || { echo "the installed program does not tune: $output"; exit 1; }
for file in share/man/man1/eyeroof.1 share/bash-completion/completions/eyeroof \
    share/zsh/vendor-completions/_eyeroof share/fish/vendor_completions.d/eyeroof.fish; do
    [ -s "$root/usr/$file" ] || [ -s "$root/usr/$file.gz" ] || { echo "usr/$file is not there"; exit 1; }
    passed=$((passed + 1))
done
for deb in "${debs[@]}"; do
    dpkg --root="$root" --force-depends --force-not-root --force-script-chrootless \
        -P "$(dpkg-deb -f "$deb" Package)" >/dev/null 2>&1
done
after=$(cd "$root" && find . -path ./var/lib/dpkg -prune -o -path ./var/log -prune -o -print | sort)
[ "$before" = "$after" ] || { echo "left behind:"; diff <(echo "$before") <(echo "$after"); exit 1; }
echo "$((passed + 3)) passed, 0 failed"
