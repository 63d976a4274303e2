// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.rpcrdma4j.transport.wire.Decoding.LIMITS;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.rpcrdma4j.transport.wire.HeaderDecoder.Outcome;

/** The example messages: read, written, read and written again, cut at every byte, and spoilt one by one. */
class MessageVectorTest {
    private static final int BYTE_CUT = 40;

    private final TransportHeader header = new TransportHeader();

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "V6") // has the version that was refused
    void decodesAndEncodesEachVectorToTheByte(WireVector vector) {
        assertThat(Decoding.decode(vector.bytes(), header)).isEqualTo(Outcome.OK);
        assertThat(header.length()).isEqualTo(vector.headerBytes());
        assertThat(ReferenceHeader.of(Outcome.OK, header)).isEqualTo(ReferenceHeader.decode(vector.bytes(), LIMITS));
        assertThat(Decoding.encode(header)).isEqualTo(Arrays.copyOf(vector.bytes(), vector.headerBytes()));
    }

    @Test
    void v1HasNoChunks() {
        Decoding.decode(WireVector.V1.bytes(), header);

        assertThat(header.xid()).isEqualTo(0x7b3f1c20);
        assertThat(header.version()).isEqualTo(1);
        assertThat(header.credits()).isEqualTo(128);
        assertThat(header.procedure()).isEqualTo(Procedure.RDMA_MSG);
        assertThat(header.hasNoChunks()).isTrue();
        assertThat(header).hasToString("xid=7b3f1c20 credits=128 RDMA_MSG");
    }

    @Test
    void v2HasOneReadSegment() {
        header.xid(0x0a000001);
        header.credits(128);
        header.readList().add(140, 0x1a01, 8192, 0x0a000001_00010000L);

        assertThat(Decoding.encode(header)).isEqualTo(WireVector.V2.bytes());
        assertThat(Decoding.header(WireVector.V2.bytes()))
                .hasToString("xid=0a000001 credits=128 RDMA_MSG read=[140:00001a01+8192@0a00000100010000]");
    }

    @Test
    void v2bHasOneReadChunkOfTwoSegments() {
        header.xid(0x0a000001);
        header.credits(128);
        header.readList().add(140, 0x1a02, 4096, 0x0a000001_00000200L);
        header.readList().add(140, 0x1b07, 1001, 0x0a000001_00031000L);

        assertThat(Decoding.encode(header)).isEqualTo(WireVector.V2B.bytes());
        ReadList list = Decoding.header(WireVector.V2B.bytes()).readList();
        assertThat(list.endOfChunk(0)).isEqualTo(2);
        assertThat(list.segments().totalLength()).isEqualTo(5097);
    }

    @Test
    void v3HasAWriteChunkAndItsRepliesReturnIt() {
        header.xid(0x0a000002);
        header.credits(128);
        header.writeList().beginChunk();
        header.writeList().addSegment(0x2c11, 65536, 0x0a000002_00000000L);
        assertThat(Decoding.encode(header)).isEqualTo(WireVector.V3.bytes());

        WriteList offered = Decoding.header(WireVector.V3.bytes()).writeList();
        for (WireVector reply : new WireVector[] {WireVector.V3R, WireVector.V3Z, WireVector.V3E}) {
            assertThat(Decoding.header(reply.bytes()).writeList().isReturnOf(offered))
                    .as(reply.name())
                    .isTrue();
        }
        header.credits(64);
        assertThat(header.writeList().fillChunk(0, 4097)).isZero();
        assertThat(Decoding.encode(header)).isEqualTo(WireVector.V3R.bytes());
        assertThat(header.writeList().fillChunk(0, 0)).isZero();
        assertThat(Decoding.encode(header)).isEqualTo(WireVector.V3Z.bytes());
    }

    @Test
    void v3eHasAChunkWithoutSegments() {
        header.xid(0x0a000002);
        header.credits(64);
        header.writeList().beginChunk();

        assertThat(Decoding.encode(header)).isEqualTo(WireVector.V3E.bytes());
        WriteList list = Decoding.header(WireVector.V3E.bytes()).writeList();
        assertThat(list.chunks()).isOne();
        assertThat(list.segmentCount(0)).isZero();
        assertThat(list.chunkLength(0)).isZero();
    }

    @Test
    void v3pOffersRoomForThePad() {
        header.xid(0x0a000002);
        header.credits(128);
        header.writeList().beginChunk();
        header.writeList().addSegment(0x2c12, 4097, 0x0a000002_00000000L);
        header.writeList().addSegment(0xf01, 4, 0xffc);
        assertThat(Decoding.encode(header)).isEqualTo(WireVector.V3P.bytes());

        assertThat(header.writeList().fillChunk(0, 4097)).isZero();
        assertThat(header.writeList().segments().length(0)).isEqualTo(4097);
        assertThat(header.writeList().segments().length(1)).isZero();
    }

    @Test
    void v4HasAReplyChunkAndV4rReturnsIt() {
        header.xid(0x0a000003);
        header.credits(128);
        header.replyChunkPresent(true);
        header.replyChunk().add(0x3d21, 32768, 0x0a000003_00008000L);
        assertThat(Decoding.encode(header)).isEqualTo(WireVector.V4.bytes());

        TransportHeader reply = Decoding.header(WireVector.V4R.bytes());
        assertThat(reply.replyChunk().isReturnOf(header.replyChunk())).isTrue();
        header.procedure(Procedure.RDMA_NOMSG);
        header.credits(64);
        assertThat(header.replyChunk().fill(0, 1, 20480)).isZero();
        assertThat(Decoding.encode(header)).isEqualTo(WireVector.V4R.bytes());
        assertThat(reply).hasToString("xid=0a000003 credits=64 RDMA_NOMSG reply=[00003d21+20480@0a00000300008000]");
    }

    @Test
    void v5IsALongCall() {
        header.xid(0x0a000004);
        header.credits(128);
        header.procedure(Procedure.RDMA_NOMSG);
        header.readList().add(0, 0x4e31, 4096, 0x0a000004_00000000L);
        header.readList().add(0, 0x4e32, 2500, 0x0a000004_00001000L);

        assertThat(Decoding.encode(header)).isEqualTo(WireVector.V5.bytes());
        ReadList list = Decoding.header(WireVector.V5.bytes()).readList();
        assertThat(list.hasPositionZeroChunk()).isTrue();
        assertThat(list.segments().totalLength()).isEqualTo(4096 + 2500);
    }

    /** RFC 8166, Section 4.5: XID and version are those of the call, the procedure is 4. */
    @Test
    void v6AndV7AreErrorsThatNameTheCall() {
        byte[] version = new byte[28];
        byte[] chunk = new byte[20];

        assertThat(HeaderEncoder.encodeErrorVersion(0x7b3f1c20, 2, 64, 1, 1, memory(version), 0))
                .isEqualTo(28);
        assertThat(HeaderEncoder.encodeErrorChunk(0x0a000004, 1, 64, memory(chunk), 0))
                .isEqualTo(20);

        assertThat(version).isEqualTo(WireVector.V6.bytes());
        assertThat(chunk).isEqualTo(WireVector.V7.bytes());
        header.clear();
        header.xid(0x7b3f1c20);
        header.version(2);
        header.credits(64);
        header.procedure(Procedure.RDMA_ERROR);
        header.errorCode(ErrorCode.ERR_VERS);
        header.versions(1, 1);
        assertThat(Decoding.encode(header)).isEqualTo(WireVector.V6.bytes());
        assertThat(header).hasToString("xid=7b3f1c20 credits=64 version=2 RDMA_ERROR ERR_VERS 1..1");
    }

    /** The same answer to a call of version 1 is what a Requester can read. */
    @Test
    void v6WithVersionOneIsRead() {
        Decoding.decode(WireVector.V6.with(1, 1), header);

        assertThat(header.procedure()).isEqualTo(Procedure.RDMA_ERROR);
        assertThat(header.errorCode()).isEqualTo(ErrorCode.ERR_VERS);
        assertThat(header.lowVersion()).isOne();
        assertThat(header.highVersion()).isOne();
        assertThat(Decoding.encode(header)).isEqualTo(WireVector.V6.with(1, 1));
        assertThat(Decoding.outcome(WireVector.V6.bytes())).isEqualTo(Outcome.BAD_VERSION);
    }

    @Test
    void v8IsAReverseCall() {
        assertThat(Decoding.direction(WireVector.V8.bytes())).isEqualTo(RpcDirection.CALL);
        assertThat(Decoding.peekDirection(WireVector.V8.bytes())).isEqualTo(RpcDirection.CALL);
        assertThat(Decoding.direction(WireVector.V8.with(8, 1))).isEqualTo(RpcDirection.REPLY);
        assertThat(Decoding.peekDirection(WireVector.V8.with(8, 1))).isEqualTo(RpcDirection.REPLY);
    }

    @ParameterizedTest
    @EnumSource
    void anyCutOfAVectorIsToldWithoutReadingBehindIt(WireVector vector) {
        boolean error = vector == WireVector.V7;
        for (int length = 0; length <= vector.bytes().length; length++) {
            byte[] cut = Arrays.copyOf(vector.bytes(), length);
            Outcome outcome = Decoding.decode(cut, header);

            assertThat(ReferenceHeader.of(outcome, header)).isEqualTo(ReferenceHeader.decode(cut, LIMITS));
            if (vector != WireVector.V6) {
                assertThat(outcome)
                        .as("%s cut after %d bytes", vector, length)
                        .isEqualTo(
                                length >= vector.headerBytes()
                                        ? Outcome.OK
                                        : length >= 28 && !error ? Outcome.BAD_LISTS : Outcome.TOO_SHORT);
            }
        }
    }

    @Test
    void refusesTheSpoiltVectors() {
        assertThat(Decoding.outcome(WireVector.V2.with(4, 2))).isEqualTo(Outcome.BAD_LISTS);
        assertThat(Decoding.outcome(Arrays.copyOf(WireVector.V2.bytes(), BYTE_CUT)))
                .isEqualTo(Outcome.BAD_LISTS);
        assertThat(Decoding.outcome(WireVector.V2.with(5, 0x8d))).isEqualTo(Outcome.BAD_POSITION);
        assertThat(Decoding.outcome(WireVector.V3.with(6, 0x7fffffff))).isEqualTo(Outcome.BAD_LISTS);
        assertThat(Decoding.outcome(WireVector.V4.with(7, 0))).isEqualTo(Outcome.OUTSIDE_LIMITS);
        assertThat(Decoding.outcome(WireVector.V1.with(3, 1))).isEqualTo(Outcome.NO_CHUNKS);
    }

    /** Sixteen times 0x10000001 is 16 in 32 bits. */
    @Test
    void aCountWhoseBytesOverflowIsRefused() {
        assertThat(Decoding.outcome(WireVector.V3.with(6, 0x10000001))).isEqualTo(Outcome.BAD_LISTS);
        assertThat(Decoding.outcome(WireVector.V3.with(6, 0x10000000))).isEqualTo(Outcome.BAD_LISTS);
        assertThat(Decoding.outcome(WireVector.V4.with(7, 0x10000001))).isEqualTo(Outcome.BAD_LISTS);
        assertThat(Decoding.outcome(WireVector.V4.with(7, 0xffffffff))).isEqualTo(Outcome.BAD_LISTS);
    }

    /** The header is right; that nothing has so many bytes, or that chunks overlap, is for those who know the RPC message. */
    @Test
    void decodesWhatOnlyTheMessageCanRefute() {
        assertThat(Decoding.header(WireVector.V2.with(7, 0xffffffff))
                        .readList()
                        .segments()
                        .length(0))
                .isEqualTo(0xffffffffL);
        ReadList two = Decoding.header(WireVector.V2B.with(11, 144)).readList();
        assertThat(two.endOfChunk(0)).isOne();
        assertThat(two.position(1)).isEqualTo(144);
    }

    @ParameterizedTest
    @CsvSource({
        "2, MSGP, ERR_CHUNK",
        "3, DONE, NONE",
        "4, BAD_ERROR, NONE",
        "5, BAD_PROCEDURE, ERR_CHUNK",
        "6, BAD_PROCEDURE, ERR_CHUNK",
        "-1, BAD_PROCEDURE, ERR_CHUNK"
    })
    void refusesV1WithAnotherProcedure(int procedure, Outcome outcome, HeaderDecoder.Answer answer) {
        assertThat(Decoding.decode(WireVector.V1.with(3, procedure), header)).isEqualTo(outcome);
        assertThat(outcome.answer()).isEqualTo(answer);
        assertThat(header.procedureWord()).isEqualTo(procedure);
        assertThat(header.xid()).isEqualTo(0x7b3f1c20);
        assertThat(header.length()).isZero();
    }

    /** RFC 8166, Section 4.5.1: answered with ERR_VERS, which repeats XID and version. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2, 7, -1})
    void refusesV1WithAnotherVersion(int version) {
        assertThat(Decoding.decode(WireVector.V1.with(1, version), header)).isEqualTo(Outcome.BAD_VERSION);
        assertThat(Outcome.BAD_VERSION.answer()).isEqualTo(HeaderDecoder.Answer.ERR_VERS);
        assertThat(header.version()).isEqualTo(version);
        assertThat(header.xid()).isEqualTo(0x7b3f1c20);
        assertThat(header.credits()).isEqualTo(128);
    }

    @ParameterizedTest
    @CsvSource({"3, TOO_SHORT", "15, TOO_SHORT", "27, TOO_SHORT", "31, OK", "35, OK", "36, OK"})
    void aCutReverseCallHasNoDirectionBeforeTheWordIsThere(int length, Outcome outcome) {
        byte[] cut = Arrays.copyOf(WireVector.V8.bytes(), length);

        assertThat(Decoding.outcome(cut)).isEqualTo(outcome);
        RpcDirection direction = length < 36 ? RpcDirection.UNKNOWN : RpcDirection.CALL;
        assertThat(Decoding.direction(cut)).isEqualTo(direction);
        assertThat(Decoding.peekDirection(cut)).isEqualTo(direction);
    }

    private static MemorySegment memory(byte[] bytes) {
        return MemorySegment.ofArray(bytes);
    }
}
