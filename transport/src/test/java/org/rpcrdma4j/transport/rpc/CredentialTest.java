// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.foreign.MemorySegment;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** AUTH_NONE, AUTH_SYS and the others (RFC 5531, Section 10 and Appendix A). */
class CredentialTest {

    static OpaqueAuth sys(int nameLength, int groups, int groupsThere) {
        XdrWriter out = new XdrWriter();
        out.writeInt(7);
        out.writeOpaque(new byte[nameLength]);
        out.writeInt(1000);
        out.writeInt(100);
        out.writeInt(groups);
        for (int i = 0; i < groupsThere; i++) {
            out.writeInt(i);
        }
        return new OpaqueAuth(1, MemorySegment.ofArray(out.toByteArray()));
    }

    private static void bad(OpaqueAuth auth) {
        assertThatExceptionOfType(XdrException.class).isThrownBy(() -> Credential.decode(auth));
    }

    @Test
    void sysIsReadAsItWasWritten() throws XdrException {
        Credential credential = new Credential.Sys(-1, "cli\u00e9nt", -2, 100, List.of(4, -5));
        assertThat(Credential.decode(credential.encode())).isEqualTo(credential);
    }

    @Test
    void sixteenGroupsAreTakenAndSeventeenRefusedThoughTheyAreThere() throws XdrException {
        assertThat(Credential.decode(sys(4, 16, 16)))
                .isInstanceOfSatisfying(
                        Credential.Sys.class, sys -> assertThat(sys.groups()).hasSize(16));
        bad(sys(4, 17, 17));
    }

    @ParameterizedTest
    @ValueSource(ints = {17, 1000, 0x40000000, 0xffffffff})
    void groupCountIsRefusedBeforeAnythingIsAllocated(int count) {
        bad(sys(4, count, 0));
        bad(sys(4, count, 16));
    }

    @Test
    void machineNameOf255BytesIsTakenAndOneOf256Refused() throws XdrException {
        assertThat(Credential.decode(sys(255, 2, 2)))
                .isInstanceOfSatisfying(
                        Credential.Sys.class, sys -> assertThat(sys.machine()).hasSize(255));
        bad(sys(256, 2, 2));
    }

    @Test
    void machineNameThatIsNoTextIsKeptByteByByte() throws XdrException {
        XdrWriter out = new XdrWriter();
        out.writeInt(0);
        byte[] name = new byte[255];
        java.util.Arrays.fill(name, (byte) 0xff);
        out.writeOpaque(name);
        out.writeInt(0);
        out.writeInt(0);
        out.writeInt(0);
        OpaqueAuth auth = new OpaqueAuth(1, MemorySegment.ofArray(out.toByteArray()));
        assertThat(Credential.decode(auth).encode().body().mismatch(auth.body()))
                .isEqualTo(-1);
    }

    @Test
    void sysCutShortOrWithMoreBehindIsRefused() {
        MemorySegment whole = sys(5, 2, 2).body();
        for (long length = 0; length < whole.byteSize(); length++) {
            bad(new OpaqueAuth(1, whole.asSlice(0, length)));
        }
        bad(sys(5, 2, 3));
    }

    @Test
    void bodyOfNoneIsNotLookedAt() throws XdrException {
        for (int length : new int[] {0, 4, 400}) {
            assertThat(Credential.decode(new OpaqueAuth(0, MemorySegment.ofArray(new byte[length]))))
                    .isEqualTo(Credential.None.INSTANCE);
        }
        assertThat(Credential.None.INSTANCE.encode().length()).isEqualTo(8);
    }

    @Test
    void otherFlavoursKeepTheirBody() throws XdrException {
        OpaqueAuth gss = new OpaqueAuth(6, MemorySegment.ofArray(new byte[20]));
        assertThat(Credential.decode(gss)).isEqualTo(new Credential.Other(gss));
        assertThat(Credential.decode(gss).encode()).isEqualTo(gss);
        assertThat(AuthFlavor.of(6)).isEqualTo(AuthFlavor.RPCSEC_GSS);
        assertThat(AuthFlavor.of(0x7fffffff)).isNull();
    }

    @Test
    void credentialBeyondTheBoundsIsTheCallersMistake() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Credential.Sys(0, "x", 0, 0, Collections.nCopies(17, 1)));
        assertThatIllegalArgumentException().isThrownBy(() -> new Credential.Sys(0, "x".repeat(256), 0, 0, List.of()));
        assertThatIllegalArgumentException().isThrownBy(() -> new Credential.Sys(0, "\u20ac", 0, 0, List.of()));
    }
}
