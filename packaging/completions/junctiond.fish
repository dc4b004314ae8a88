complete -c junctiond -f
complete -c junctiond -l config -rF -d 'The configuration'
complete -c junctiond -l socket -rF -d 'Where to listen, unless a socket was passed'
complete -c junctiond -l state-dir -rfa '(__fish_complete_directories)' -d 'Where to keep the session'
complete -c junctiond -l check-config -d 'Check the configuration and the files it names, and end'
complete -c junctiond -l version -d 'Show the version'
complete -c junctiond -s h -l help -d 'Show help information'
