"""The HTML page: one file without scripts or external resources."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from .content import Content, Table, period_table
from .figures import Figure

_CSS = """
:root{color-scheme:light dark;--paper:#fff;--ink:#1b1f24;--soft:#57606a;--line:#d8dee4;
--tint:#f6f8fa;--mark:#0072b2;--best:#e8f2f9}
*{box-sizing:border-box}
html{font-size:17px;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--paper);color:var(--ink);line-height:1.5;overflow-wrap:anywhere;
font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:70rem;margin:0 auto;padding:1.5rem 1rem 3rem}
header{border-top:4px solid var(--mark);padding-top:1rem}
h1{font-size:1.6rem;line-height:1.2;margin:0 0 .75rem}
h2{font-size:1.2rem;line-height:1.3;margin:2.5rem 0 .75rem}
h3{font-size:1rem;margin:0 0 .25rem;color:var(--ink)}
p{margin:0 0 .75rem;max-width:46rem}
.lead{font-size:1.15rem}
.soft,figcaption{color:var(--soft)}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:6px;margin:0 0 .75rem}
table{border-collapse:separate;border-spacing:0;width:100%;font-variant-numeric:tabular-nums}
th,td{padding:.5rem .6rem;text-align:right;vertical-align:bottom;overflow-wrap:normal}
td{white-space:nowrap}
th:first-child{text-align:left;white-space:nowrap;position:sticky;left:0;background:var(--paper)}
thead th{font-weight:600;color:var(--soft);border-bottom:2px solid var(--line)}
tbody th{font-weight:500}
tbody tr+tr>*{border-top:1px solid var(--line)}
tr.best>*{font-weight:700;background:var(--best)}
tr.beside>*{color:var(--soft);font-weight:400}
.figures{display:grid;gap:2rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,27rem),1fr))}
figure{margin:0;min-width:0;max-width:44rem}
figure svg{display:block;width:100%;height:auto;margin-top:.5rem}
figure svg *{stroke-linejoin:round;stroke-linecap:butt}
figure svg text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,Arial,sans-serif!important}
dl{display:grid;grid-template-columns:minmax(6rem,max-content) minmax(0,1fr);gap:.4rem 1.25rem;
margin:0}
dt{color:var(--soft)}
dd{margin:0}
ol.changes{margin:0;padding-left:1.6rem}
ol.changes li{margin:0 0 .3rem}
pre{background:var(--tint);border:1px solid var(--line);border-radius:6px;padding:.75rem 1rem;
margin:0 0 1rem;overflow-x:auto;font:.95rem/1.5 ui-monospace,SFMono-Regular,Menlo,monospace}
@media screen and (prefers-color-scheme:dark){:root{--paper:#14181d;--ink:#e6eaef;--soft:#a3adb8;
--line:#343c46;--tint:#1c2229;--mark:#58a6e0;--best:#17324a;--blue:#58a6e0;--red:#f08a4b;
--green:#3fc79a;--pink:#e09ac4;--amber:#f0b43c;--sky:#8ccbf2}}
@media (max-width:30rem){dl{grid-template-columns:1fr;gap:0}dd{margin-bottom:.6rem}}
@media print{html{font-size:10.5pt}main{max-width:none;padding:0}
h2,h3,.title,.title+p{break-after:avoid}
.scroll{overflow:visible;border:0}pre{white-space:pre-wrap}section:last-child{break-inside:avoid}
table{font-size:8pt}td{white-space:normal}th,td{padding:.25rem .35rem}
figure,tr,dl>*{break-inside:avoid}.figures{grid-template-columns:1fr 1fr;gap:1.25rem}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
""".strip()


def page(content: Content, figures: Sequence[Figure]) -> str:
    """Return the report as HTML."""
    parts = ["<section><h2>Learners</h2>", *table(content.table), "</section>"]
    if figures:
        parts += ["<section><h2>Figures</h2>", *side_by_side(figures), "</section>"]
    parts += _of_one_run(content)
    parts.append("<section><h2>What was run</h2>")
    if content.command:
        parts.append(f"<pre><code>{escape(content.command)}</code></pre>")
    parts.append("<dl>")
    parts += [f"<dt>{escape(a)}</dt><dd>{escape(b)}</dd>" for a, b in content.facts]
    parts += ["</dl>", "</section>"]
    return document(content.title, content.sentence, parts)


def _of_one_run(content: Content) -> list[str]:
    """Return changes, periods and reasons."""
    parts: list[str] = []
    only = content.learners[0] if len(content.learners) == 1 else None
    if only and only.changes:
        items = [f"<li>{escape(_capital(str(change)))}</li>" for change in only.changes]
        parts += ["<section><h2>Changes</h2>", '<ol class="changes">', *items, "</ol></section>"]
    if only and len(only.periods) > 1:
        own = table(period_table(only.periods), "Table of periods")
        parts += ["<section><h2>Periods</h2>", *own, "</section>"]
    if content.reasons is not None:
        own = table(content.reasons, "Table of reasons")
        parts += ["<section><h2>Reasons</h2>", *own, "</section>"]
    return parts


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def document(title: str, sentence: str, parts: Sequence[str]) -> str:
    """Return a complete page from its parts."""
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="generator" content="lopsided">',
            f"<title>{escape(title)}</title>",
            f"<style>\n{_CSS}\n</style>",
            "</head>",
            "<body>",
            "<main>",
            f"<header><h1>{escape(title)}</h1>",
            f'<p class="lead">{escape(sentence)}</p></header>',
            *parts,
            "</main>",
            "</body>",
            "</html>",
            "",
        ]
    )


def side_by_side(figures: Sequence[Figure]) -> list[str]:
    """Return figures side by side, as many as fit."""
    return ['<div class="figures">', *map(_figure, figures), "</div>"]


def table(table: Table, name: str = "Table of learners") -> list[str]:
    """Return a table that scrolls horizontally."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in table.header)
    parts = [
        f'<div class="scroll" role="region" aria-label="{escape(name)}" tabindex="0">',
        f"<table><thead><tr>{head}</tr></thead>",
        "<tbody>",
    ]
    kinds = ["best" if at == table.best else "" for at in range(len(table.rows))]
    kinds += ["beside"] * len(table.beside)
    for kind, (name, *cells) in zip(kinds, [*table.rows, *table.beside], strict=True):
        mark = f' class="{kind}"' if kind else ""
        data = "".join(f"<td>{escape(cell)}</td>" for cell in cells)
        parts.append(f'<tr{mark}><th scope="row">{escape(name)}</th>{data}</tr>')
    parts.append("</tbody></table></div>")
    if table.note:
        parts.append(f'<p class="soft">{escape(table.note)}</p>')
    return parts


def _figure(figure: Figure) -> str:
    caption = f"<figcaption><h3>{escape(figure.title)}</h3>{escape(figure.caption)}</figcaption>"
    return f"<figure>{caption}\n{figure.svg}</figure>"
