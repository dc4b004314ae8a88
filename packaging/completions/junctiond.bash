_junctiond() {
    local word=${COMP_WORDS[COMP_CWORD]}
    case ${COMP_WORDS[COMP_CWORD - 1]} in
        --config | --socket) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
        --state-dir) mapfile -t COMPREPLY < <(compgen -d -- "$word") ;;
        *)
            local options='--config --socket --state-dir --check-config --version --help'
            mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word")
            ;;
    esac
}
complete -o filenames -F _junctiond junctiond
