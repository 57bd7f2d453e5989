"""Whether the system lets programs watch memory (perf_event_open(2), PERF_TYPE_BREAKPOINT)."""
import ctypes
import os
import platform
import struct

_PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}  # the number of the system call
_TYPE_BREAKPOINT, _SIZE, _ON_WRITE, _LENGTH = 5, 112, 2, 8
_NOT_IN_KERNEL = 1 << 5 | 1 << 6


def has_watchpoints():
    number = _PERF_EVENT_OPEN.get(platform.machine())
    if number is None:
        return False
    watched = ctypes.create_string_buffer(2 * _LENGTH)
    address = -(-ctypes.addressof(watched) // _LENGTH) * _LENGTH
    # type size config sample_period sample_type read_format flags wakeup_events bp_type bp_addr bp_len
    attributes = struct.pack("=IIQQQQQIIQQ", _TYPE_BREAKPOINT, _SIZE, 0, 0, 0, 0, _NOT_IN_KERNEL, 0, _ON_WRITE, address, _LENGTH).ljust(_SIZE, b"\0")
    this_thread, any_processor, no_group, no_flags = 0, -1, -1, 0
    event = ctypes.CDLL(None, use_errno=True).syscall(number, attributes, this_thread, any_processor, no_group, no_flags)
    if event < 0:
        return False
    os.close(event)
    return True
