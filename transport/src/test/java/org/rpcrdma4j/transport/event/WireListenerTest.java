// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** The printing listener, fed with messages that are written here word by word. */
class WireListenerTest {

    private static final int MAX_TEXT = 32 * 110 + 400;

    private static MemorySegment words(int... words) {
        ByteBuffer bytes = ByteBuffer.allocate(words.length * 4);
        for (int word : words) {
            bytes.putInt(word);
        }
        return MemorySegment.ofArray(bytes.array());
    }

    private static String printed(Direction direction, MemorySegment message) {
        StringBuilder text = new StringBuilder();
        WireListener.printing(text).onMessage(direction, 3, message, 0, (int) message.byteSize());
        return text.toString();
    }

    @Test
    void aCallIsOneLineWithOneLineForEachSegment() {
        MemorySegment call = words(
                0x2A,
                1,
                32,
                0, // XID, version, credits, RDMA_MSG
                1,
                84,
                0x1103,
                65536,
                0x7F00,
                0x12340000, // a Read segment at position 84
                0, // no more
                1,
                2,
                0x1204,
                8192,
                0x7F00,
                0x12350000,
                0x1305,
                512,
                0,
                0, // a Write chunk of two segments
                0, // no more
                1,
                1,
                0x1406,
                -1,
                -1,
                -1, // the Reply chunk
                0x2A,
                0,
                2,
                100003,
                3,
                7); // the RPC call

        assertThat(printed(Direction.SENT, call)).isEqualTo("""
                        SENT connection 3 xid 0x0000002a RDMA_MSG credits 32 read 1 write 1 reply 1 RPC call of 24 bytes
                            read at 84 handle 0x00001103 length 65536 offset 0x00007f0012340000
                            write 0.0 handle 0x00001204 length 8192 offset 0x00007f0012350000
                            write 0.1 handle 0x00001305 length 512 offset 0x0000000000000000
                            reply 0.0 handle 0x00001406 length 4294967295 offset 0xffffffffffffffff
                        """);
    }

    @Test
    void everyProcedureIsReadable() {
        assertThat(printed(Direction.RECEIVED, words(7, 1, 5, 0, 0, 0, 0, 7, 1, 0)))
                .isEqualTo("RECEIVED connection 3 xid 0x00000007 RDMA_MSG credits 5 read 0 write 0 no reply chunk"
                        + " RPC reply of 12 bytes\n");
        assertThat(printed(Direction.RECEIVED, words(7, 1, 5, 1, 0, 0, 0)))
                .isEqualTo("RECEIVED connection 3 xid 0x00000007 RDMA_NOMSG credits 5 read 0 write 0 no reply chunk"
                        + " no RPC message\n");
        assertThat(printed(Direction.RECEIVED, words(7, 1, 5, 2, 64, 512, 0, 0, 0)))
                .isEqualTo(
                        "RECEIVED connection 3 xid 0x00000007 RDMA_MSGP credits 5 align 64 threshold 512 read 0 write 0"
                                + " no reply chunk no RPC message\n");
        assertThat(printed(Direction.RECEIVED, words(7, 1, 5, 3)))
                .isEqualTo("RECEIVED connection 3 xid 0x00000007 RDMA_DONE credits 5 no RPC message\n");
        assertThat(printed(Direction.RECEIVED, words(7, 1, 5, 4, 1, 1, 2)))
                .isEqualTo("RECEIVED connection 3 xid 0x00000007 RDMA_ERROR credits 5 ERR_VERS 1 to 2\n");
        assertThat(printed(Direction.RECEIVED, words(7, 1, 5, 4, 2)))
                .isEqualTo("RECEIVED connection 3 xid 0x00000007 RDMA_ERROR credits 5 ERR_CHUNK\n");
        assertThat(printed(Direction.RECEIVED, words(7, 1, 5, 4, 9)))
                .isEqualTo("RECEIVED connection 3 xid 0x00000007 RDMA_ERROR credits 5 error 9\n");
    }

