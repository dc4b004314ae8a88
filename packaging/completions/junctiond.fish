function __junctiond_should_offer_completions_for_flags_or_options -a expected_commands
    set -l non_repeating_flags_or_options $argv[2..]
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __junctiond_parse_tokens
    test "$commands" = "$expected_commands"; and return $non_repeating_flags_or_options_absent
end

function __junctiond_should_offer_completions_for_positional -a expected_commands positional_index_comparison expected_positional_index
    set -l non_repeating_flags_or_options
    set -l non_repeating_flags_or_options_absent 0
    set -l positional_index 0
    set -l commands
    __junctiond_parse_tokens
    test "$commands" = "$expected_commands" -a \( "$positional_index" "$positional_index_comparison" "$expected_positional_index" \)
end

function __junctiond_parse_tokens -S
    set -l unparsed_tokens (__junctiond_tokens -pc)
    switch $unparsed_tokens[1]
    case 'junctiond'
        __junctiond_parse_subcommand 0 'config=' 'socket=' 'state-dir=' 'check-config' 'version' 'h/help'
        switch $unparsed_tokens[1]
        case 'help'
            __junctiond_parse_subcommand -r 1 'version'
        end
    end
end

function __junctiond_tokens
    if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
        commandline --tokens-raw $argv
    else
        commandline -o $argv
    end
end

function __junctiond_parse_subcommand -S -a positional_count
    argparse -s r -- $argv
    set -l option_specs $argv[2..]
    set -l is_repeating_positional $_flag_r
    set -el _flag_r
    set -a commands $unparsed_tokens[1]
    set positional_index 0
    while true
        set -e unparsed_tokens[1]
        argparse -sn "$commands" $option_specs -- $unparsed_tokens 2> /dev/null
        set unparsed_tokens $argv
        set positional_index (math $positional_index + 1)
        for non_repeating_flag_or_option in $non_repeating_flags_or_options
            if set -ql "_flag_$(string replace -a - _ -- $non_repeating_flag_or_option)"
                set non_repeating_flags_or_options_absent 1
                break
            end
        end
        test (count $unparsed_tokens) -eq 0 -o \( -z "$is_repeating_positional" -a "$positional_index" -gt "$positional_count" \) && break
    end
end

function __junctiond_complete_directories
    set -l token (commandline -t)
    string match -- '*/' $token
    set -l subdirs $token*/
    printf %s\n $subdirs
end

function __junctiond_custom_completion
    set -x SAP_SHELL fish
    set -x SAP_SHELL_VERSION $FISH_VERSION
    set -l tokens (__junctiond_tokens -p)
    if test -z "$(__junctiond_tokens -t)"
        set -l index (count (__junctiond_tokens -pc))
        set tokens $tokens[..$index] \'\' $tokens[(math $index + 1)..]
    end
    command $tokens[1] $argv $tokens
end

complete -c 'junctiond' -f
complete -c 'junctiond' -n '__junctiond_should_offer_completions_for_flags_or_options "junctiond" config' -l 'config' -d 'The configuration; otherwise junctiond.toml in $CONFIGURATION_DIRECTORY, otherwise /etc/junctiond/junctiond.toml. Where that file is missing the built-in defaults apply.' -rfa '(for p in (string match -e -- \'*/\' (commandline -t);or printf \n)*.\'toml\';printf %s\n $p;end;__fish_complete_directories (commandline -t) \'\')'
complete -c 'junctiond' -n '__junctiond_should_offer_completions_for_flags_or_options "junctiond" socket' -l 'socket' -d 'Where to listen, unless a socket was passed; otherwise $XDG_RUNTIME_DIR/junctiond/junctiond.sock, otherwise /run/junctiond/junctiond.sock.' -rF
complete -c 'junctiond' -n '__junctiond_should_offer_completions_for_flags_or_options "junctiond" state-dir' -l 'state-dir' -d 'Where to keep the session; otherwise $STATE_DIRECTORY, otherwise $XDG_STATE_HOME/junctiond, otherwise ~/.local/state/junctiond.' -rfa '(__junctiond_complete_directories)'
complete -c 'junctiond' -n '__junctiond_should_offer_completions_for_flags_or_options "junctiond" check-config' -l 'check-config' -d 'Check the configuration and the files it names, say whether it is in order, and end.'
complete -c 'junctiond' -n '__junctiond_should_offer_completions_for_flags_or_options "junctiond" version' -l 'version' -d 'Show the version.'
complete -c 'junctiond' -n '__junctiond_should_offer_completions_for_flags_or_options "junctiond" h help' -s 'h' -l 'help' -d 'Show help information.'
complete -c 'junctiond' -n '__junctiond_should_offer_completions_for_positional "junctiond" -eq 1' -fa 'help' -d 'Show subcommand help information.'
complete -c 'junctiond' -n '__junctiond_should_offer_completions_for_flags_or_options "junctiond help" version' -l 'version' -d 'Show the version.'
