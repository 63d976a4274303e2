// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** The bytes that RFC 1813 and RFC 4506 give for values, word by word, and values that are refused. */
class GoldenBytesTest {

    private static final FileHandle HANDLE =
            FileHandle.of((byte) 0xaa, (byte) 0xbb, (byte) 0xcc, (byte) 0xdd, (byte) 0xee);
    private static final String HANDLE_HEX = "00000005 aabbccdd ee000000";

    private static byte[] hex(String... words) {
        return HexFormat.of().parseHex(String.join("", words).replace(" ", ""));
    }

    private static XdrReader reader(String... words) {
        return new XdrReader(MemorySegment.ofArray(hex(words)));
    }

    private static void assertEncoded(XdrValue value, String... words) {
        assertThat(HexFormat.of().formatHex(RoundTripTest.encode(value)))
                .isEqualTo(HexFormat.of().formatHex(hex(words)));
    }

    @Test
    void lookupArgumentsAreHandleAndName() {
        // length and handle | length and name
        assertEncoded(new Lookup.Arguments(HANDLE, FileName.of("a.txt")), HANDLE_HEX, "00000005 612e7478 74000000");
    }

    @Test
    void anExclusiveCreateCarriesItsVerifier() {
        // handle | name | EXCLUSIVE | verifier
        assertEncoded(
                new Create.Arguments(HANDLE, FileName.of("f"), new Create.Exclusive(0x1122334455667788L)),
                HANDLE_HEX,
                "00000001 66000000",
                "00000002",
                "11223344 55667788");
    }

    @Test
    void setAttributesAreFiveOptionsAndTwoTimes() {
        // guard of each: mode, uid, gid, size | atime to the server's | mtime to the client's
        assertEncoded(
                SetAttributes.NONE
                        .withMode(0644)
                        .withSize(5)
                        .withTimes(SetTime.Server.INSTANCE, new SetTime.To(new Time(1, 2))),
                "00000001 000001a4",
                "00000000",
                "00000000",
                "00000001 00000000 00000005",
                "00000001",
                "00000002 00000001 00000002");
    }

    @Test
    void writeArgumentsSayTheCountTwice() {
        // handle | offset | count | FILE_SYNC | length and data
        Write.Arguments arguments = new Write.Arguments(
                HANDLE, 16, StableHow.FILE_SYNC, List.of(MemorySegment.ofArray(new byte[] {1, 2, 3})));
        assertEncoded(arguments, HANDLE_HEX, "00000000 00000010", "00000003", "00000002", "00000003 01020300");
        XdrWriter out = new XdrWriter();
        arguments.write(out);
        assertThat(out.items()).isEqualTo(1);
    }

    @Test
    void writeArgumentsWhoseCountsContradictEachOtherAreRefused() {
        assertThatThrownBy(() -> Write.Arguments.read(
                        reader(HANDLE_HEX, "00000000 00000010", "00000004", "00000002", "00000003 01020300")))
                .isInstanceOf(XdrException.class);
    }

    @Test
    void aReadReplyIsReadWithItsDataInTheMessage() throws XdrException {
        // OK | no attributes | count | eof | length and data
        XdrReader in = reader("00000000 00000000 00000003 00000001 00000003 01020300");
        Read.Ok ok = (Read.Ok) Read.Results.read(in, 0, 100);
        in.requireEnd();
        assertThat(ok.count()).isEqualTo(3);
        assertThat(ok.endOfFile()).isTrue();
        assertThat(ok.data().getFirst().toArray(ValueLayout.JAVA_BYTE)).containsExactly(1, 2, 3);
    }

    @Test
    void aReadReplyIsReadWithItsDataPlacedElsewhere() throws XdrException {
        // OK | no attributes | count | eof | length, and neither data nor pad
        XdrReader in = reader("00000000 00000000 00000003 00000000 00000003");
        Read.Ok ok = (Read.Ok) Read.Results.read(in, 3, 100);
        in.requireEnd();
        assertThat(ok.count()).isEqualTo(3);
        assertThat(ok.data()).isEmpty();
    }

    @Test
    void aReadReplyThatContradictsItselfIsRefused() {
        String head = "00000000 00000000 ";
        assertThatThrownBy(() -> Read.Results.read(reader(head + "00000004 00000000 00000003 01020300"), 0, 100))
                .isInstanceOf(XdrException.class);
        assertThatThrownBy(() -> Read.Results.read(reader(head + "00000003 00000000 00000003"), 2, 100))
                .isInstanceOf(XdrException.class);
        assertThatThrownBy(() -> Read.Results.read(reader(head + "00000003 00000000 00000003 01020300"), 0, 2))
                .as("more than was asked for")
                .isInstanceOf(XdrException.class);
        assertThatThrownBy(() -> Read.Results.read(reader(head + "ffffffff 00000000 ffffffff"), 0xffff_ffffL, 100))
                .isInstanceOf(XdrException.class);
    }

