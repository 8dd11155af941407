# What zsh offers for a line: zsh_completion.zsh PROGRAM SCRIPT LINE. A zsh at a terminal of its own loads the
# completion, types the line and a tab; what compadd then adds is written to a file, one word a line.
emulate -L zsh
zmodload zsh/zpty || exit 77
program=$1 script=$2 line=$3
added=$(mktemp) asked=$(mktemp -d)

cat > $asked/.zshrc <<SETUP
PATH=${program:h}:\$PATH
autoload -Uz compinit && compinit -u -d $asked/dump
source $script
compadd() {
    if [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]]; then builtin compadd "\$@"; return; fi
    local -a hits
    builtin compadd -A hits "\$@"
    print -rl -- \$hits >> $added
}
bindkey '^I' complete-word
bindkey -s '^X' '^U'
list() { zle complete-word; print done > $asked/done; }
zle -N list && bindkey '^T' list
print ready > $asked/ready
SETUP
ZDOTDIR=$asked zpty child "ZDOTDIR=$asked zsh -d -i"
wait_for() { for i in {1..200}; do [[ -e $1 ]] && return 0; sleep 0.05; done; return 1 }
wait_for $asked/ready || exit 1
zpty -n -w child "$line"$'\x14'
wait_for $asked/done || exit 1
zpty -d child
sort -u $added | grep -v "^$"
rm -rf $added $asked
