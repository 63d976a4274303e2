// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.Seeds;
import org.rpcrdma4j.transport.rpc.CallHeader;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** The largest reply to a COMPOUND (RFC 8267, Sections 3 and 6.2). */
class Nfs4ReplyBoundTest {

    private static final int HEAD = 424;
    private final CallHeader call = Streams.call(Bindings.NFS, 4, 1);
    private final UpperLayerBinding binding = Bindings.nfs(ResultLimits.DEFAULT).find(call);

    private static XdrWriter compound(String tag, int minor, int count) {
        XdrWriter out = new XdrWriter();
        out.writeString(tag);
        out.writeInt(minor);
        out.writeInt(count);
        return out;
    }

    private static void words(XdrWriter out, int... words) {
        for (int word : words) {
            out.writeInt(word);
        }
    }

    private static void read(XdrWriter out, int count) {
        words(out, 25, 0, 0, 0, 0, 0, 0, count);
    }

    private ReplyBound bound(XdrWriter arguments) throws XdrException {
        return binding.replyBound(call, new XdrReader(MemorySegment.ofArray(arguments.toByteArray())));
    }

    @Test
    void readInASessionIsBoundedExactly() throws XdrException {
        XdrWriter out = compound("tag", 1, 3);
        words(out, 53, 0, 0, 0, 0, 1, 0, 0, 0);
        words(out, 22);
        out.writeOpaque(new byte[20]);
        read(out, 1 << 20);
        // Status, tag of four bytes, count; SEQUENCE 8 + 36; PUTFH 8; READ 8 + eof 4 + count word 4.
        assertThat(bound(out)).isEqualTo(new ReplyBound(HEAD + 16 + 44 + 8 + 16, 1, 1 << 20, 1 << 20, 1 << 20, true));
    }

    @Test
    void furtherReadsAreReckonedWithInTheStream() throws XdrException {
        XdrWriter out = compound("", 0, 3);
        read(out, 10);
        read(out, 10000);
        read(out, 101);
        ReplyBound bound = bound(out);
        assertThat(bound.items()).isEqualTo(3);
        assertThat(bound.firstItemBytes()).isEqualTo(10);
        assertThat(bound.largestItemBytes()).isEqualTo(10000);
        assertThat(bound.allItemBytes()).isEqualTo(12 + 10000 + 104);
        assertThat(bound.bytesBesideOneChunk()).isEqualTo(HEAD + 12 + 3 * 16 + 10000 + 104);
    }

    @Test
    void attributesOfKnownSizeAreBoundedAndOthersTakeTheConfiguredSize() throws XdrException {
        XdrWriter out = compound("", 0, 1);
        // type, change, size, fsid, fileid; mode, numlinks, three times.
        words(out, 9, 2, 1 << 1 | 1 << 3 | 1 << 4 | 1 << 8 | 1 << 20, 1 << 1 | 1 << 3 | 1 << 15 | 1 << 20 | 1 << 21);
        ReplyBound exact = bound(out);
        assertThat(exact.exact()).isTrue();
        assertThat(exact.streamBytes())
                .isEqualTo(HEAD + 12 + 8 + 36 + 4 + (4 + 8 + 8 + 16 + 8) + (4 + 4 + 12 + 12 + 12));

        for (int unbounded : new int[] {12, 24, 58, 59, 61, 67, 80, 83, 95, 200}) {
            out = compound("", 0, 1);
            words(out, 9, 7);
            for (int i = 0; i < 7; i++) {
                words(out, unbounded / 32 == i ? 1 << (unbounded % 32) : 0);
            }
            ReplyBound configured = bound(out);
            assertThat(configured.exact()).isFalse();
            assertThat(configured.streamBytes()).isEqualTo(HEAD + 12 + 4 + 65536);
        }
    }

    @Test
    void maxcountBoundsADirectory() throws XdrException {
        XdrWriter out = compound("", 0, 1);
        words(out, 26, 0, 0, 0, 0, 100, 32768, 0);
        assertThat(bound(out)).isEqualTo(ReplyBound.plain(HEAD + 12 + 8 + 32768));
    }

    @Test
    void unknownOperationTakesTheConfiguredSize() throws XdrException {
        XdrWriter out = compound("", 0, 2);
        words(out, 24, 99);
        ReplyBound bound = bound(out);
        assertThat(bound.streamBytes()).isEqualTo(HEAD + 12 + 8 + 65536);
        assertThat(bound.exact()).isFalse();
    }

    @Test
    void nullProcedureHasAnEmptyReply() throws XdrException {
        CallHeader nothing = Streams.call(Bindings.NFS, 4, 0);
        assertThat(binding.replyBound(nothing, new XdrReader())).isEqualTo(ReplyBound.plain(HEAD));
        CallHeader unknown = Streams.call(Bindings.NFS, 4, 2);
        assertThat(binding.replyBound(unknown, new XdrReader())).isEqualTo(ReplyBound.configured(HEAD + 65536));
    }

    @Test
    void sessionBoundsAnyReplyInIt() {
        ReplyBound bound = new ReplyBound(70000, 1, 5, 5, 8, false);
        assertThat(bound.atMost(4096).streamBytes()).isEqualTo(4096);
        assertThat(bound.atMost(4096).unreducedBytes()).isEqualTo(4104);
        assertThat(bound.atMost(70000)).isSameAs(bound);
    }

    @Test
    void noReplyIsLargerThanTheBoundOfItsCall() {
        Seeds.runRandom(3000, random -> {
            XdrWriter arguments = compound("tag", 2, 3);
            XdrWriter results = new XdrWriter();
            words(results, 0);
            results.writeString("tag");
            words(results, 3);
            Nfs4RandomArguments call = new Nfs4RandomArguments(arguments, random);
            Nfs4RandomResults reply = new Nfs4RandomResults(results, random);
            for (int i = 0; i < 3; i++) {
                int number = 3 + random.nextInt(73);
                if (number == 9) {
                    // The random attributes that come back aren't those that were asked for; GETATTR has its own test.
                    number = 24;
                }
                call.operation(number);
                reply.operation(number, i < 2 || random.nextBoolean());
            }
            assertThat(HEAD + results.reducedLength())
                    .isLessThanOrEqualTo(bound(arguments).streamBytes());
        });
    }
}
