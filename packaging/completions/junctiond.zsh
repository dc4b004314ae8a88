#compdef junctiond

__junctiond_complete() {
    local -ar non_empty_completions=("${@:#(|:*)}")
    local -ar empty_completions=("${(M)@:#(|:*)}")
    _describe -V '' non_empty_completions -- empty_completions -P $'\'\''
}

__junctiond_custom_complete() {
    local -a completions
    completions=("${(@f)"$("${command_name}" "${@}" "${command_line[@]}")"}")
    if [[ "${#completions[@]}" -gt 1 ]]; then
        __junctiond_complete "${completions[@]:0:-1}"
    fi
}

__junctiond_cursor_index_in_current_word() {
    if [[ -z "${QIPREFIX}${IPREFIX}${PREFIX}" ]]; then
        printf 0
    else
        printf %s "${#${(z)LBUFFER}[-1]}"
    fi
}

_junctiond() {
    emulate -RL zsh -G
    setopt extendedglob nullglob numericglobsort
    unsetopt aliases banghist

    local -xr SAP_SHELL=zsh
    local -x SAP_SHELL_VERSION
    SAP_SHELL_VERSION="$(builtin emulate zsh -c 'printf %s "${ZSH_VERSION}"')"
    local -r SAP_SHELL_VERSION

    local context state state_descr line
    local -A opt_args

    local -r command_name="${words[1]}"
    local -ar command_line=("${words[@]}")
    local -ir current_word_index="$((CURRENT - 1))"

    local -i ret=1
    local -ar arg_specs=(
        '--config[The configuration; otherwise junctiond.toml in $CONFIGURATION_DIRECTORY, otherwise /etc/junctiond/junctiond.toml. Where that file is missing the built-in defaults apply.]:file:_files -g '\''*.toml'\'''
        '--socket[Where to listen, unless a socket was passed; otherwise $XDG_RUNTIME_DIR/junctiond/junctiond.sock, otherwise /run/junctiond/junctiond.sock.]:path:_files'
        '--state-dir[Where to keep the session; otherwise $STATE_DIRECTORY, otherwise $XDG_STATE_HOME/junctiond, otherwise ~/.local/state/junctiond.]:dir:_files -/'
        '--check-config[Check the configuration and the files it names, say whether it is in order, and end.]'
        '--version[Show the version.]'
        '(-h --help)'{-h,--help}'[Show help information.]'
        '(-): :->command'
        '(-)*:: :->arg'
    )
    _arguments -w -s -S : "${arg_specs[@]}" && ret=0
    case "${state}" in
    command)
        local -ar subcommands=(
            'help:Show subcommand help information.'
        )
        _describe -V subcommand subcommands && ret=0
        ;;
    arg)
        case "${words[1]}" in
        help)
            "_junctiond_${words[1]}" && ret=0
            ;;
        esac
        ;;
    esac

    return "${ret}"
}

_junctiond_help() {
    local -i ret=1
    local -ar arg_specs=(
        '*:subcommands:'
        '--version[Show the version.]'
    )
    _arguments -w -s -S : "${arg_specs[@]}" && ret=0

    return "${ret}"
}

if [[ "${funcstack[1]}" = _junctiond ]]; then
    _junctiond "${@}"
else
    compdef _junctiond junctiond
fi
