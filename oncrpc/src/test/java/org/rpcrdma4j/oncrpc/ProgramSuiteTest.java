// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.dcache.oncrpc4j.rpc.OncRpcException;
import org.dcache.oncrpc4j.rpc.RpcAuth;
import org.dcache.oncrpc4j.rpc.RpcAuthTypeNone;
import org.dcache.oncrpc4j.rpc.RpcAuthTypeTls;
import org.dcache.oncrpc4j.rpc.RpcAuthTypeUnix;
import org.dcache.oncrpc4j.rpc.RpcAuthVerifier;
import org.dcache.oncrpc4j.rpc.RpcCall;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.dcache.oncrpc4j.xdr.XdrAble;
import org.dcache.oncrpc4j.xdr.XdrDecodingStream;
import org.dcache.oncrpc4j.xdr.XdrEncodingStream;
import org.dcache.oncrpc4j.xdr.XdrInt;
import org.dcache.oncrpc4j.xdr.XdrLong;
import org.dcache.oncrpc4j.xdr.XdrString;
import org.dcache.oncrpc4j.xdr.XdrVoid;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.rpcrdma4j.oncrpc.SampleTypes.Buffered;
import org.rpcrdma4j.oncrpc.SampleTypes.Bytes;
import org.rpcrdma4j.oncrpc.SampleTypes.ReadArguments;
import org.rpcrdma4j.oncrpc.SampleTypes.ReadResult;
import org.rpcrdma4j.oncrpc.SampleTypes.Style;
import org.rpcrdma4j.oncrpc.SampleTypes.WriteArguments;

/** One program, one client's code: over stock TCP, over RDMA, and over RDMA with the program's binding, all with equal results. */
class ProgramSuiteTest {

    private static final int MIB = 1 << 20;

    /** The failure of {@link SampleProgram} that decodes an opaque from nothing. */
    private static final int TOO_LONG_FOR_STOCK = 7;

    /** Something that a client does; what comes of it in words. */
    @FunctionalInterface
    interface Script {
        String run(RpcTransport transport) throws Exception;
    }

    private static final Map<Wire, SampleService> SERVICES = new EnumMap<>(Wire.class);
    private static final Map<Wire, RpcTransport> TRANSPORTS = new EnumMap<>(Wire.class);

    @TempDir
    private static Path directory;

    @BeforeAll
    static void start() throws IOException {
        File file = directory.resolve("file").toFile();
        Files.write(file.toPath(), SampleProgram.pattern(SampleProgram.FILE_BYTES));
        for (Wire wire : Wire.values()) {
            SampleService service = new SampleService(wire);
            service.program.file = file;
            SERVICES.put(wire, service);
            TRANSPORTS.put(wire, service.connect());
        }
    }

    @AfterAll
    static void stop() throws IOException {
        for (SampleService service : SERVICES.values()) {
            service.close();
        }
    }

    private static RpcTransport transport(Wire wire) {
        return Objects.requireNonNull(TRANSPORTS.get(wire), wire::name);
    }

    static List<String> names() {
        return List.copyOf(scripts().keySet());
    }

