import Glibc
import Testing

@testable import Systemd

/// Tests that set environment variables run in processes of their own.
@Suite struct ServiceManagerTests {
    @Test func `without a service manager the functions have no effect`() async {
        await #expect(processExitsWith: .success) {
            for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "LISTEN_FDS"] { unsetenv(name) }
            #expect(try ServiceManager.notify(.ready) == false)
            #expect(try ServiceManager.store([0], as: #require(StoredName("a"))) == false)
            #expect(try ServiceManager.removeStored(#require(StoredName("a"))) == false)
            #expect(try ServiceManager.watchdogInterval() == nil)
            var sockets = try InheritedSockets()
            #expect(try sockets.next() == nil)
        }
    }

    @Test func `several notifications are sent in one message`() async {
        await #expect(processExitsWith: .success) {
            let manager = try FakeManager()
            #expect(try ServiceManager.notify(.ready, .status("two\nlines"), .mainProcess(7)))
            #expect(try manager.receive().text == "READY=1\nSTATUS=two lines\nMAINPID=7")
            try ServiceManager.notify(.stopping, .extendTimeout(.milliseconds(1_500)))
            #expect(try manager.receive().text == "STOPPING=1\nEXTEND_TIMEOUT_USEC=1500000")
            try ServiceManager.notify(.watchdog)
            #expect(try manager.receive().text == "WATCHDOG=1")
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            try ServiceManager.notify(.reloadingNow())
            let text = try manager.receive().text
            let told = try #require(text.wholeMatch(of: /RELOADING=1\nMONOTONIC_USEC=(\d+)/)?.1)
            let passed = try #require(UInt64(told)) - UInt64(time.tv_sec) * 1_000_000
            #expect(passed >= UInt64(time.tv_nsec) / 1_000 && passed < 60_000_000)
        }
    }

    @Test func `stored descriptors are sent with their name`() async {
        await #expect(processExitsWith: .success) {
            let manager = try FakeManager()
            let name = try #require(StoredName("connection-7"))
            let socket = tcpSocket(isListening: true)
            #expect(try ServiceManager.store([socket, socket], as: name, isPolled: false))
            let stored = try manager.receive()
            #expect(stored.text == "FDSTORE=1\nFDNAME=connection-7\nFDPOLL=0")
            #expect(stored.descriptors.count == 2)
            #expect(stored.descriptors.allSatisfy { $0 != socket && isOpen($0) })
            try ServiceManager.store([socket], as: name)
            #expect(try manager.receive().text == "FDSTORE=1\nFDNAME=connection-7")
            try ServiceManager.removeStored(name)
            #expect(try manager.receive().text == "FDSTOREREMOVE=1\nFDNAME=connection-7")
        }
    }

    @Test func `an unreachable manager causes an error`() async {
        await #expect(processExitsWith: .success) {
            setenv("NOTIFY_SOCKET", "/nowhere/notify", 1)
            let error = #expect(throws: SystemdError.self) { _ = try ServiceManager.notify(.ready) }
            #expect(error == SystemdError(function: "sd_notify", errno: ENOENT))
            #expect(error?.description == "sd_notify: No such file or directory")
        }
    }

    @Test func `the watchdog interval applies only to the process that it names`() async {
        await #expect(processExitsWith: .success) {
            setenv("WATCHDOG_USEC", "2500000", 1)
            setenv("WATCHDOG_PID", "\(getpid())", 1)
            let interval = try ServiceManager.watchdogInterval()
            #expect(interval == .milliseconds(2_500))
            setenv("WATCHDOG_PID", "1", 1)
            #expect(try ServiceManager.watchdogInterval() == nil)
            setenv("WATCHDOG_USEC", "soon", 1)
            unsetenv("WATCHDOG_PID")
            #expect(throws: SystemdError.self) { _ = try ServiceManager.watchdogInterval() }
        }
    }

    @Test func `a stored name is printable ASCII without a colon`() {
        for text in ["", "a:b", "a\nb", "\u{7F}", "ü", String(repeating: "a", count: 256)] {
            #expect(StoredName(text) == nil)
        }
        #expect(StoredName(String(repeating: "a", count: 255)) != nil)
        #expect(StoredName("connection 7")?.description == "connection 7")
    }
}