    @Test
    void whatCannotBeReadIsSaidAndShown() {
        assertThat(printed(Direction.RECEIVED, words(7, 1)))
                .isEqualTo("RECEIVED connection 3 short message of 8 bytes [0000000700000001]\n");
        assertThat(printed(Direction.RECEIVED, MemorySegment.ofArray(new byte[0])))
                .isEqualTo("RECEIVED connection 3 short message of 0 bytes\n");
        assertThat(printed(Direction.RECEIVED, words(7, 2, 5, 0, 9)))
                .isEqualTo(
                        "RECEIVED connection 3 xid 0x00000007 RDMA_MSG version 2 credits 5, 4 bytes follow [00000009]\n");
        assertThat(printed(Direction.RECEIVED, words(7, 1, -1, -2)))
                .isEqualTo(
                        "RECEIVED connection 3 xid 0x00000007 procedure 4294967294 credits 4294967295, 0 bytes follow\n");
        assertThat(printed(Direction.RECEIVED, words(7, 1, 5, 0, 2, 1)))
                .isEqualTo("RECEIVED connection 3 xid 0x00000007 RDMA_MSG credits 5 MALFORMED at byte 16:"
                        + " 0x00000002 is no list discriminator [0000000200000001]\n");
        assertThat(printed(Direction.RECEIVED, words(7, 1, 5, 0, 0, 1, 2, 1, 1, 0, 1)))
                .isEqualTo("RECEIVED connection 3 xid 0x00000007 RDMA_MSG credits 5 read 0 MALFORMED at byte 28:"
                        + " a chunk of 2 segments [00000001000000010000000000000001]\n");
        assertThat(printed(Direction.RECEIVED, words(7, 1, 5, 0, 1, 80, 0x1100, 4096, 0, 4096, 1, 80)))
                .isEqualTo("""
                        RECEIVED connection 3 xid 0x00000007 RDMA_MSG credits 5 MALFORMED at byte 48: the header ends early
                            read at 80 handle 0x00001100 length 4096 offset 0x0000000000001000
                        """);
    }

    @Test
    void aMessageWithManySegmentsIsCutAndTheRestCounted() {
        int[] words = new int[4 + 6 * 1000 + 3];
        words[1] = 1;
        for (int i = 0; i < 1000; i++) {
            words[4 + 6 * i] = 1;
        }
        String text = printed(Direction.RECEIVED, words(words));

        assertThat(text).contains(" read 1000 write 0").endsWith("    and 968 more segments\n");
        assertThat(text.lines()).hasSize(34);
        assertThat(text.length()).isLessThan(MAX_TEXT);
    }

    @Property(tries = 2000)
    void neverThrowsAndNeverWritesMuchWhateverTheBytesAre(@ForAll long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int[] words = new int[random.nextInt(400)];
        for (int i = 0; i < words.length; i++) {
            words[i] = random.nextInt(4) == 0 ? random.nextInt() : random.nextInt(5);
        }
        if (words.length > 3 && random.nextBoolean()) {
            words[1] = 1;
            words[3] = random.nextInt(5);
        }
        MemorySegment message = words(words);
        StringBuilder text = new StringBuilder();
        WireListener.printing(text)
                .onMessage(
                        Direction.RECEIVED,
                        3,
                        message,
                        0,
                        (int) message.byteSize() - random.nextInt(Math.min(4, words.length * 4 + 1)));

        assertThat(text.length()).isLessThan(MAX_TEXT);
        assertThat(text).startsWith("RECEIVED connection 3 ").endsWith("\n");
    }

    @Test
    void memoryThatIsNotThereIsSaidAndDoesNotThrow() {
        StringBuilder text = new StringBuilder();
        WireListener listener = WireListener.printing(text);
        listener.onMessage(Direction.SENT, 1, words(1, 2), 4, 8);
        listener.onMessage(Direction.SENT, 2, words(1, 2), 0, -1);
        MemorySegment closed;
        try (Arena arena = Arena.ofConfined()) {
            closed = arena.allocate(64);
        }
        listener.onMessage(Direction.SENT, 3, closed, 0, 64);

        assertThat(text.toString().lines()).hasSize(3).allMatch(line -> line.contains("unreadable"));
    }

    @Test
    void aTargetThatFailsDoesNotThrow() {
        Appendable failing = new Appendable() {
            @Override
            public Appendable append(CharSequence text) throws IOException {
                throw new IOException("no space left");
            }

            @Override
            public Appendable append(CharSequence text, int start, int end) throws IOException {
                throw new IOException("no space left");
            }

            @Override
            public Appendable append(char character) {
                throw new IllegalStateException("closed");
            }
        };

        assertThatCode(() -> WireListener.printing(failing).onMessage(Direction.SENT, 1, words(1, 1, 1, 3), 0, 16))
                .doesNotThrowAnyException();
    }

    @Test
    void textsOfSeveralThreadsAreNotMixed() throws InterruptedException {
        StringBuilder text = new StringBuilder();
        WireListener listener = WireListener.printing(text);
        MemorySegment message = words(7, 1, 5, 0, 1, 80, 0x1100, 4096, 0, 4096, 0, 0, 0);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            threads.add(Thread.ofPlatform().start(() -> {
                for (int j = 0; j < 200; j++) {
                    listener.onMessage(Direction.SENT, 1, message, 0, 52);
                }
            }));
        }
        for (Thread thread : threads) {
            assertThat(thread.join(Duration.ofSeconds(30))).isTrue();
        }
        List<String> lines = text.toString().lines().toList();

        assertThat(lines).hasSize(1600);
        for (int i = 0; i < lines.size(); i += 2) {
            assertThat(lines.get(i)).startsWith("SENT");
            assertThat(lines.get(i + 1)).startsWith("    read");
        }
    }
}
