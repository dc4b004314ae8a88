#compdef junctiond
_arguments -s -S \
    "--config[The configuration]:file:_files -g '*.toml'" \
    '--socket[Where to listen, unless a socket was passed]:path:_files' \
    '--state-dir[Where to keep the session]:directory:_files -/' \
    '--check-config[Check the configuration and the files it names, and end]' \
    '--version[Show the version]' \
    '(-h --help)'{-h,--help}'[Show help information]'
