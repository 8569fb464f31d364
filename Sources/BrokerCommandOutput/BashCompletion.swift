/// The argument parser's completion script for bash.
enum BashCompletion {
    /// Makes the script compare a program's words itself. The argument parser gives them to `compgen -W`, which expands
    /// them, so bash would run a command in the name of an app.
    ///
    /// - Returns: `nil` if the script does not have the place where it offers words.
    static func withoutExpansion(_ script: String) -> String? {
        let parts = script.split(separator: beginning, omittingEmptySubsequences: false)
        return parts.count == 2 ? parts[0] + beginning + comparison + parts[1] : nil
    }

    private static let beginning = "_add_completions() {\n    local completion\n"

    private static let comparison = """
            if [[ "${1}" = -W ]]; then
                while IFS='' read -r completion; do
                    if [[ -n "${completion}" && "${completion}" = "${cur}"* ]]; then
                        COMPREPLY+=("${completion}")
                    fi
                done <<<"${2}"
                return
            fi

        """
}
