// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Map;
import org.dcache.oncrpc4j.rpc.OncRpcProgram;
import org.dcache.oncrpc4j.rpc.OncRpcSvc;
import org.dcache.oncrpc4j.rpc.OncRpcSvcBuilder;
import org.dcache.oncrpc4j.rpc.RpcAuthTypeNone;
import org.dcache.oncrpc4j.rpc.RpcCall;
import org.dcache.oncrpc4j.rpc.RpcDispatchable;
import org.dcache.oncrpc4j.rpc.RpcTransport;
import org.dcache.oncrpc4j.xdr.XdrString;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.verbs.RdmaDevice;
import org.rpcrdma4j.verbs.spi.RdmaDevices;

/** The example of the README, as it stands there: what a program made for oncrpc4j changes to run over RDMA. */
class ReadmeOncRpcExampleTest {

    private static final int PROGRAM = 0x2000_0042;

    /** A program made for oncrpc4j: nothing changes. */
    private static final RpcDispatchable GREETER = call -> {
        XdrString name = new XdrString();
        call.retrieveCall(name);
        call.reply(new XdrString("hello, " + name.stringValue()));
    };

    @Test
    void theSameProgramIsServedOverTcpAndRdma() throws IOException {
        // The service: one builder, two services.
        OncRpcSvcBuilder programs = new OncRpcSvcBuilder()
                .withTCP()
                .withBindAddress("127.0.0.1")
                .withoutAutoPublish()
                .withRpcService(new OncRpcProgram(PROGRAM, 1), GREETER);
        OncRpcSvc overTcp = programs.build();
        overTcp.start();
        try (RdmaDevice device = RdmaDevices.open("iwarp", Map.of());
                RdmaOncRpcSvc overRdma = RdmaOncRpcSvc.builder(device, programs)
                        .address(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                        .start()) {
            // The client: another object to connect with. Calls are made as before.
            try (RdmaOncRpcClient client =
                    RdmaOncRpcClient.builder(device, overRdma.localAddress()).build()) {
                RpcTransport transport = client.connect();
                RpcCall call = new RpcCall(PROGRAM, 1, new RpcAuthTypeNone(), transport);
                XdrString greeting = new XdrString();
                call.call(1, new XdrString("RDMA"), greeting);
                assertThat(greeting.stringValue()).isEqualTo("hello, RDMA");
            }
        } finally {
            overTcp.stop();
        }
    }
}
