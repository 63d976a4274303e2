// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.rpcrdma4j.transport.wire.WireVector.octets;

import java.util.Arrays;
import java.util.Locale;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.verbs.cm.Octets;

/** RFC 8797. */
class PrivateMessageTest {
    private static final String BLOCK = "f6ab0e18 01010307";
    private static final PrivateMessage CONTENT = new PrivateMessage(true, 4096, 8192);

    private static PrivateMessage find(String hex) {
        return PrivateMessage.find(Octets.of(octets(hex)));
    }

    @ParameterizedTest
    @CsvSource({
        "true, 4096, 4096, f6ab0e1801010303",
        "false, 4096, 4096, f6ab0e1801000303",
        "true, 1024, 1024, f6ab0e1801010000",
        "true, 65536, 65536, f6ab0e1801013f3f",
        "false, 262144, 262144, f6ab0e180100ffff",
        "true, 4096, 8192, f6ab0e1801010307"
    })
    void theExamplesToTheByte(boolean remoteInvalidation, int send, int receive, String hex) {
        PrivateMessage message = new PrivateMessage(remoteInvalidation, send, receive);

        assertThat(message.encode()).hasToString(hex);
        assertThat(find(hex)).isEqualTo(message);
    }

    @Test
    void all256SizesBothWays() {
        for (int units = 0; units <= 255; units++) {
            int bytes = (units + 1) * 1024;
            int other = (256 - units) * 1024;
            PrivateMessage message = new PrivateMessage(false, bytes, other);
            String hex = String.format(Locale.ROOT, "f6ab0e180100%02x%02x", units, 255 - units);

            assertThat(message.encode()).hasToString(hex);
            assertThat(find(hex)).isEqualTo(message);
            assertThat(find(hex).sendBytes()).isEqualTo(bytes);
            assertThat(find(hex).receiveBytes()).isEqualTo(other);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "1024, 1024",
        "1025, 1024",
        "2047, 1024",
        "2048, 2048",
        "4095, 3072",
        "262143, 261120",
        "262144, 262144",
        "262145, 262144",
        "2147483647, 262144"
    })
    void sizesAreRoundedDownToWhatCanBeTold(int bytes, int told) {
        PrivateMessage message = new PrivateMessage(false, bytes, bytes);

        assertThat(message.sendBytes()).isEqualTo(told);
        assertThat(message.receiveBytes()).isEqualTo(told);
        assertThat(PrivateMessage.find(message.encode())).isEqualTo(message);
    }

    @ParameterizedTest
    @ValueSource(ints = {1023, 0, -1, Integer.MIN_VALUE})
    void sizesBelow1024AreRefused(int bytes) {
        assertThatThrownBy(() -> new PrivateMessage(false, bytes, 1024)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new PrivateMessage(false, 1024, bytes)).isInstanceOf(IllegalArgumentException.class);
    }

    /** RFC 8797, Section 5.1: as if neither end could do more than what RFC 8166 asks. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "f6",
                "f6ab0e18010103",
                "f6ab0e1901010303",
                "180eabf601010303",
                "f6ab0e1800010303",
                "f6ab0e1802010303",
                "f6ab0e18ff010303",
                "0000000000000000000000f6ab0e18",
                "0000000000000000000000f6ab0e180101",
                "0000000000000000000000f6ab0e18010103",
                "0080000000000000"
            })
    void withoutAWholeKnownBlockTheDefaultsHold(String hex) {
        assertThat(find(hex)).isEqualTo(PrivateMessage.DEFAULT);
        assertThat(PrivateMessage.DEFAULT).isEqualTo(new PrivateMessage(false, 1024, 1024));
    }

    @Test
    void theBlockIsFoundAtAnyOffset() {
        for (int before = 0; before <= 64; before++) {
            for (int behind = 0; behind <= 9; behind++) {
                assertThat(find("5a".repeat(before) + BLOCK + "a5".repeat(behind)))
                        .isEqualTo(CONTENT);
            }
        }
    }

    /** Such bytes stand in front where MPA tells its own limits. */
    @Test
    void theBlockIsFoundBehindTheWordsOfEnhancedMpa() {
        assertThat(find("00800000" + BLOCK)).isEqualTo(CONTENT);
        assertThat(find("8080c001" + BLOCK)).isEqualTo(CONTENT);
    }

