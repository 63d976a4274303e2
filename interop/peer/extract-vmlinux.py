#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""extract-vmlinux.py bzImage vmlinux: unpacks the kernel ELF out of a bzImage (xz, gzip or zstd payload).
qemu starts an ELF with a PVH note directly, which saves the guest from unpacking the kernel under emulation."""
import lzma, struct, subprocess, sys, zlib
b = open(sys.argv[1], 'rb').read()
assert b[514:518] == b'HdrS', 'no bzImage'
setup = (b[0x1f1] or 4) + 1
off, length = struct.unpack_from('<II', b, 0x248)
p = b[setup * 512 + off: setup * 512 + off + length]
if p[:6] == b'\xfd7zXZ\0': out = lzma.LZMADecompressor().decompress(p)
elif p[:2] == b'\x1f\x8b': out = zlib.decompressobj(31).decompress(p)
elif p[:4] == b'\x28\xb5\x2f\xfd': out = subprocess.run(['zstd', '-dc'], input=p[:-4], stdout=subprocess.PIPE).stdout
else: sys.exit('unknown payload %r' % p[:6])
assert out[:4] == b'\x7fELF'
open(sys.argv[2], 'wb').write(out)
