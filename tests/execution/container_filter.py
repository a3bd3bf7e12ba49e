"""A program: runs a command under a filter for system calls that forbids what Docker's default one forbids of all
that a lab asks for: namespaces, mounts, another root, and a personality without random addresses. With
`no-ptrace` as its first word also to trace a process, as older filters do. x86-64 only."""

import ctypes
import os
import struct
import sys

_REFUSED = {"mount": 165, "umount2": 166, "pivot_root": 155, "setns": 308, "unshare": 272}
_PTRACE = 101
_CLONE, _CLONE3, _PERSONALITY = 56, 435, 135
_NAMESPACES = 0x7E020000
_PERSONALITIES = (0, 8, 0x20000, 0x20008, 0xFFFFFFFF)
_EPERM, _ENOSYS = 0x00050001, 0x00050026
_ALLOW = 0x7FFF0000
_LOAD, _EQUAL, _ANY, _RETURN = 0x20, 0x15, 0x45, 0x06
_NUMBER, _FIRST_ARGUMENT = 0, 16
_SET_NO_NEW_PRIVS, _SET_SECCOMP, _FILTER_MODE = 38, 22, 2


def rule(code: int, value: int, then: int = 0, otherwise: int = 0) -> bytes:
    """`struct sock_filter` of linux/filter.h."""
    return struct.pack("HBBI", code, then, otherwise, value)


def program(traces: bool) -> list[bytes]:
    """The filter's."""
    rules = [rule(_LOAD, _NUMBER)]
    for number in [*_REFUSED.values(), *([] if traces else [_PTRACE])]:
        rules += [rule(_EQUAL, number, 0, 1), rule(_RETURN, _EPERM)]
    rules += [rule(_EQUAL, _CLONE3, 0, 1), rule(_RETURN, _ENOSYS)]
    rules += [
        rule(_EQUAL, _CLONE, 0, 4),
        rule(_LOAD, _FIRST_ARGUMENT),
        rule(_ANY, _NAMESPACES, 0, 1),
        rule(_RETURN, _EPERM),
        rule(_RETURN, _ALLOW),
    ]
    rules += [rule(_EQUAL, _PERSONALITY, 0, len(_PERSONALITIES) + 2), rule(_LOAD, _FIRST_ARGUMENT)]
    rules += [rule(_EQUAL, value, len(_PERSONALITIES) - place) for place, value in enumerate(_PERSONALITIES)]
    return [*rules, rule(_RETURN, _EPERM), rule(_RETURN, _ALLOW)]


def confine(traces: bool) -> None:
    """This process, and all that it starts."""
    rules = program(traces)
    held = ctypes.create_string_buffer(b"".join(rules))
    header = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(rules), ctypes.addressof(held)))
    libc = ctypes.CDLL(None, use_errno=True)
    for call in ((_SET_NO_NEW_PRIVS, 1, 0, 0, 0), (_SET_SECCOMP, _FILTER_MODE, header)):
        if libc.prctl(*call):
            raise OSError(ctypes.get_errno(), "prctl")


if __name__ == "__main__":
    words = sys.argv[1:]
    confine(traces=words[0] != "no-ptrace")
    command = words[words[0] == "no-ptrace" :]
    os.execvp(command[0], command)
