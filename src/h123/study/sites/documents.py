"""Turns a site into real documents: HTML, styles and scripts that make a browser request resources with the site's
sizes.

As on real pages, requests come from elements of documents, rules of style sheets and statements of scripts. A script
first keeps the page busy for its `run`; documents and styles take the time that the browser needs.
"""

import base64
import hashlib
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from h123.base.units import format_bytes
from h123.study.sites.site import Resource, Site, Type

FORMAT = "documents/1"
"""The version of the documents. Increase it when they change, so that older cached documents are not used."""
FOLDER = "site"
"""The folder below a server's root that contains the documents of all sites."""
ENDINGS: dict[Type, str] = {
    "document": "html",
    "style": "css",
    "script": "js",
    "font": "woff2",
    "data": "json",
    "image": "png",
    "media": "bin",
    "other": "bin",
}
_TAGS: dict[Type, str] = {
    "style": "<link rel=stylesheet href={}>",
    "script": "<script async src={}></script>",
    "image": "<img src={}>",
    "document": "<iframe src={}></iframe>",
}
"""The elements with which a document requests resources of these types. A script in the document requests all
others."""
_CALLS: dict[Type, str] = {
    "style": 'document.head.append(Object.assign(document.createElement("link"),{rel:"stylesheet",href:@}))',
    "script": 'document.head.append(Object.assign(document.createElement("script"),{src:@}))',
    "image": "(window.i??=[]).push(Object.assign(new Image,{src:@}))",
    "document": '(document.body||document.head).append(Object.assign(document.createElement("iframe"),{src:@}))',
    "font": 'new FontFace("f","url("+@+")").load().catch(_=>0)',
    "data": "fetch(@).then(a=>a.text())",
    "media": "fetch(@).then(a=>a.arrayBuffer())",
    "other": "fetch(@).then(a=>a.arrayBuffer())",
}
"""The statements with which a script requests resources; `@` is the address."""
_RULES: dict[Type, str] = {
    "style": "@import url({path});",
    "image": "#a{index}{{background:url({path})}}",
    "font": "@font-face{{font-family:f{index};src:url({path})}}#a{index}{{font-family:f{index}}}",
}
"""The rules with which a style requests resources. A browser requests an image or a font only if an element needs it
(`_NEEDS`)."""
_NEEDS = "<i id=a{}>x</i>"
_FRAMES: dict[Type, tuple[str, str]] = {
    "document": ("<!--", "-->"),
    "style": ("/*", "*/"),
    "script": ("/*", "*/"),
}
"""The beginning and the end of a comment that fills a file of this type up to the resource's size."""
_PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="
)
"""A complete image. Decoders ignore the bytes after it, but a browser stops loading a file that is not an image."""


