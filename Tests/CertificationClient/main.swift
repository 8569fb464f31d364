import BrokerVarlinkClient
import Glibc

// Runs org.varlink.certification against another implementation's server, with the client that our programs use.

func giveUp(_ why: String) -> Never {
    fflush(nil)
    let line = Array("CertificationClient: \(why)\n".utf8)
    write(2, line, line.count)
    exit(1)
}

guard CommandLine.arguments.count == 2 else { giveUp("usage: CertificationClient SOCKET") }
do {
    let client = try VarlinkClient(path: CommandLine.arguments[1], timeout: .seconds(30))
    try CertificationRun(client).pass()
    try CertificationRun(client).fail()
    print("Certification passed")
} catch {
    giveUp("\(error)")
}
