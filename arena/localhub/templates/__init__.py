"""The hub's few pages, escaped by default."""

from pathlib import Path

from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

_ENVIRONMENT = Environment(
    loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined
)
# No `form-action`: browsers apply it to the redirect that takes consent back to the application.
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'unsafe-inline'; img-src 'self';"
        " base-uri 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
}


def render(template: str, *, status: int = 200, **values: object) -> HTMLResponse:
    html = _ENVIRONMENT.get_template(template).render(values)
    return HTMLResponse(html, status, _HEADERS)
