extension LocalizedNames {
    /// The files in `Languages`, by the BCP 47 tags in their names.
    static let sources: [(language: String, bytes: [UInt8])] = [
        ("en", PackageResources.en_strings), ("ar", PackageResources.ar_strings), ("de", PackageResources.de_strings),
        ("es", PackageResources.es_strings), ("fr", PackageResources.fr_strings), ("ja", PackageResources.ja_strings),
        ("zh-Hans", PackageResources.zh_Hans_strings),
    ]
}
