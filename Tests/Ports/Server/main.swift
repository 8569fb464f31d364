// A Model Context Protocol server on standard input and output, with one tool that searches contacts.

import Contacts
import Foundation

enum JSON: Codable, Sendable {
    case null
    case bool(Bool)
    case number(Double)
    case string(String)
    case array([JSON])
    case object([String: JSON])

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Double.self) {
            self = .number(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSON].self) {
            self = .array(value)
        } else {
            self = .object(try container.decode([String: JSON].self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .string(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .object(let value): try container.encode(value)
        }
    }

    subscript(key: String) -> JSON? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    var text: String? {
        guard case .string(let value) = self else { return nil }
        return value
    }
}

struct Call: Decodable, Sendable {
    var id: JSON?
    var method: String
    var params: JSON?
}

struct Reply: Encodable, Sendable {
    struct Failure: Encodable, Sendable {
        var code: Int
        var message: String
    }

    var jsonrpc = "2.0"
    var id: JSON
    var result: JSON?
    var error: Failure?
}

actor ContactsTools {
    private let store = CNContactStore()

    static let list = JSON.array([
        .object([
            "name": .string("search_contacts"),
            "description": .string("Searches contacts by name, and returns phone numbers and email addresses"),
            "inputSchema": .object([
                "type": .string("object"),
                "properties": .object(["name": .object(["type": .string("string")])]),
                "required": .array([.string("name")]),
            ]),
        ])
    ])

    func call(_ params: JSON?) async -> JSON {
        guard params?["name"]?.text == "search_contacts", let name = params?["arguments"]?["name"]?.text else {
            return Self.content("Unknown tool, or no name given", isError: true)
        }
        do {
            guard try await store.requestAccess(for: .contacts) else {
                return Self.content("Access to contacts was denied", isError: true)
            }
            let found = try search(name)
            return Self.content(found.isEmpty ? "No matches" : found.joined(separator: "\n"), isError: false)
        } catch let error as CNError where error.code == .authorizationDenied {
            return Self.content("Access to contacts was denied", isError: true)
        } catch {
            return Self.content(error.localizedDescription, isError: true)
        }
    }

    private func search(_ name: String) throws -> [String] {
        let keys: [any CNKeyDescriptor] = [
            CNContactFormatter.descriptorForRequiredKeys(for: .fullName),
            CNContactPhoneNumbersKey as any CNKeyDescriptor, CNContactEmailAddressesKey as any CNKeyDescriptor,
        ]
        let predicate = CNContact.predicateForContacts(matchingName: name)
        return try store.unifiedContacts(matching: predicate, keysToFetch: keys).map { contact in
            let name = CNContactFormatter.string(from: contact, style: .fullName) ?? "No name"
            let values =
                contact.phoneNumbers.map(\.value.stringValue) + contact.emailAddresses.map { $0.value as String }
            return ([name] + values).joined(separator: ", ")
        }
    }

    private static func content(_ text: String, isError: Bool) -> JSON {
        .object([
            "content": .array([.object(["type": .string("text"), "text": .string(text)])]), "isError": .bool(isError),
        ])
    }
}

let tools = ContactsTools()
let encoder = JSONEncoder()
encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]

func send(_ reply: Reply) throws {
    FileHandle.standardOutput.write(try encoder.encode(reply) + Data("\n".utf8))
}

while let line = readLine() {
    guard let call = try? JSONDecoder().decode(Call.self, from: Data(line.utf8)) else {
        try send(Reply(id: .null, error: .init(code: -32700, message: "Parse error")))
        continue
    }
    guard let id = call.id else { continue }
    switch call.method {
    case "initialize":
        let info = JSON.object(["name": .string("contacts"), "version": .string("1.0")])
        try send(
            Reply(
                id: id,
                result: .object([
                    "protocolVersion": .string("2025-06-18"), "capabilities": .object(["tools": .object([:])]),
                    "serverInfo": info,
                ])))
    case "tools/list": try send(Reply(id: id, result: .object(["tools": ContactsTools.list])))
    case "tools/call": try send(Reply(id: id, result: await tools.call(call.params)))
    default: try send(Reply(id: id, error: .init(code: -32601, message: "Method not found: \(call.method)")))
    }
}
