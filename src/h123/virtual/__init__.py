"""The virtual clock: the user-mode kernel in which time passes only while everything waits."""

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
