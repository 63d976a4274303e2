// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.protocol;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.rpcrdma4j.transport.xdr.XdrException;
import org.rpcrdma4j.transport.xdr.XdrReader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** What holds for every type of the protocol: what is written is read, what is cut or damaged is refused, and nothing else happens. */
class RoundTripTest {

    private static final int ROUNDS = 150;

    @FunctionalInterface
    interface Decoder<T> {
        T read(XdrReader in) throws XdrException;
    }

    record Kind<T extends XdrValue>(Class<T> type, Decoder<? extends T> decoder) {
        @Override
        public String toString() {
            return type.getName().substring(type.getPackageName().length() + 1);
        }
    }

    private static <T extends XdrValue> Kind<T> kind(Class<T> type, Decoder<? extends T> decoder) {
        return new Kind<>(type, decoder);
    }

    static Stream<Kind<?>> kinds() {
        return Stream.of(
                kind(FileHandle.class, FileHandle::read),
                kind(FileName.class, FileName::read),
                kind(FileType.class, FileType::read),
                kind(StableHow.class, StableHow::read),
                kind(Status.class, Status::read),
                kind(MountStatus.class, MountStatus::read),
                kind(Time.class, Time::read),
                kind(Attributes.class, Attributes::read),
                kind(SetAttributes.class, SetAttributes::read),
                kind(WeakCacheData.class, WeakCacheData::read),
                kind(WriteVerifier.class, WriteVerifier::read),
                kind(CookieVerifier.class, CookieVerifier::read),
                kind(GetAttr.Arguments.class, GetAttr.Arguments::read),
                kind(GetAttr.Results.class, GetAttr.Results::read),
                kind(SetAttr.Arguments.class, SetAttr.Arguments::read),
                kind(ChangeResults.class, ChangeResults::read),
                kind(Lookup.Arguments.class, Lookup.Arguments::read),
                kind(Lookup.Results.class, Lookup.Results::read),
                kind(Access.Arguments.class, Access.Arguments::read),
                kind(Access.Results.class, Access.Results::read),
                kind(ReadLink.Arguments.class, ReadLink.Arguments::read),
                kind(ReadLink.Results.class, ReadLink.Results::read),
                kind(Read.Arguments.class, Read.Arguments::read),
                kind(Read.Results.class, in -> Read.Results.read(in, 0, 50)),
                kind(Write.Arguments.class, Write.Arguments::read),
                kind(Write.Results.class, Write.Results::read),
                kind(Create.Arguments.class, Create.Arguments::read),
                kind(CreateResults.class, CreateResults::read),
                kind(MkDir.Arguments.class, MkDir.Arguments::read),
                kind(SymLink.Arguments.class, SymLink.Arguments::read),
                kind(MkNod.Arguments.class, MkNod.Arguments::read),
                kind(Remove.Arguments.class, Remove.Arguments::read),
                kind(RmDir.Arguments.class, RmDir.Arguments::read),
                kind(Rename.Arguments.class, Rename.Arguments::read),
                kind(Rename.Results.class, Rename.Results::read),
                kind(Link.Arguments.class, Link.Arguments::read),
                kind(Link.Results.class, Link.Results::read),
                kind(ReadDir.Arguments.class, ReadDir.Arguments::read),
                kind(ReadDir.Results.class, ReadDir.Results::read),
                kind(ReadDirPlus.Arguments.class, ReadDirPlus.Arguments::read),
                kind(ReadDirPlus.Results.class, ReadDirPlus.Results::read),
                kind(FsStat.Arguments.class, FsStat.Arguments::read),
                kind(FsStat.Results.class, FsStat.Results::read),
                kind(FsInfo.Arguments.class, FsInfo.Arguments::read),
                kind(FsInfo.Results.class, FsInfo.Results::read),
                kind(PathConf.Arguments.class, PathConf.Arguments::read),
                kind(PathConf.Results.class, PathConf.Results::read),
                kind(Commit.Arguments.class, Commit.Arguments::read),
                kind(Commit.Results.class, Commit.Results::read),
                kind(Mount.Results.class, Mount.Results::read),
                kind(Mount.Entry.class, Mount.Entry::read),
                kind(Mount.Export.class, Mount.Export::read));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    <T extends XdrValue> void whatIsWrittenIsRead(Kind<T> kind) throws XdrException {
        for (long seed = 0; seed < ROUNDS; seed++) {
            Random random = new Random(seed);
            byte[] bytes = encode(kind, random);
            XdrReader in = new XdrReader(cut(bytes, random));
            T read = kind.decoder.read(in);
            in.requireEnd();
            assertThat(encode(read)).as("seed %d", seed).isEqualTo(bytes);
            assertThat(bytes.length % 4).isZero();
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    <T extends XdrValue> void whatIsCutIsRefused(Kind<T> kind) {
        for (long seed = 0; seed < 20; seed++) {
            byte[] bytes = encode(kind, new Random(seed));
            for (int length = 0; length < bytes.length; length++) {
                MemorySegment prefix = MemorySegment.ofArray(bytes).asSlice(0, length);
                assertThat(refusal(kind, prefix))
                        .as("seed %d, %d bytes", seed, length)
                        .isNotNull();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    <T extends XdrValue> void whatIsDamagedIsRefusedOrIsSomethingElse(Kind<T> kind) {
        for (long seed = 0; seed < ROUNDS; seed++) {
            Random random = new Random(seed);
            byte[] bytes = encode(kind, random);
            for (int i = random.nextInt(4); i >= 0; i--) {
                bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
            }
            refusal(kind, MemorySegment.ofArray(bytes));
        }
    }

    private static <T extends XdrValue> @org.jspecify.annotations.Nullable XdrException refusal(
            Kind<T> kind, MemorySegment message) {
        try {
            kind.decoder.read(new XdrReader(message));
            return null;
        } catch (XdrException e) {
            return e;
        }
    }

    private static <T extends XdrValue> byte[] encode(Kind<T> kind, Random random) {
        RandomRecords records = new RandomRecords(random);
        try {
            return encode(records.next(kind.type));
        } catch (IllegalArgumentException e) {
            return encode(records.nextSmall(kind.type));
        }
    }

    static byte[] encode(XdrValue value) {
        XdrWriter out = new XdrWriter();
        value.write(out);
        return out.toByteArray();
    }

    private static List<MemorySegment> cut(byte[] bytes, Random random) {
        List<MemorySegment> pieces = new ArrayList<>();
        int at = 0;
        while (at < bytes.length) {
            int length = Math.min(bytes.length - at, 1 + random.nextInt(random.nextBoolean() ? 8 : bytes.length));
            pieces.add(MemorySegment.ofArray(bytes).asSlice(at, length));
            at += length;
        }
        return pieces;
    }
}
