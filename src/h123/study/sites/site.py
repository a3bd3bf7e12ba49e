"""Defines a site: the resources of a page, and which resource requests which. Reads sites/*.yaml."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt, StrictStr, model_validator

from h123.base.complaints import choose
from h123.base.strict import Strict, fault_at
from h123.study.quantities import Duration, Size, check_name
from h123.study.registry import find_site
from h123.study.yaml_document import YamlDocument

FORMAT = "site/1"
MOST_RESOURCES = 10_000
Type = Literal["document", "style", "script", "font", "data", "image", "media", "other"]
URGENCIES: dict[Type, int] = {
    "document": 0,
    "style": 0,
    "script": 1,
    "font": 1,
    "data": 1,
    "image": 3,
    "media": 4,
    "other": 3,
}
"""h123's default urgency for each type, on the scale of RFC 9218: 0 is the most urgent."""


class Resource(Strict):
    """A resource, such as `{name: logo, type: image, size: 12kB, by: document}`. `count: 20` makes it 20 equal
    resources."""

    name: Annotated[StrictStr, Field(pattern=r"^[!-~]+$", max_length=2000)]
    type: Type
    size: Annotated[Size, Field(ge=1)]
    """The size of the body in bytes."""
    by: StrictStr | None = None
    """The name of the resource that requests this one. The first resource has none."""
    count: Annotated[StrictInt, Field(ge=1, le=MOST_RESOURCES)] = 1
    urgency: Annotated[StrictInt, Field(ge=0, le=7)] | None = None
    path: Annotated[StrictStr, Field(pattern=r"^/[!-~]*$", max_length=2000)] | None = Field(
        default=None, exclude_if=lambda path: path is None
    )
    """The path on the user's own server. None: /bytes/<size>."""
    exact: StrictBool = Field(default=True, exclude_if=lambda exact: exact)
    """Whether a response with a body of a different size is an error."""
    run: Duration = 0
    """The time from the resource's last byte until it requests others, for parsing, compiling and running."""
    host: Annotated[StrictStr, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")] | None = Field(
        default=None, exclude_if=lambda host: host is None
    )
    """The label of a separate host, to which the client opens its own connections. None: the page's host."""
    cacheable: StrictBool = Field(default=False, exclude_if=lambda cacheable: not cacheable)
    """Whether a returning visitor has the resource in the cache and does not request it."""

    @model_validator(mode="after")
    def _has_its_own_path(self) -> "Resource":
        if self.path is None and not self.exact:
            raise fault_at(["exact"], "`exact: false` is only allowed with a `path`")
        return self

    @property
    def priority(self) -> int:
        """The resource's urgency, or the default of its type."""
        return URGENCIES[self.type] if self.urgency is None else self.urgency


