// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.mpa;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.ByteBuffer;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.iwarp.mpa.MpaFrame.Kind;

class MpaFrameTest {
    @Test
    void writesBigEndianControlWords() {
        EnhancedSetup setup = new EnhancedSetup(true, true, true, true, 0x3FFE, 0x2001);
        byte[] frame = new MpaFrame(Kind.REQUEST, true, true, true, 2, setup, new byte[] {0x55}).encode();

        assertThat(HexFormat.of().formatHex(frame, 16, frame.length)).isEqualTo("f0020005" + "fffe" + "e001" + "55");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 3, 256})
    void hasOnlyTheRevisionsThatExist(int revision) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new MpaFrame(Kind.REQUEST, false, true, false, revision, null, new byte[0]))
                .withMessageContaining(Integer.toString(revision));
    }

    @Test
    void hasNoControlWordsInRevision1() {
        EnhancedSetup setup = EnhancedSetup.clientServer(1, 1);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> new MpaFrame(Kind.REQUEST, false, true, false, 1, setup, new byte[0]));
    }

    @Test
    void refusesMorePrivateDataThanFits() {
        EnhancedSetup setup = EnhancedSetup.clientServer(1, 1);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> new MpaFrame(Kind.REQUEST, false, true, false, 1, null, new byte[513]));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new MpaFrame(Kind.REQUEST, false, true, false, 2, setup, new byte[509]));
    }

    @Test
    void doesNotShareItsPrivateData() {
        byte[] given = {1, 2};
        MpaFrame frame = new MpaFrame(Kind.REPLY, false, true, false, 1, null, given);
        given[0] = 9;
        frame.privateData()[1] = 9;

        assertThat(frame.privateData()).containsExactly(1, 2);
        MpaFrame same = new MpaFrame(Kind.REPLY, false, true, false, 1, null, new byte[] {1, 2});
        assertThat(frame).isEqualTo(same).hasSameHashCodeAs(same);
        assertThat(frame).isNotEqualTo(new MpaFrame(Kind.REPLY, false, true, false, 1, null, given));
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0x4000})
    void takesNoDepthBeyond14Bits(int depth) {
        assertThatIllegalArgumentException().isThrownBy(() -> EnhancedSetup.clientServer(depth, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> EnhancedSetup.clientServer(0, depth));
    }

    @Test
    void capsWishesInsteadOfMaskingThem() {
        MpaWishes wishes = new MpaWishes(true, true, 0x4001, 0x8000_0, 0x3FFE, false);

        assertThat(wishes.ird()).isEqualTo(0x3FFE);
        assertThat(wishes.ord()).isEqualTo(0x3FFE);
        assertThat(MpaWishes.of(0x3FFF, 0x3FFF).withIrdLimit(0x3FFE).ord()).isEqualTo(0x3FFE);
        assertThatIllegalArgumentException().isThrownBy(() -> MpaWishes.of(-1, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> MpaWishes.of(0, -1));
    }

    @Test
    void limitsWhatTheDeviceServes() {
        assertThat(MpaWishes.of(1000, 0).ird()).isEqualTo(128);
        assertThatIllegalArgumentException().isThrownBy(() -> MpaWishes.of(1, 1).withIrdLimit(0));
        assertThatIllegalArgumentException().isThrownBy(() -> MpaWishes.of(1, 1).withIrdLimit(0x3FFF));
    }

    @Test
    void needsTheEnhancedFormForThePeerToPeerModel() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MpaWishes.of(1, 1).plain().withPeerToPeer(true));
    }

    @Test
    void ignoresRtrFlagsOutsideThePeerToPeerModel() {
        ByteBuffer words = ByteBuffer.allocate(4).putShort(0, (short) 0x4003).putShort(2, (short) 0xC005);

        assertThat(EnhancedSetup.decode(words, 0)).isEqualTo(EnhancedSetup.clientServer(3, 5));
    }
}
