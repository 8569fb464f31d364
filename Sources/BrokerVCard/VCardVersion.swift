/// A version of vCard, by the text of its VERSION property.
public enum VCardVersion: String, CaseIterable, Hashable, Sendable {
    /// What telephones and Outlook still send. It is only read.
    case v2_1 = "2.1"
    /// RFC 2426: what Apple's programs and Android read best.
    case v3_0 = "3.0"
    /// RFC 6350, with the parameters of RFC 8605 and RFC 9554.
    case v4_0 = "4.0"
}
