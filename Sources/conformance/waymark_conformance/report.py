"""Reports: on the terminal, and as HTML, JSON and JUnit's XML."""

import html as markup
import json
from collections import Counter
from xml.sax.saxutils import quoteattr

from .frames import flag_names
from .run import FAILED, OK, VERDICTS
from .schema import load

STYLE = """
body { font: 15px/1.45 sans-serif; margin: 2em auto; max-width: 75em; padding: 0 1em }
table { border-collapse: collapse } td, th { padding: .15em .6em; text-align: left; vertical-align: top }
td.verdict { font-weight: bold; white-space: nowrap } .OK { color: #17692b } .FAILED { color: #b00020 }
.NON-STRICT { color: #8a5a00 } .INFORMATIONAL { color: #2a4d8f } .UNIMPLEMENTED { color: #666 }
pre { background: #f5f5f5; overflow-x: auto; padding: .6em; font-size: 12px } details { margin: .4em 0 }
blockquote { border-left: 3px solid #ccc; margin: .3em 0; padding: 0 .8em }
"""


def counts(results):
    found = Counter(result.verdict for result in results)
    return {verdict: found.get(verdict, 0) for verdict in VERDICTS}


def print_summary(peer, results, seconds, verbose):
    for result in results:
        if verbose or result.verdict != OK:
            why = f": {result.why}" if result.why else ""
            print(f"{result.verdict:13} {result.case.id:16} {result.case.title}{why}")
    found = counts(results)
    print(f"{peer.name}: " + ", ".join(f"{number} {verdict}" for verdict, number in found.items() if number) + f", in {seconds:.1f} s")


def line_of(entry):
    """One line of a wire log."""
    at, who, what, frame = entry
    if frame is None:
        return f"{at:8.3f} {who:8} {what}"
    arrow = {"sent": "⟶", "received": "⟵"}.get(what, what)
    header = f"{frame.name}"
    if frame.session:
        header += f" session {frame.session}"
    if frame.sequence:
        header += f" number {frame.sequence}"
    if frame.key:
        header += f" key {frame.key}"
    if frame.flags:
        header += f" {'|'.join(flag_names(frame.flags))}"
    body = (
        json.dumps(frame.decoded, ensure_ascii=False)
        if frame.decoded
        else frame.body[:200].hex(" ") + ("…" if len(frame.body) > 200 else "")
    )
    return f"{at:8.3f} {who:8} {arrow} {header} {shortened(body)}".rstrip()


def shortened(text, most=2_000):
    return text if len(text) <= most else f"{text[:most]}… ({len(text)} characters)"


def as_json(peer, results):
    cases = [
        {
            "id": result.case.id,
            "class": result.case.of,
            "title": result.case.title,
            "requirements": result.case.checks,
            "verdict": result.verdict,
            "why": result.why,
            "seconds": round(result.seconds, 3),
        }
        for result in results
    ]
    return json.dumps({"name": peer.name, "role": peer.role, "counts": counts(results), "cases": cases}, indent=1) + "\n"


def junit(peer, results):
    found = counts(results)
    skipped = found["UNIMPLEMENTED"]
    lines = ['<?xml version="1.0" encoding="UTF-8"?>']
    lines.append(f'<testsuite name={quoteattr(peer.name)} tests="{len(results)}" failures="{found[FAILED]}" skipped="{skipped}">')
    for result in results:
        name = quoteattr(f"{result.case.id} {result.case.title}")
        lines.append(f'  <testcase classname={quoteattr(peer.role)} name={name} time="{result.seconds:.3f}">')
        if result.verdict == FAILED:
            lines.append(f"    <failure message={quoteattr(result.why)}/>")
        elif result.verdict == "UNIMPLEMENTED":
            lines.append(f"    <skipped message={quoteattr(result.why)}/>")
        elif result.verdict != OK:
            lines.append(f"    <system-out>{markup.escape(result.verdict)}: {markup.escape(result.why)}</system-out>")
        lines.append("  </testcase>")
    return "\n".join([*lines, "</testsuite>"]) + "\n"


def html(peer, results):
    """One file: an index, and for each case its requirements, its steps and the wire log."""
    requirements, found = load("requirements.json"), counts(results)
    title = f"Waymark conformance: {peer.name}"
    out = [f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{markup.escape(title)}</title><style>{STYLE}</style>']
    out.append(f"<h1>{markup.escape(title)}</h1><p>Role: {peer.role}. ")
    out.append(", ".join(f"{number} {verdict}" for verdict, number in found.items() if number) + ".</p><table>")
    out.append("<tr><th>case</th><th>verdict</th><th>class</th><th></th></tr>")
    for result in results:
        case = result.case
        out.append(
            f'<tr><td><a href="#{case.id}">{case.id}</a></td><td class="verdict {result.verdict}">{result.verdict}</td>'
            f"<td>{case.of}</td><td>{markup.escape(case.title)}</td></tr>"
        )
    out.append("</table>")
    for result in results:
        out += html_case(result, requirements)
    return "\n".join(out) + "</html>\n"


def html_case(result, requirements):
    case = result.case
    out = [f'<h2 id="{case.id}">{case.id} <span class="{result.verdict}">{result.verdict}</span></h2>']
    out.append(f"<p>{markup.escape(case.title)} ({case.of}, {result.seconds:.2f} s)</p>")
    for identifier in case.checks:
        out.append(f"<blockquote><b>{identifier}</b> {markup.escape(requirements[identifier])}</blockquote>")
    if result.why:
        out.append(f'<p class="{result.verdict}">{markup.escape(result.why)}</p>')
    if case.law:
        out.append("<p>Holds in the conversations of all cases.</p>")
        return out
    steps = "\n".join(json.dumps(step, ensure_ascii=False) for step in case.steps)
    log = "\n".join(line_of(entry) for entry in result.log[:2_000])
    out.append(f"<details><summary>steps</summary><pre>{markup.escape(steps)}</pre></details>")
    is_open = "" if result.verdict == OK else " open"
    out.append(f"<details{is_open}><summary>wire log</summary><pre>{markup.escape(log)}</pre></details>")
    if result.lines:
        lines = shortened("\n".join(result.lines[-200:]), 20_000)
        out.append(f"<details><summary>output</summary><pre>{markup.escape(lines)}</pre></details>")
    return out
