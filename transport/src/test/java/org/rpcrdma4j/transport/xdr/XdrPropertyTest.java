// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.xdr;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.testkit.Seeds;

/** What holds for every message and every cut. */
class XdrPropertyTest {

    /** Writes one random thing; returns how to check that it's read. */
    private static Check write(XdrWriter out, Random random) {
        return switch (random.nextInt(7)) {
            case 0 -> {
                int value = random.nextInt();
                out.writeInt(value);
                yield in -> assertThat(in.readInt()).isEqualTo(value);
            }
            case 1 -> {
                long value = random.nextLong();
                out.writeHyper(value);
                yield in -> assertThat(in.readHyper()).isEqualTo(value);
            }
            case 2 -> {
                boolean value = random.nextBoolean();
                out.writeBool(value);
                yield in -> assertThat(in.readBool()).isEqualTo(value);
            }
            case 3 -> {
                byte[] value = bytes(random);
                out.writeFixedOpaque(MemorySegment.ofArray(value));
                yield in -> assertThat(in.readFixedOpaque(value.length).toArray(ValueLayout.JAVA_BYTE))
                        .isEqualTo(value);
            }
            case 4 -> {
                byte[] value = bytes(random);
                out.writeItem(MemorySegment.ofArray(value));
                yield in -> assertThat(in.readOpaque(value.length).toArray(ValueLayout.JAVA_BYTE))
                        .isEqualTo(value);
            }
            case 5 -> {
                byte[] value = bytes(random);
                out.beginItem();
                out.writeBytes(MemorySegment.ofArray(value));
                out.endItem();
                yield in -> assertThat(in.skipOpaque(value.length)).isEqualTo(value.length);
            }
            default -> {
                byte[] value = bytes(random);
                out.writeOpaque(value);
                yield in -> assertThat(in.readOpaque(value.length).toArray(ValueLayout.JAVA_BYTE))
                        .isEqualTo(value);
            }
        };
    }

    private interface Check {
        void on(XdrReader in) throws XdrException;
    }

    private static byte[] bytes(Random random) {
        byte[] bytes = new byte[random.nextInt(20)];
        random.nextBytes(bytes);
        return bytes;
    }

    @Test
    void whatIsWrittenIsReadFromAnyPieces() {
        Seeds.runRandom(2000, random -> {
            XdrWriter out = new XdrWriter(
                    MemorySegment.ofArray(new byte[random.nextInt(40)]),
                    size -> MemorySegment.ofArray(new byte[(int) size]),
                    1 << 20);
            List<Check> checks = new ArrayList<>();
            for (int i = random.nextInt(20); i >= 0; i--) {
                checks.add(write(out, random));
                assertThat(out.position() % 4).isZero();
            }
            byte[] message = out.toByteArray();
            assertThat(message.length).isEqualTo((int) out.position());
            XdrReader in = new XdrReader(Pieces.random(message, random));
            for (Check check : checks) {
                check.on(in);
            }
            in.requireEnd();
        });
    }

    @Test
    void reducedStreamAndItemsMakeUpTheUnreducedOne() {
        Seeds.runRandom(1000, random -> {
            XdrWriter out = new XdrWriter();
            for (int i = random.nextInt(20); i >= 0; i--) {
                write(out, random);
            }
            byte[] whole = out.toByteArray();
            byte[] rebuilt = new byte[whole.length];
            int at = 0;
            long reduced = 0;
            for (int i = 0; i <= out.items(); i++) {
                byte[] part = Pieces.join(List.of(out.part(i)));
                System.arraycopy(part, 0, rebuilt, at, part.length);
                at += part.length;
                reduced += part.length;
                if (i < out.items()) {
                    assertThat(out.itemPosition(i)).isEqualTo(at);
                    List<MemorySegment> pieces = new ArrayList<>();
                    out.itemPieces(i, pieces);
                    byte[] item = Pieces.join(pieces);
                    assertThat(item.length).isEqualTo((int) out.itemLength(i));
                    System.arraycopy(item, 0, rebuilt, at, item.length);
                    at += (int) XdrReader.padded(item.length);
                }
            }
            assertThat(rebuilt).isEqualTo(whole);
            assertThat(out.reducedLength()).isEqualTo(reduced);
        });
    }

    @Test
    void randomBytesCauseNothingButXdrExceptions() {
        Seeds.runRandom(3000, random -> {
            byte[] message = new byte[random.nextInt(64)];
            random.nextBytes(message);
            if (random.nextBoolean()) {
                for (int i = 0; i < message.length; i++) {
                    message[i] = (byte) (i % 4 == 3 ? message[i] & 7 : 0);
                }
            }
            XdrReader in = new XdrReader(Pieces.random(message, random));
            for (int i = 0; i < 40; i++) {
                long before = in.remaining();
                try {
                    readAnything(in, random);
                } catch (XdrException e) {
                    assertThat(e).hasMessageContaining("position");
                }
                assertThat(in.remaining()).isBetween(0L, before);
            }
        });
    }

    private static void readAnything(XdrReader in, Random random) throws XdrException {
        switch (random.nextInt(11)) {
            case 0 -> in.readInt();
            case 1 -> in.readHyper();
            case 2 -> in.readBool();
            case 3 -> in.readEnum(0, 3);
            case 4 -> in.readCount(random.nextInt(), random.nextInt(64));
            case 5 -> in.readOpaque(0xffff_ffffL);
            case 6 -> in.readString(Integer.MAX_VALUE);
            case 7 -> in.skipOpaque(0xffff_ffffL);
            case 8 -> in.skip(random.nextInt());
            case 9 -> in.readPieces(random.nextInt(16), new ArrayList<>());
            default -> in.skipAbsent(random.nextLong());
        }
    }
}
