import BrokerPolicy

/// Why a manifest names nobody: the file, the line where there is one, and what is wrong with which key.
public typealias ManifestProblem = PolicyError