    private static Map<String, Script> scripts() {
        Map<String, Script> scripts = new LinkedHashMap<>();
        scripts.put("null", transport -> {
            SampleService.call(transport).call(SampleProgram.NULL, XdrVoid.XDR_VOID, XdrVoid.XDR_VOID);
            return "done";
        });
        scripts.put("int", transport -> {
            XdrInt result = new XdrInt();
            SampleService.call(transport).call(SampleProgram.ECHO_INT, new XdrInt(-77), result);
            return String.valueOf(result.intValue());
        });
        for (String text : List.of("", "a", "ab", "abcd", "grüße", "x".repeat(3000), "y".repeat(70_001))) {
            scripts.put("string of " + text.length(), transport -> {
                XdrString result = new XdrString();
                SampleService.call(transport).call(SampleProgram.ECHO_STRING, new XdrString(text), result);
                return result.stringValue();
            });
        }
        for (int length : new int[] {0, 1, 2, 3, 4, 1000, 4000, 5001, 300 << 10, MIB}) {
            scripts.put("array of " + length, transport -> {
                Bytes result = new Bytes();
                SampleService.call(transport)
                        .call(SampleProgram.ECHO_BYTES, new Bytes(SampleProgram.pattern(length)), result);
                return summary(ByteBuffer.wrap(result.value));
            });
            scripts.put("buffer of " + length, transport -> {
                Buffered result = new Buffered();
                SampleService.call(transport)
                        .call(
                                SampleProgram.ECHO_BUFFER,
                                new Buffered(ByteBuffer.wrap(SampleProgram.pattern(length))),
                                result);
                return summary(result.value);
            });
            for (Style style : Style.values()) {
                scripts.put("write of " + length + " as " + style, transport -> write(transport, style, length));
            }
            for (int procedure : reads()) {
                scripts.put("read " + procedure + " of " + length, transport -> read(transport, procedure, length));
            }
        }
        addIdentities(scripts);
        addFailures(scripts);
        scripts.put("answered later by another thread", transport -> {
            XdrInt result = new XdrInt();
            SampleService.call(transport).call(SampleProgram.LATER, new XdrInt(5), result);
            return String.valueOf(result.intValue());
        });
        scripts.put("future with timeout", transport -> {
            XdrInt result = new XdrInt();
            SampleService.call(transport).call(SampleProgram.ECHO_INT, new XdrInt(3), result, 30, TimeUnit.SECONDS);
            return String.valueOf(result.intValue());
        });
        scripts.put(
                "future without timeout",
                transport -> String.valueOf(SampleService.call(transport)
                        .call(SampleProgram.ECHO_INT, new XdrInt(4), XdrInt.class)
                        .get(30, TimeUnit.SECONDS)
                        .intValue()));
        return scripts;
    }

    private static int[] reads() {
        return new int[] {
            SampleProgram.READ, SampleProgram.READ_BUFFER, SampleProgram.READ_SHALLOW, SampleProgram.READ_MARKED
        };
    }

    private static void addIdentities(Map<String, Script> scripts) {
        List<RpcAuth> credentials = List.of(
                new RpcAuthTypeNone(),
                new RpcAuthTypeUnix(1000, 100, new int[] {4, 24, 27}, 7, "machine"),
                new RpcAuthTypeUnix(0, 0, new int[0], 0, ""),
                new RpcAuthTypeTls(),
                new UnknownFlavour());
        for (RpcAuth credential : credentials) {
            scripts.put(
                    "identity of flavour " + credential.type() + " " + credentials.indexOf(credential), transport -> {
                        XdrString result = new XdrString();
                        SampleService.call(transport, credential)
                                .call(SampleProgram.IDENTITY, XdrVoid.XDR_VOID, result);
                        return result.stringValue();
                    });
        }
    }

    private static void addFailures(Map<String, Script> scripts) {
        // An Error leaves a caller of stock oncrpc4j without an answer, so those kinds are elsewhere.
        for (int kind = 0; kind < TOO_LONG_FOR_STOCK; kind++) {
            int how = kind;
            scripts.put("failure " + kind, transport -> {
                SampleService.call(transport).call(SampleProgram.FAIL, new XdrInt(how), XdrVoid.XDR_VOID);
                return "no failure";
            });
        }
        scripts.put("unknown procedure", transport -> {
            SampleService.call(transport).call(999, XdrVoid.XDR_VOID, XdrVoid.XDR_VOID);
            return "no failure";
        });
        scripts.put("unknown version", transport -> {
            new RpcCall(SampleProgram.PROGRAM.getNumber(), 9, new RpcAuthTypeNone(), transport)
                    .call(0, XdrVoid.XDR_VOID, XdrVoid.XDR_VOID);
            return "no failure";
        });
        scripts.put("unknown program", transport -> {
            new RpcCall(0x2000_0999, 1, new RpcAuthTypeNone(), transport).call(0, XdrVoid.XDR_VOID, XdrVoid.XDR_VOID);
            return "no failure";
        });
        scripts.put("result that is not as the client thinks", transport -> {
            SampleService.call(transport).call(SampleProgram.ECHO_INT, new XdrInt(1), new XdrLong());
            return "no failure";
        });
    }

