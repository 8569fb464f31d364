"""A file system that answers some requests and never answers others: fuse(4) without a library.

It has one folder with one file, `program`, with the given bytes.
"""

import ctypes
import errno
import os
import stat
import struct

OPCODES = {"LOOKUP": 1, "GETATTR": 3, "READLINK": 5, "OPEN": 14, "READ": 15, "STATFS": 17, "RELEASE": 18, "GETXATTR": 22,
           "FLUSH": 25, "INIT": 26, "OPENDIR": 27, "READDIR": 28, "RELEASEDIR": 29, "ACCESS": 34}
NAMES = {number: name for name, number in OPCODES.items()}
ROOT, PROGRAM = 1, 2


class SlowFileSystem:
    """Must be mounted by a process that is root in its own user and mount namespaces."""

    def __init__(self, folder, program, uid=0):
        self.program = program
        self.uid = uid
        self.device = os.open("/dev/fuse", os.O_RDWR)
        libc = ctypes.CDLL(None, use_errno=True)
        options = f"fd={self.device},rootmode=40755,user_id={os.getuid()},group_id={os.getgid()},allow_other"
        if libc.mount(b"slow", folder.encode(), b"fuse", 6, options.encode()) != 0:
            raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()), folder)

    def attributes(self, node):
        mode, size = (stat.S_IFDIR | 0o755, 0) if node == ROOT else (stat.S_IFREG | 0o755, len(self.program))
        return struct.pack("<QQQQQQIIIIIIIIII", node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

    def serve(self, hangs):
        """Answers requests, except those for which `hangs(kind of request, process)` is true."""
        while True:
            request = os.read(self.device, 1 << 20)
            _, opcode, unique, node, _, _, process, _ = struct.unpack_from("<IIQQIIII", request)
            name, body = NAMES.get(opcode), request[40:]
            if hangs(name, process):
                continue
            error, answer = 0, b""
            if name == "INIT":
                answer = struct.pack("<IIIIHHIIHHIIIIIII", 7, 31, 65536, 0, 12, 10, 65536, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0)[:64]
            elif name == "GETATTR":
                answer = struct.pack("<QII", 3600, 0, 0) + self.attributes(node)
            elif name == "LOOKUP" and node == ROOT and body.rstrip(b"\0") == b"program":
                answer = struct.pack("<QQQQII", PROGRAM, 0, 3600, 3600, 0, 0) + self.attributes(PROGRAM)
            elif name in ("OPEN", "OPENDIR"):
                answer = struct.pack("<QII", 1, 0, 0)
            elif name == "READ" and node == PROGRAM:
                offset, size = struct.unpack_from("<QI", body, 8)
                answer = self.program[offset:offset + size]
            elif name in ("RELEASE", "RELEASEDIR", "FLUSH", "READDIR", "ACCESS"):
                pass
            elif name == "LOOKUP":
                error = -errno.ENOENT
            else:
                error = -errno.ENOSYS
            if name is None and opcode in (2, 36, 42):
                continue  # FORGET, INTERRUPT and BATCH_FORGET have no reply.
            os.write(self.device, struct.pack("<IiQ", 16 + len(answer), error, unique) + answer)