@dataclass(frozen=True)
class Documents:
    """The documents of a site."""

    site: Site

    @cached_property
    def _loads(self) -> list[tuple[Resource, int | None]]:
        return list(self.site.loads())

    @cached_property
    def folder(self) -> str:
        """The site's folder below a server's root. Different sites have different folders."""
        identity = f"{FORMAT} {self.site.model_dump_json()}"
        return f"{FOLDER}/{hashlib.sha256(identity.encode()).hexdigest()[:8]}"

    def paths(self) -> list[str]:
        return [f"/{self.folder}/{self._name(index)}" for index in range(len(self._loads))]

    def fault(self) -> str | None:
        """Return why the site cannot be turned into documents, or None."""
        for index, (resource, _) in enumerate(self._loads):
            for child in self._requested(index):
                if resource.type == "style" and child.type not in _RULES:
                    return (
                        f"{resource.name!r} is a style, which cannot request {child.name!r} ({child.type}) in a browser"
                    )
                if resource.type not in ("document", "style", "script", "data"):
                    what = f"{resource.name!r} is {resource.type}"
                    return f"{what}, which requests nothing in a browser, but {child.name!r} is `by` it"
            if resource.path is not None:
                return f"{resource.name!r} is on your own server (`path`), which has its own documents"
            needed = len(self._text(index))
            if needed > resource.size:
                has = format_bytes(resource.size)
                return f"{resource.name!r} has {has}, but the text that requests its resources takes {needed} B"
        return None

    def contents(self) -> Iterator[tuple[str, bytes]]:
        """Yield the name of each file within the folder, and its content."""
        for index, (resource, _) in enumerate(self._loads):
            yield self._name(index), self._padded(index, resource)

    def _padded(self, index: int, resource: Resource) -> bytes:
        filling = random.Random(index).randbytes(resource.size)
        if resource.type not in _FRAMES:
            return ((_PIXEL if resource.type == "image" else b"") + filling)[: resource.size]
        text, (opened, closed) = self._text(index).encode(), _FRAMES[resource.type]
        room = resource.size - len(text) - len(opened) - len(closed)
        if room < 0:
            return text.ljust(resource.size)
        return text + opened.encode() + base64.b64encode(filling)[:room] + closed.encode()

    def _text(self, index: int) -> str:
        """Return the part of a document, style or script that makes the browser send requests."""
        resource, _ = self._loads[index]
        if resource.type == "document":
            return self._document(index)
        if resource.type == "style":
            return "".join(
                _RULES[child.type].format(index=at, path=self._name(at)) for at, child in self._children(index)
            )
        return self._run(resource) + self._statements(self._children(index)) if resource.type == "script" else ""

    def _document(self, index: int) -> str:
        by_tag = [(at, child) for at, child in self._children(index) if child.type in _TAGS]
        by_script = [(at, child) for at, child in self._children(index) if child.type not in _TAGS]
        # The script comes before the styles, because a script in the document waits for styles before it.
        script = f"<script>{self._statements(by_script)}</script>" if by_script else ""
        tags = "".join(_TAGS[child.type].format(self._name(at)) for at, child in by_tag)
        needs = "".join(_NEEDS.format(at) for at in self._styled(index))
        # Without an icon in the document, the browser requests one from the server.
        return f"<!doctype html><link rel=icon href=data:,>{script}{tags}{needs}"

    def _styled(self, document: int) -> Iterator[int]:
        """Yield the indices of the images and fonts that a document's styles request, including styles that its scripts
        add. The document needs an element for each, because browsers do not load what no element uses."""
        for index, (resource, asker) in enumerate(self._loads):
            if resource.type in ("image", "font") and asker is not None and self._loads[asker][0].type == "style":
                while asker is not None and self._loads[asker][0].type != "document":
                    asker = self._loads[asker][1]
                if asker == document:
                    yield index

    def _statements(self, children: list[tuple[int, Resource]]) -> str:
        """Return statements that request the children, one for each run of consecutive, similar children."""
        statements = []
        for (kind, leaf), alike in groupby(children, lambda child: (child[1].type, not self._children(child[0]))):
            indices = [at for at, _ in alike]
            if leaf or kind != "data":
                call = _CALLS[kind].replace("@", f'i+".{ENDINGS[kind]}"')
                statements += [f"for(let i={low};i<={high};i++){call};" for low, high in _runs(indices)]
            else:
                statements += [self._then(at) for at in indices]
        return "".join(statements)

    def _then(self, index: int) -> str:
        """Return a statement that fetches data and then requests the resources that depend on it."""
        call, resource = _CALLS["data"].replace("@", f'"{self._name(index)}"'), self._loads[index][0]
        return f"{call}.then(_=>{{{self._run(resource)}{self._statements(self._children(index))}}});"

    def _run(self, resource: Resource) -> str:
        """Return a statement that keeps the page busy for the resource's `run`."""
        return f"for(let t=performance.now()+{resource.run / 1e6:g};performance.now()<t;);" if resource.run else ""

    def _children(self, index: int) -> list[tuple[int, Resource]]:
        return self._by_asker.get(index, [])

    @cached_property
    def _by_asker(self) -> dict[int, list[tuple[int, Resource]]]:
        children: dict[int, list[tuple[int, Resource]]] = {}
        for at, (resource, asker) in enumerate(self._loads):
            if asker is not None:
                children.setdefault(asker, []).append((at, resource))
        return children

    def _requested(self, index: int) -> Iterator[Resource]:
        for _, child in self._children(index):
            yield child

    def _name(self, index: int) -> str:
        return f"{index}.{ENDINGS[self._loads[index][0].type]}"


def _runs(indices: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and last index of each run of consecutive indices."""
    for _, run in groupby(enumerate(indices), lambda pair: pair[1] - pair[0]):
        members = [at for _, at in run]
        yield members[0], members[-1]