    @Test
    void entriesOfADirectoryFollowEachOtherWithAWordInFront() throws XdrException {
        // OK | no attributes | verifier | 1, fileid, name, cookie, no attributes, handle | 0 | eof
        ReadDirPlus.Ok ok = new ReadDirPlus.Ok(
                null,
                new CookieVerifier(7),
                List.of(new ReadDirPlus.Entry(9, FileName.of("ab"), 3, null, HANDLE)),
                true);
        assertEncoded(
                ok,
                "00000000 00000000 00000000 00000007",
                "00000001 00000000 00000009 00000002 61620000 00000000 00000003 00000000 00000001",
                HANDLE_HEX,
                "00000000 00000001");
        assertThat(ok.entries().getFirst().encodedBytes()).isEqualTo(4 + 8 + 8 + 8 + 4 + 4 + 12);
        assertThat(RoundTripTest.encode(ok).length)
                .isEqualTo(ReadDirPlus.Ok.EMPTY_BYTES + ok.entries().getFirst().encodedBytes());
    }

    @Test
    void theSizesThatAServerCountsWithAreThoseOfTheWire() {
        ReadDir.Entry entry = new ReadDir.Entry(9, FileName.of("name"), 3);
        ReadDir.Ok ok = new ReadDir.Ok(null, CookieVerifier.NONE, List.of(entry, entry), false);
        assertThat(RoundTripTest.encode(ok).length).isEqualTo(ReadDir.Ok.EMPTY_BYTES + 2 * entry.encodedBytes());
        ReadDirPlus.Entry plus = new RandomRecords(new java.util.Random(1)).nextSmall(ReadDirPlus.Entry.class);
        assertThat(RoundTripTest.encode(plus).length).isEqualTo(plus.encodedBytes() - 4);
        assertThat(new RandomRecords(new java.util.Random(1)).nextSmall(Attributes.class))
                .satisfies(a -> assertThat(RoundTripTest.encode(a).length).isEqualTo(Attributes.ENCODED_BYTES));
    }

    @Test
    void mountGivesHandleAndFlavours() throws XdrException {
        // MNT3_OK | handle | two flavours: AUTH_SYS, AUTH_NONE
        assertEncoded(new Mount.Ok(HANDLE, List.of(1, 0)), "00000000", HANDLE_HEX, "00000002 00000001 00000000");
        assertThat(Mount.Results.read(reader("0000000d"))).isEqualTo(new Mount.Failed(MountStatus.ACCES));
    }

    @Test
    void exportsAreAListOfPathsAndGroups() throws XdrException {
        XdrReader in = reader("00000001 00000002 2f610000", "00000001 00000001 67000000 00000000", "00000000");
        assertThat(Mount.readExports(in)).containsExactly(new Mount.Export(PathBytes.of("/a"), List.of("g")));
        in.requireEnd();
    }

    @Test
    void valuesBeyondTheirBoundsAreRefused() {
        String longHandle = "00000041" + "11".repeat(68);
        assertThatThrownBy(() -> FileHandle.read(reader(longHandle))).isInstanceOf(XdrException.class);
        assertThatThrownBy(() -> FileHandle.read(reader("00000000"))).isInstanceOf(XdrException.class);
        assertThatThrownBy(() -> Status.read(reader("00000003"))).isInstanceOf(XdrException.class);
        assertThatThrownBy(() -> FileType.read(reader("00000008"))).isInstanceOf(XdrException.class);
        assertThatThrownBy(() -> FileType.read(reader("00000000"))).isInstanceOf(XdrException.class);
        assertThatThrownBy(() -> Mount.readPath(reader("00000401" + "2f".repeat(1028))))
                .isInstanceOf(XdrException.class);
        assertThatThrownBy(() -> Mount.Results.read(reader("00000000", HANDLE_HEX, "7fffffff")))
                .isInstanceOf(XdrException.class);
        assertThatThrownBy(() -> FileHandle.of(new byte[65])).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Lookup.Failed(Status.OK, null)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void namesKeepTheirBytesAndAreShownEscaped() {
        byte[] odd = {'a', '\n', (byte) 0xff, (byte) 0xc3, (byte) 0xa4, '\\', (byte) 0xc3};
        FileName name = FileName.of(odd);
        assertThat(name.bytes()).isEqualTo(odd);
        assertThat(name.toString()).isEqualTo("a\\x0a\\xffä\\x5c\\xc3");
        assertThat(FileName.of("ä").bytes()).isEqualTo("ä".getBytes(StandardCharsets.UTF_8));
        assertThat(name).isEqualTo(FileName.of(odd)).isNotEqualTo(FileName.of("a"));
        assertThat(FileName.of("a\u202eb").toString()).isEqualTo("a\\xe2\\x80\\xaeb");
        assertThat(FileName.of("..").isPlain()).isFalse();
        assertThat(FileName.of(".").isPlain()).isFalse();
        assertThat(FileName.of("").isPlain()).isFalse();
        assertThat(FileName.of("a/b").isPlain()).isFalse();
        assertThat(FileName.of("...").isPlain()).isTrue();
    }

    @Test
    void timesThatCannotBeCarriedBecomeTheNearestOnes() {
        assertThat(Time.of(java.time.Instant.parse("1969-12-31T23:59:59Z"))).isEqualTo(new Time(0, 0));
        assertThat(Time.of(java.time.Instant.parse("2500-01-01T00:00:00Z")).toInstant())
                .isEqualTo(java.time.Instant.ofEpochSecond(0xffff_ffffL, 999_999_999));
        java.time.Instant late = java.time.Instant.parse("2100-01-01T00:00:00.000000007Z");
        assertThat(Time.of(late).toInstant()).isEqualTo(late);
        assertThat(new Time(0, 1_000_000_000).isValid()).isFalse();
    }
}
