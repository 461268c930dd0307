internal import ArgumentParser
internal import WaymarkCommandLine

@main
struct Main {
    static func main() async { await Waymark.main() }
}
