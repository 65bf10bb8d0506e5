"""The style of the page: one size of type, light and dark, narrow and wide."""

from colk.experiments.style import DARK, PALETTE

__all__ = ["style_sheet"]


def style_sheet() -> str:
    """CSS of the report, the methods' colours included.

    Examples
    --------
    >>> "--blue:#0072B2" in style_sheet()
    True
    """
    light, dark = (
        "".join(f"--{name}:{value};" for name, value in colors.items())
        for colors in (PALETTE, DARK)
    )
    return _SHEET.replace("LIGHT;", light).replace("DARK;", dark)


_SHEET = """
:root { color-scheme: light dark; LIGHT; --paper:#ffffff; --faint:#bbbbbc; --quiet:#55575c;
  --line:#d8d9dc; --region:#dfeee6; --link:#005a8c; --zero:#7a7c82;
  --yes:#00543d; --yes-bg:#e2f4ee; --part:#6b4a00; --part-bg:#fdf2d8; --no:#8c3d00;
  --no-bg:#fbe7da; --few:#3d3f45; --few-bg:#ececef; }
@media (prefers-color-scheme: dark) {
  :root { DARK; --paper:#16181b; --faint:#5a5c62; --quiet:#a9abb1; --line:#34363b;
    --region:#1f3a2f; --link:#7cc0ee; --zero:#8a8c92;
    --yes:#8fe0c2; --yes-bg:#123529; --part:#f2cf83; --part-bg:#3a2d0c; --no:#ffb68a;
    --no-bg:#43230f; --few:#d5d6da; --few-bg:#2c2e33; }
}
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 48rem; margin: 0 auto; padding: 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.25rem; margin-top: 3rem; border-bottom: 1px solid var(--line); }
h3, h4, table, figcaption, summary { font-size: 1rem; line-height: 1.4; }
h3 { margin: 0 0 .5rem; }
a { color: var(--link); }
math { font-size: 1em; }
nav { margin: 1rem 0; }
.quiet, figcaption, .scroll > p, dt, blockquote cite { color: var(--quiet); }
blockquote { margin: .5rem 0; padding-left: .8rem; border-left: 3px solid var(--line); }
blockquote cite { font-style: normal; display: block; }
dl { display: grid; grid-template-columns: fit-content(15rem) 1fr; gap: .1rem .8rem; }
dl { margin: .8rem 0; }
dd { margin: 0; min-width: 0; }
.banner { border: 2px solid var(--part); background: var(--part-bg); color: var(--part);
  padding: .6rem .8rem; border-radius: .4rem; }
.verdict { margin: 2.2rem 0; padding-top: 1.2rem; border-top: 1px solid var(--line); }
.verdict p { margin: .4rem 0; }
.list { list-style: none; padding: 0; }
.list li { display: grid; grid-template-columns: 10.5rem 1fr; gap: .6rem; margin: .35rem 0; }
.badge { display: inline-block; padding: 0 .55rem; border-radius: 1rem; white-space: nowrap;
  font-weight: 600; border: 1px solid; justify-self: start; align-self: start; }
.yes { color: var(--yes); background: var(--yes-bg); }
.part { color: var(--part); background: var(--part-bg); }
.no { color: var(--no); background: var(--no-bg); }
.few { color: var(--few); background: var(--few-bg); }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .5rem;
  border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
.forest { table-layout: fixed; margin: .8rem 0 .2rem; }
.forest th, .forest td { border: 0; padding: 0 .3rem; vertical-align: middle; font-weight: 400; }
.forest th:first-child { width: 40%; padding-left: 0; }
.forest.columns2 th:first-child { width: 32%; }
.forest thead th { font-weight: 600; }
.forest .group th { padding-top: .5rem; color: var(--quiet); }
.forest svg.line { display: block; width: 100%; height: 1.5rem; overflow: hidden; }
.forest line, .forest path { stroke-width: 2; fill: none; }
.forest .region { fill: var(--region); }
.forest .zero { stroke: var(--zero); stroke-width: 1; }
.ruler { position: relative; height: 1.6rem; border-top: 1px solid var(--zero); }
.ruler span { position: absolute; transform: translateX(-50%); white-space: nowrap; }
.ruler .first { transform: translateX(-15%); }
.ruler .last { transform: translateX(-85%); }
details { margin: .4rem 0; }
summary { cursor: pointer; color: var(--link); }
.scroll { overflow-x: auto; }
figure { margin: 2.2rem 0; }
.zoom { display: block; cursor: zoom-in; }
.zoom input { position: absolute; opacity: 0; }
.zoom input:focus-visible + .sheet { outline: 2px solid var(--link); }
.zoom .sheet { display: block; }
.zoom svg { display: block; width: 100%; height: auto; }
.zoom input:checked + .sheet { position: fixed; inset: 0; z-index: 1; overflow: auto;
  background: var(--paper); cursor: zoom-out; padding: 1rem; }
.zoom input:checked + .sheet svg { width: max(100%, 60rem); max-height: none; }
@media (max-width: 42rem) {
  .list li { grid-template-columns: 1fr; gap: .1rem; margin: .7rem 0; }
  .forest.columns2 th:first-child { width: 38%; }
  .ruler .wide { display: none; }
  dl { grid-template-columns: 1fr; }
  dd { margin-bottom: .4rem; }
}
"""
