"""Provides the virtual clock: a user-mode Linux kernel whose time passes only while every program waits."""

from h123.virtual.kernel import (
    NAME,
    Configuration,
    Kernel,
    install_kernel,
    installed_kernel,
    remove_kernel,
    virtual_kernel,
)

__all__ = ["NAME", "Configuration", "Kernel", "install_kernel", "installed_kernel", "remove_kernel", "virtual_kernel"]
