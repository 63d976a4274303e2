// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** What a call costs in memory once readers and writers are at hand: a few small objects, whatever the size of its data. */
class AllocationTest {

    private static final int TIMES = 20_000;

    private static long bytesPerRun(Runnable code) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        for (int round = 0; round < 5; round++) {
            long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < TIMES; i++) {
                code.run();
            }
            least = Math.min(least, (threads.getCurrentThreadAllocatedBytes() - before) / TIMES);
        }
        return least;
    }

    private static XdrWriter write(MemorySegment data) {
        XdrWriter out = new XdrWriter();
        new CallHeader(7, Bindings.NFS, 3, 7, new Credential.Sys(1, "client", 0, 0, List.of(1, 2))).encode(out);
        out.writeOpaque(new byte[32]);
        out.writeHyper(0);
        out.writeInt(5);
        out.writeInt(0);
        out.writeItem(data);
        return out;
    }

    @Test
    void readingACallAndFindingItsItemsTakesAFewSmallObjects() {
        XdrWriter stream = write(MemorySegment.ofArray(new byte[1 << 20]));
        List<MemorySegment> pieces = new ArrayList<>();
        stream.pieces(pieces);
        XdrReader in = new XdrReader();
        ItemList items = new ItemList();
        Bindings bindings = Bindings.nfs(ResultLimits.DEFAULT);
        long bytes = bytesPerRun(() -> {
            in.reset(pieces);
            items.clear();
            try {
                if (CallHeader.decode(in) instanceof CallHeader header) {
                    bindings.find(header).argumentItems(header, in, items);
                }
            } catch (XdrException e) {
                throw new AssertionError(e);
            }
        });
        assertThat(items.size()).isEqualTo(1);
        assertThat(bytes).isLessThan(400);
    }

    @Test
    void writingACallAgainTakesNothingButItsHeader() {
        MemorySegment data = MemorySegment.ofArray(new byte[1 << 20]);
        MemorySegment handle = MemorySegment.ofArray(new byte[32]);
        CallHeader header = new CallHeader(7, Bindings.NFS, 3, 7, Credential.None.INSTANCE);
        XdrWriter out = new XdrWriter();
        long bytes = bytesPerRun(() -> {
            out.reset();
            header.encode(out);
            out.writeOpaque(handle);
            out.writeHyper(0);
            out.writeInt(5);
            out.writeInt(0);
            out.writeItem(data);
        });
        assertThat(out.position()).isGreaterThan(1 << 20);
        assertThat(bytes).isLessThan(100);
    }
}
