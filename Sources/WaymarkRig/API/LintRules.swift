// A test names lint rules: `rig.allow(.laneWidth, reason: …)`. `LintID` is declared beside the rules, and is all that their module
// declares public. That module is no product, so `import WaymarkRig` brings the names along.
@_exported public import WaymarkLint
