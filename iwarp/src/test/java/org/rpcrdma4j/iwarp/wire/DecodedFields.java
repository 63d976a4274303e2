// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.wire;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.rpcrdma4j.iwarp.ddp.DdpHeader;
import org.rpcrdma4j.iwarp.error.IwarpException;
import org.rpcrdma4j.iwarp.mpa.Crc32c;
import org.rpcrdma4j.iwarp.mpa.EnhancedSetup;
import org.rpcrdma4j.iwarp.mpa.Fpdu;
import org.rpcrdma4j.iwarp.mpa.FpduParser;
import org.rpcrdma4j.iwarp.mpa.MpaFrame;
import org.rpcrdma4j.iwarp.mpa.MpaFrameReader;
import org.rpcrdma4j.iwarp.rdmap.Opcode;
import org.rpcrdma4j.iwarp.rdmap.RdmapControl;
import org.rpcrdma4j.iwarp.rdmap.ReadRequestHeader;
import org.rpcrdma4j.iwarp.rdmap.TerminateMessage;

/** What the accessors read out of a frame, under the names the vector file uses. */
final class DecodedFields {
    private static final HexFormat HEX = HexFormat.of();

    private DecodedFields() {}

    static MpaFrame frame(WireVector vector) throws IwarpException {
        boolean request = vector.name().startsWith("mpa-req");
        MpaFrameReader reader = new MpaFrameReader(request ? MpaFrame.Kind.REQUEST : MpaFrame.Kind.REPLY);
        if (!reader.read(ByteBuffer.wrap(vector.bytes()))) {
            throw new IllegalArgumentException("the vector ends too early");
        }
        return reader.frame();
    }

    static Map<String, Object> ofFrame(WireVector vector) throws IwarpException {
        MpaFrame frame = frame(vector);
        byte[] bytes = frame.encode();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("key", new String(bytes, 0, 16, StandardCharsets.US_ASCII));
        fields.put("flags", "0x%02x".formatted(frame.flags()));
        fields.put("M", frame.markers());
        fields.put("C", frame.crc());
        fields.put("R", frame.rejected());
        fields.put("S", frame.isEnhanced());
        fields.put("rev", (long) frame.revision());
        fields.put("pd_length", (long) frame.pdLength());
        fields.put("ulp_private_data", HEX.formatHex(frame.privateData()));
        EnhancedSetup setup = frame.enhancedSetup();
        if (setup != null) {
            fields.put("word0", "0x" + HEX.formatHex(bytes, 20, 22));
            fields.put("word1", "0x" + HEX.formatHex(bytes, 22, 24));
            fields.put("A", setup.peerToPeer());
            fields.put("B", setup.rtrSend());
            fields.put("C_rtr_write", setup.rtrWrite());
            fields.put("D_rtr_read", setup.rtrRead());
            fields.put("ird", (long) setup.ird());
            fields.put("ord", (long) setup.ord());
        }
        return fields;
    }

    static Map<String, Object> ofFpdu(byte[] bytes) throws IwarpException {
        ByteBuffer fpdu = ByteBuffer.wrap(bytes);
        FpduParser parser = new FpduParser(false);
        int length = parser.next(fpdu);
        int at = parser.ulpduOffset();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("ulpdu_length", (long) length);
        fields.put("pad", (long) Fpdu.pad(length));
        int crcField = bytes.length - Crc32c.BYTES;
        fields.put("crc32c", hex32(Crc32c.read(fpdu, crcField)));
        fields.put("crc_wire_bytes", HEX.formatHex(bytes, crcField, bytes.length));
        fields.put("tagged", DdpHeader.isTagged(fpdu, at));
        if (length < DdpHeader.headerBytes(fpdu, at)) {
            return fields;
        }
        int control = DdpHeader.rdmapControl(fpdu, at);
        fields.put("last", DdpHeader.isLast(fpdu, at));
        fields.put("ddp_version", (long) DdpHeader.version(fpdu, at));
        fields.put("rdmap_version", (long) RdmapControl.version(control));
        fields.put("opcode", (long) RdmapControl.opcode(control));
        if (DdpHeader.isTagged(fpdu, at)) {
            fields.put("stag", hex32(DdpHeader.taggedStag(fpdu, at)));
            fields.put("to", hex64(DdpHeader.taggedOffset(fpdu, at)));
        } else {
            fields.put("invalidate_stag_or_reserved", hex32(DdpHeader.invalidateStag(fpdu, at)));
            fields.put("qn", Integer.toUnsignedLong(DdpHeader.queueNumber(fpdu, at)));
            fields.put("msn", Integer.toUnsignedLong(DdpHeader.msn(fpdu, at)));
            fields.put("mo", Integer.toUnsignedLong(DdpHeader.messageOffset(fpdu, at)));
        }
        int payload = at + DdpHeader.headerBytes(fpdu, at);
        fields.put("payload", HEX.formatHex(Arrays.copyOfRange(bytes, payload, at + length)));
        fields.put("payload_length", (long) (at + length - payload));
        Opcode opcode = Opcode.fromControl(control);
        if (opcode == Opcode.READ_REQUEST) {
            fields.put("read_request", ofReadRequest(fpdu, payload));
        }
        if (opcode == Opcode.TERMINATE) {
            fields.put("terminate", ofTerminate(TerminateMessage.decode(fpdu, at, length)));
        }
        return fields;
    }

    private static Map<String, Object> ofReadRequest(ByteBuffer fpdu, int at) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("sink_stag", hex32(ReadRequestHeader.sinkStag(fpdu, at)));
        fields.put("sink_to", hex64(ReadRequestHeader.sinkOffset(fpdu, at)));
        fields.put("size", ReadRequestHeader.size(fpdu, at));
        fields.put("source_stag", hex32(ReadRequestHeader.sourceStag(fpdu, at)));
        fields.put("source_to", hex64(ReadRequestHeader.sourceOffset(fpdu, at)));
        return fields;
    }

    private static Map<String, Object> ofTerminate(TerminateMessage message) {
        boolean stated = message.ddpSegmentLength() != TerminateMessage.NO_LENGTH;
        byte[] ddpHeader = message.ddpHeader();
        byte[] readRequest = message.readRequestHeader();
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("layer", (long) message.layer());
        fields.put("etype", (long) message.errorType());
        fields.put("code", (long) message.errorCode());
        fields.put("m", stated);
        fields.put("d", ddpHeader != null);
        fields.put("r", readRequest != null);
        fields.put("ddp_segment_length", stated ? (long) message.ddpSegmentLength() : null);
        fields.put("terminated_ddp_header", ddpHeader == null ? null : HEX.formatHex(ddpHeader));
        fields.put("terminated_rdmap_header", readRequest == null ? null : HEX.formatHex(readRequest));
        fields.put("control_hex", "%08x".formatted(message.controlWord()));
        fields.put("encoding", message.swapped() ? "siw-little-endian" : "rfc5040");
        return fields;
    }

    private static String hex32(int value) {
        return "0x%08x".formatted(value);
    }

    private static String hex64(long value) {
        return "0x%016x".formatted(value);
    }
}