    @Test
    void beginningsOfTheIdentifierDoNotHideIt() {
        for (String start : new String[] {"f6", "f6ab", "f6ab0e", "f6ab0ef6", "f6f6ab", "f6ab0e18", "f6ab0e1802"}) {
            assertThat(find(start + BLOCK)).as(start).isEqualTo(CONTENT);
        }
    }

    @Test
    void theFirstUsableBlockCounts() {
        assertThat(find(BLOCK + "f6ab0e1801000000")).isEqualTo(CONTENT);
        assertThat(find("f6ab0e1802000000" + BLOCK)).isEqualTo(CONTENT);
    }

    @Test
    void everyCutOfABlockIsNone() {
        byte[] block = octets("0102" + BLOCK);
        for (int length = 0; length < block.length; length++) {
            assertThat(PrivateMessage.find(Octets.of(Arrays.copyOf(block, length))))
                    .as("%d bytes", length)
                    .isEqualTo(PrivateMessage.DEFAULT);
        }
    }

    @Test
    void onlyVersionOneIsKnown() {
        for (int version = 0; version <= 255; version++) {
            PrivateMessage found = find(String.format(Locale.ROOT, "f6ab0e18%02x010307", version));
            assertThat(found).isEqualTo(version == 1 ? CONTENT : PrivateMessage.DEFAULT);
        }
    }

    /** RFC 8797, Section 4: seven of the flags are sent as 0 and ignored. */
    @Test
    void onlyOneFlagCounts() {
        for (int flags = 0; flags <= 255; flags++) {
            PrivateMessage found = find(String.format(Locale.ROOT, "f6ab0e1801%02x0307", flags));
            assertThat(found).isEqualTo(new PrivateMessage((flags & 1) != 0, 4096, 8192));
            assertThat(found.encode().toByteArray()[5]).isEqualTo((byte) (flags & 1));
        }
    }

    /** RFC 8797, Sections 4.1 and 4.2. */
    @Test
    void thresholdsAreTheSmallerSizesAndInvalidationNeedsBoth() {
        PrivateMessage own = new PrivateMessage(true, 4096, 65536);
        PrivateMessage peer = new PrivateMessage(true, 8192, 2048);

        assertThat(own.sendThreshold(peer)).isEqualTo(2048);
        assertThat(own.receiveThreshold(peer)).isEqualTo(8192);
        assertThat(peer.sendThreshold(own)).isEqualTo(own.receiveThreshold(peer));
        assertThat(peer.receiveThreshold(own)).isEqualTo(own.sendThreshold(peer));
        assertThat(own.sendThreshold(PrivateMessage.DEFAULT)).isEqualTo(1024);
        assertThat(own.allowsRemoteInvalidation(peer)).isTrue();
        assertThat(own.allowsRemoteInvalidation(new PrivateMessage(false, 8192, 2048)))
                .isFalse();
        assertThat(new PrivateMessage(false, 8192, 2048).allowsRemoteInvalidation(own))
                .isFalse();
    }

    @Property(tries = 2000)
    void anyBytesGiveSizesThatCanBeTold(@ForAll @Size(max = 512) byte[] data, @ForAll @IntRange(max = 600) int place) {
        byte[] identifier = octets("f6ab0e18");
        if (place + 4 <= data.length) {
            System.arraycopy(identifier, 0, data, place, 4);
        }
        PrivateMessage found = PrivateMessage.find(Octets.of(data));

        assertThat(found.sendBytes()).isBetween(1024, 262144);
        assertThat(found.receiveBytes()).isBetween(1024, 262144);
        assertThat(PrivateMessage.find(found.encode())).isEqualTo(found);
    }

    /** Random private data of the full length, without the identifier. */
    @Property(tries = 200)
    void dataWithoutTheIdentifierGiveTheDefaults(@ForAll @Size(512) byte[] data) {
        for (int i = 0; i < data.length; i++) {
            data[i] = data[i] == (byte) 0xf6 ? 0 : data[i];
        }
        assertThat(PrivateMessage.find(Octets.of(data))).isEqualTo(PrivateMessage.DEFAULT);
    }
}
