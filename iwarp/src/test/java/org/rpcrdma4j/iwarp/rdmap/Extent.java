// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import java.nio.ByteBuffer;
import java.util.List;

/** An entry of a gather or scatter list as the model sees it. */
record Extent(Registration registration, int offset, int length) {
    static int total(List<Extent> list) {
        return list.stream().mapToInt(Extent::length).sum();
    }

    /** The bytes of a list. */
    static ByteBuffer gather(List<Extent> list, byte[] memory) {
        ByteBuffer bytes = ByteBuffer.allocate(total(list));
        for (Extent extent : list) {
            extent.registration.get(memory, extent.offset, extent.length, bytes);
        }
        return bytes.flip();
    }

    /** Places data from an offset of a list on. */
    static void scatter(List<Extent> list, byte[] memory, int from, ByteBuffer data) {
        int skip = from;
        for (Extent extent : list) {
            if (skip >= extent.length) {
                skip -= extent.length;
                continue;
            }
            int part = Math.min(extent.length - skip, data.remaining());
            extent.registration.put(memory, extent.offset + skip, data.slice(data.position(), part));
            data.position(data.position() + part);
            skip = 0;
        }
        if (data.hasRemaining()) {
            throw new AssertionError(data.remaining() + " bytes outside of the list");
        }
    }
}
