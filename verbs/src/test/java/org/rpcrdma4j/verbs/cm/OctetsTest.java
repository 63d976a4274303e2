// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class OctetsTest {
    @Test
    void keepsCopiesOnTheWayInAndOut() {
        byte[] bytes = {1, 2, 3};
        Octets octets = Octets.of(bytes);
        bytes[0] = 9;
        octets.toByteArray()[1] = 9;
        assertThat(octets).isEqualTo(Octets.of((byte) 1, (byte) 2, (byte) 3)).hasToString("010203");
        assertThat(octets.length()).isEqualTo(3);
        assertThat(Octets.of()).isSameAs(Octets.EMPTY);
    }

    @Test
    void optionsThatCannotBeMeantAreRefused() {
        assertThatIllegalArgumentException().isThrownBy(() -> ConnectOptions.DEFAULT.withReads(-1, 0));
        assertThatIllegalArgumentException().isThrownBy(() -> ConnectOptions.DEFAULT.withTimeout(Duration.ZERO));
        ConnectOptions options =
                ConnectOptions.DEFAULT.withReads(3, 5).withPeerToPeer(true).withPrivateData(Octets.of((byte) 7));
        assertThat(options.inboundReads()).isEqualTo(3);
        assertThat(options.outboundReads()).isEqualTo(5);
        assertThat(options.peerToPeer()).isTrue();
        assertThat(options.privateData()).isEqualTo(Octets.of((byte) 7));
    }
}
