"""HTML reports from the templates of this package and of the command `colk`."""

from typing import Any

from colk.cli.pages.render import templates
from colk_lab.pages.formulas import typeset

__all__ = ["render"]


def render(template: str, **values: Any) -> str:
    """Fill a template of the folder `templates`; its filter `typeset` converts formulas.

    Parameters
    ----------
    template : str
        Its file name without `.html.j2`: "report" or "bench".
    **values
        The variables of the template. Text is escaped; `markupsafe.Markup` is not.
    """
    environment = templates("colk_lab.pages")
    environment.filters["typeset"] = typeset
    return environment.get_template(f"{template}.html.j2").render(**values)
