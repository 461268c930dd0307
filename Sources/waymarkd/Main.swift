internal import WaymarkCommandLine

@main
struct Main {
    static func main() async { await Program.main() }
}