    private static String write(RpcTransport transport, Style style, int length) throws IOException {
        XdrLong result = new XdrLong();
        ByteBuffer data = ByteBuffer.wrap(SampleProgram.pattern(length));
        SampleService.call(transport).call(SampleProgram.WRITE, new WriteArguments(style, 5, data, 2), result);
        return String.valueOf(result.longValue());
    }

    private static String read(RpcTransport transport, int procedure, int length) throws IOException {
        List<String> all = new ArrayList<>();
        for (Style style : List.of(Style.ARRAY, Style.BUFFER)) {
            ReadResult result = new ReadResult(style);
            SampleService.call(transport).call(procedure, new ReadArguments(99, length), result);
            assertThat(result.bytes()).isEqualTo(SampleProgram.filePart(99, length));
            all.add(result.status + " " + result.eof + " " + summary(result.data) + " " + result.after);
        }
        return all.toString();
    }

    private static String summary(ByteBuffer bytes) {
        return bytes.remaining() + " bytes, checksum " + SampleProgram.checksum(bytes);
    }

    private static String outcome(Script script, RpcTransport transport) {
        try {
            return script.run(transport);
        } catch (Exception e) {
            return e.getClass().getName() + ": " + e.getMessage();
        }
    }

    @ParameterizedTest
    @MethodSource("names")
    void theSameCallHasTheSameOutcomeOverEachWire(String name) {
        Script script = Objects.requireNonNull(scripts().get(name), name);
        String overTcp = outcome(script, transport(Wire.TCP));
        assertThat(outcome(script, transport(Wire.RDMA))).isEqualTo(overTcp);
        assertThat(outcome(script, transport(Wire.RDMA_BOUND))).isEqualTo(overTcp);
    }

    /** Stock oncrpc4j allocates what a length says before it looks whether so much is there: an OutOfMemoryError in a small heap. */
    @ParameterizedTest
    @EnumSource(names = {"RDMA", "RDMA_BOUND"})
    void aLengthBeyondTheMessageIsAnsweredWithoutAnAllocation(Wire wire) {
        Script script = transport -> {
            SampleService.call(transport).call(SampleProgram.FAIL, new XdrInt(TOO_LONG_FOR_STOCK), XdrVoid.XDR_VOID);
            return "no failure";
        };
        assertThat(outcome(script, transport(wire))).endsWith("GARBAGE_ARGS");
    }

    /** The reply of a file is decoded as the client's READ result but for the word behind, which cannot be there over TCP. */
    @Test
    void partsOfAFileArriveEquallyOverEachWire() throws IOException {
        for (Wire wire : Wire.values()) {
            for (int length : new int[] {0, 1, 1000, 4099, MIB}) {
                FileResult result = new FileResult();
                SampleService.call(transport(wire)).call(SampleProgram.READ_FILE, new ReadArguments(7, length), result);
                assertThat(result.data).as("%s, %s bytes", wire, length).isEqualTo(SampleProgram.filePart(7, length));
            }
        }
    }

    /** Status and data. */
    private static final class FileResult implements XdrAble {
        private byte[] data = new byte[0];

        @Override
        public void xdrEncode(XdrEncodingStream stream) {}

        @Override
        public void xdrDecode(XdrDecodingStream stream) throws OncRpcException, IOException {
            stream.xdrDecodeInt();
            stream.xdrDecodeBoolean();
            data = stream.xdrDecodeDynamicOpaque();
        }
    }

    /** A flavour that no server has. */
    private static final class UnknownFlavour implements RpcAuth {
        private final RpcAuthTypeNone none = new RpcAuthTypeNone();

        @Override
        public int type() {
            return 77;
        }

        @Override
        public RpcAuthVerifier getVerifier() {
            return none.getVerifier();
        }

        @Override
        public javax.security.auth.Subject getSubject() {
            return none.getSubject();
        }

        @Override
        public void xdrEncode(XdrEncodingStream stream) throws OncRpcException, IOException {
            stream.xdrEncodeInt(77);
            stream.xdrEncodeDynamicOpaque(new byte[] {1, 2, 3, 4});
            getVerifier().xdrEncode(stream);
        }

        @Override
        public void xdrDecode(XdrDecodingStream stream) {}
    }
}
