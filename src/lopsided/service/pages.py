"""The description of the calls: OpenAPI, and a page that shows it without the network."""

from __future__ import annotations

import html
import inspect
import re
from typing import Any

import msgspec

from . import inference, types
from .http import Handler, Response, Routes

_BODIES: dict[tuple[str, str], type] = {
    ("POST", "/v1/{stream}/events"): types.Event,
    ("POST", "/v1/{stream}/score"): types.Unkeyed,
    ("POST", "/v1/{stream}/labels"): types.Labels,
    ("POST", "/v1/{stream}/answers"): types.Verdict,
    ("PUT", "/v1/{stream}"): types.StreamConfig,
    ("POST", "/v1/{stream}/models"): types.NewModel,
    ("PUT", "/v1/{stream}/champion"): types.Promotion,
    ("POST", "/v2/models/{stream}/infer"): inference.Infer,
}
_ANSWERS: dict[tuple[str, str], type] = {
    ("POST", "/v1/{stream}/events"): types.Answer,
    ("POST", "/v1/{stream}/score"): types.Score,
    ("POST", "/v1/{stream}/labels"): types.LabelResult,
    ("GET", "/v1/{stream}/questions"): types.Question,
    ("POST", "/v1/{stream}/answers"): types.VerdictResult,
}
_ROLE = {"": "no token", "any": "any token"}


def openapi(routes: Routes) -> bytes:
    """Return the OpenAPI document."""
    wanted = [*{*_BODIES.values(), *_ANSWERS.values(), types.Events, types.Failure}]
    wanted.sort(key=lambda t: t.__name__)
    refs, parts = msgspec.json.schema_components(wanted, ref_template="#/components/schemas/{name}")
    schemas = dict(zip(wanted, refs, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for method, path, role, handler in routes.listed:
        paths.setdefault(path, {})[method.lower()] = _call(schemas, method, path, role, handler)
    document = {
        "openapi": "3.1.0",
        "info": {"title": "lopsided serve", "version": "1"},
        "paths": paths,
        "components": {
            "schemas": parts,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    return msgspec.json.encode(document)


def _call(
    schemas: dict[type, Any], method: str, path: str, role: str, handler: Handler
) -> dict[str, Any]:
    what = inspect.getdoc(handler) or ""
    failure = {"content": {"application/json": {"schema": schemas[types.Failure]}}}
    found: dict[str, Any] = {
        "summary": what,
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in re.findall(r"{(\w+)}", path)
        ],
        "responses": {
            "200": {"description": "done"},
            "default": {"description": "error", **failure},
        },
    }
    if role:
        found["security"] = [{"token": []}]
    body, answer = _BODIES.get((method, path)), _ANSWERS.get((method, path))
    if body is not None:
        kinds = [schemas[body]] + ([schemas[types.Events]] if body is types.Event else [])
        schema = kinds[0] if len(kinds) == 1 else {"anyOf": kinds}
        found["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    if answer is not None:
        found["responses"]["200"]["content"] = {"application/json": {"schema": schemas[answer]}}
    return found


def docs(routes: Routes) -> Response:
    """Return the page."""
    rows = []
    for method, path, role, handler in routes.listed:
        what = html.escape(inspect.getdoc(handler) or "")
        needs = html.escape(_ROLE.get(role, role))
        rows.append(
            f"<tr><td>{method}</td><td><code>{html.escape(path)}</code></td>"
            f"<td>{needs}</td><td>{what}</td></tr>"
        )
    shown = [types.Event, types.Answer, types.Label, types.LabelResult, types.Question,
             types.Verdict, types.VerdictResult, types.StreamConfig, types.NewModel]  # fmt: skip
    kinds = "".join(_struct(kind) for kind in shown)
    page = (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width"><title>lopsided serve</title>'
        "<h1>The calls of lopsided serve</h1><p>JSON in and out; the same as "
        '<a href="openapi.json">OpenAPI</a>. A token goes into the header '
        "<code>Authorization: Bearer</code>.</p><table><thead><tr><th>Method<th>Path<th>Role"
        f"<th>What it does</thead><tbody>{''.join(rows)}</tbody></table>{kinds}</html>"
    )
    policy = {"content-security-policy": "default-src 'none'; style-src 'self'"}
    return Response(page.encode(), kind=b"text/html; charset=utf-8", headers=policy)


def _struct(kind: type) -> str:
    what = html.escape((inspect.getdoc(kind) or "").replace("`", ""))
    fields = "".join(
        f"<li><code>{html.escape(f.encode_name)}</code>: {html.escape(_type(f.type))}"
        f"{'' if f.required else ', optional'}</li>"
        for f in msgspec.structs.fields(kind)
    )
    return f"<h2>{kind.__name__}</h2><p>{what}</p><ul>{fields}</ul>"


def _type(kind: Any) -> str:
    text = getattr(kind, "__name__", None) if isinstance(kind, type) else str(kind)
    text = re.sub(r"typing\.Annotated\[(\w+), .*?\)\]", r"\1", text or "")
    return re.sub(r"(typing|datetime|lopsided\.service\.types)\.", "", text)
