import BrokerVarlinkServer
import Glibc

// Serves org.varlink.certification at the given path, for other implementations' certification clients.
// Ends when its standard input ends, so that it does not outlive the program that started it.

func giveUp(_ why: String) -> Never {
    let line = Array("\(why)\n".utf8)
    write(2, line, line.count)
    exit(2)
}

guard CommandLine.arguments.count == 2 else {
    giveUp("usage: CertificationServer SOCKET")
}
let path = CommandLine.arguments[1]
do {
    let loop = try EventLoop()
    try loop.run {
        let certification = try Certification()
        _ = try VarlinkServer(at: .path(path), loop: loop, onCall: certification.answer)
    }
} catch {
    giveUp("CertificationServer: \(error)")
}
print("ready")
fflush(nil)
while readLine() != nil {}
unlink(path)
