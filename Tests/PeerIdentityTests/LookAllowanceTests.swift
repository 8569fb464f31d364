import Testing

@testable import PeerIdentity

@Suite("How much the loop may look at processes itself")
struct LookAllowanceTests {
    private static let look: Int64 = 25_000

    @Test("A crowd is looked at until what there is at once is spent, and then for a quarter of the time")
    func crowd() {
        let allowance = LookAllowance()
        var now: Int64 = 1_000_000_000
        var looks = 0
        while allowance.permits(1, at: now) {
            allowance.spent(1, from: now, to: now + Self.look)
            now += Self.look
            looks += 1
        }
        // What is spent comes back while it is spent.
        #expect((10...14).contains(looks))
        let (start, before) = (now, looks)
        while now < start + 100_000_000 {
            if allowance.permits(1, at: now) {
                allowance.spent(1, from: now, to: now + Self.look)
                now += Self.look
                looks += 1
            } else {
                now += 1_000
            }
        }
        let part = Double((Int64(looks - before) * Self.look)) / Double(now - start)
        #expect((0.24...0.26).contains(part))
        // After a pause there is as much as in the beginning, and no more.
        now += 60_000_000_000
        #expect(allowance.permits(1, at: now))
        allowance.spent(1, from: now, to: now + LookAllowance.most)
        #expect(!allowance.permits(1, at: now))
    }

    @Test("After a look that took long that user's processes are looked at elsewhere, and nobody else's")
    func rest() {
        let allowance = LookAllowance()
        let end = LookAllowance.longest + 1
        #expect(allowance.permits(1, at: 0))
        allowance.spent(1, from: 0, to: end)
        // What it took is made up for first.
        let later = end * LookAllowance.share
        #expect(allowance.permits(2, at: later))
        #expect(!allowance.permits(1, at: later))
        #expect(!allowance.permits(1, at: end + LookAllowance.rest - 1))
        #expect(allowance.permits(1, at: end + LookAllowance.rest))
    }

    @Test("A look that took as long as one may is forgiven")
    func longest() {
        let allowance = LookAllowance()
        allowance.spent(1, from: 0, to: LookAllowance.longest)
        #expect(!allowance.permits(1, at: 0))
        #expect(allowance.permits(1, at: LookAllowance.longest * LookAllowance.share + 4))
    }

    @Test("Where too many rest, everybody does")
    func manyRest() {
        let allowance = LookAllowance()
        for uid in 0..<UInt32(LookAllowance.mostResting) {
            allowance.spent(uid, from: 0, to: LookAllowance.longest + 1)
        }
        // From here on the time is counted in which it is made up for.
        #expect(!allowance.permits(54_321, at: 0))
        #expect(!allowance.permits(54_321, at: LookAllowance.rest))
        #expect(allowance.permits(54_321, at: LookAllowance.rest * 2))
    }
}