class Site(Strict):
    """The resources of a page, with the document first."""

    name: StrictStr
    resources: Annotated[tuple[Resource, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _is_a_tree(self) -> "Site":
        """Check that the first resource leads to every other resource."""
        earlier: dict[str, Resource] = {}
        for index, resource in enumerate(self.resources):
            if resource.name in earlier:
                raise fault_at(["resources", index, "name"], f"{resource.name!r} occurs twice")
            earlier[resource.name] = resource
        rooted = {self.resources[0].name}
        for index, resource in enumerate(self.resources):
            self._check_asker(index, resource, earlier, rooted)
        if sum(resource.count for resource in self.resources) > MOST_RESOURCES:
            raise fault_at(["resources"], f"a page has at most {MOST_RESOURCES} resources")
        return self

    def _check_asker(self, index: int, resource: Resource, earlier: dict[str, Resource], rooted: set[str]) -> None:
        """Check one resource. `rooted` contains the names of resources that the first resource leads to. The checked
        resource's name is added to it."""
        if index == 0:
            if resource.by is not None or resource.count != 1:
                raise fault_at(["resources", 0], "the first resource is the document: it has no `by` and no `count`")
            if resource.host is not None:
                raise fault_at(["resources", 0, "host"], "the document is on the page's own host: leave out its `host`")
            return
        if resource.by is None:
            raise fault_at(
                ["resources", index], f"nothing requests {resource.name!r}: write `by` and the name of a resource"
            )
        if resource.by not in earlier:
            raise fault_at(
                ["resources", index, "by"], f"there is no resource {resource.by!r}; {choose(resource.by, earlier)}"
            )
        if earlier[resource.by].count != 1:
            message = f"{resource.by!r} has `count: {earlier[resource.by].count}`; name a resource without `count`"
            raise fault_at(["resources", index, "by"], message)
        ancestors = {resource.name: None}
        asker = resource.by
        while asker not in rooted and asker in earlier and asker not in ancestors:
            ancestors[asker] = None
            asker = earlier[asker].by or ""
        if asker in ancestors:
            way = list(ancestors)
            round_it = " by ".join(repr(name) for name in [*way[way.index(asker) :], asker])
            raise fault_at(["resources", index, "by"], f"resources request each other: {round_it}")
        rooted.update(ancestors)

    def loads(self) -> Sequence[tuple[Resource, int | None]]:
        """Return every single resource, with the index of the resource that requests it, which is None for the
        document."""
        place, every = dict[str, int](), list[Resource]()
        for resource in self.resources:
            place[resource.name] = len(every)
            every += [resource] * resource.count
        return [(resource, None if resource.by is None else place[resource.by]) for resource in every]

    def depth(self) -> list[int]:
        """Return, for each single resource, how many resources must be requested one after another before it. A
        resource may be listed before the one that requests it."""
        loads = self.loads()
        depths = dict[int, int]()
        for start in range(len(loads)):
            way, at = list[int](), start
            while at not in depths and (asker := loads[at][1]) is not None:
                way.append(at)
                at = asker
            depths.setdefault(at, 0)
            for behind, index in enumerate(reversed(way), 1):
                depths[index] = depths[at] + behind
        return [depths[index] for index in range(len(loads))]

    def running_ns(self) -> int:
        """Return the longest time in ns for which a chain of resources runs. In a chain, each resource requests the
        next."""
        loads, longest = self.loads(), 0
        for _, asker in loads:
            total = 0
            while asker is not None:
                resource, asker = loads[asker]
                total += resource.run
            longest = max(longest, total)
        return longest

    @property
    def bytes(self) -> int:
        """The total size of all bodies in bytes."""
        return sum(resource.size * resource.count for resource in self.resources)

    @property
    def hosts(self) -> list[str]:
        """The labels of the hosts other than the page's own, in the order of the file."""
        return list(dict.fromkeys(resource.host for resource in self.resources if resource.host is not None))

    def repeat_requests(self) -> "Site":
        """Return the site that a returning visitor requests: the document, which every navigation requests again, and
        everything that is not cacheable.

        If a cached resource requests others, the nearest resource above it that is not cached requests them instead.
        The `run` of that resource grows by the runs of the cached resources in between. If several chains of cached
        resources begin there, the largest sum is used.
        """
        by_name = {resource.name: resource for resource in self.resources}
        requested = {
            resource.name: resource for resource in self.resources if resource.by is None or not resource.cacheable
        }
        askers, longer = dict[str, str | None](), Counter[str]()
        for name, resource in requested.items():
            asker, between = resource.by, 0
            while asker is not None and asker not in requested:
                between += by_name[asker].run
                asker = by_name[asker].by
            askers[name] = asker
            if asker is not None:
                longer[asker] = max(longer[asker], between)
        uncached = [
            resource.model_copy(update={"by": askers[name], "run": resource.run + longer[name]})
            for name, resource in requested.items()
        ]
        return Site(name=self.name, resources=tuple(uncached))


class SiteFile(Strict):
    """The content of a site's file: the site, its title and the source of its figures."""

    name: StrictStr
    title: Annotated[StrictStr, Field(min_length=1)]
    source: Annotated[StrictStr, Field(min_length=1)]
    resources: list[object]


def read_site(path: Path) -> tuple[SiteFile, Site]:
    """Read a site from its file. Raises UserError with the file and the line."""
    document = YamlDocument.read(path, FORMAT)
    shape = document.validate(SiteFile, document.data)
    try:
        check_name(shape.name, "site")
    except ValueError as fault:
        raise document.error(["name"], str(fault)) from None
    fields = {"name": shape.name, "resources": shape.resources}
    return shape, document.validate(Site, fields)


def load_site(name: str, folder: Path | None = None) -> Site:
    """Read a site, given its name or the path of its file (relative to `folder`). Raises UserError."""
    return read_site(find_site(name, folder))[1]
