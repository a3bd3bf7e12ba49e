"""Puts the programs and data files that `make wheel` collected into the wheel, and names the platform it is for."""

import os
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLATFORM = "H123_WHEEL_PLATFORM"
"""For example manylinux_2_28_x86_64. Set by packaging/build.sh."""
CONTENT = "H123_WHEEL_CONTENT"
"""A folder whose content goes into the wheel as it is."""


class WheelHook(BuildHookInterface):  # type: ignore[type-arg]
    """A wheel with programs in it is for one platform, but for any Python 3."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Raises RuntimeError outside `make wheel`: a wheel without the programs could not measure anything."""
        if version == "editable":
            return
        try:
            platform, content = os.environ[PLATFORM], Path(os.environ[CONTENT])
        except KeyError as missing:
            raise RuntimeError(f"{missing} is not set; build the wheel with `make wheel`") from None
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["force_include"].update(
            {str(path): str(path.relative_to(content)) for path in sorted(content.rglob("*")) if path.is_file()}
        )
