# Completions of contact-agent for fish.
complete -c contact-agent -f
complete -c contact-agent -l once -d 'Exit after one request'
complete -c contact-agent -l plain -d 'Write lines instead of a full screen'
complete -c contact-agent -l notify -d 'Only report that requests wait'
complete -c contact-agent -l version -d 'Show the version'
complete -c contact-agent -l help -d 'Show help'
