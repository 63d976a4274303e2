// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.rpcrdma4j.nfs.protocol.NfsResults;
import org.rpcrdma4j.nfs.protocol.Status;
import org.rpcrdma4j.transport.client.CallMessage;
import org.rpcrdma4j.transport.client.Reply;
import org.rpcrdma4j.transport.client.RpcClient;
import org.rpcrdma4j.transport.rpc.AcceptStatus;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** When a call of NFS is over. */
class NfsCallTest {

    private static final int XID = 7;

    private record Nothing(Status status) implements NfsResults {
        @Override
        public void write(XdrWriter out) {}
    }

    /** Answers each call before {@code send} returns. */
    private static final class PromptRpc implements RpcClient {
        @Override
        public int nextXid() {
            return XID;
        }

        @Override
        public CompletableFuture<Reply> send(CallMessage message) {
            XdrWriter out = new XdrWriter();
            ReplyHeader.of(XID, AcceptStatus.SUCCESS).encode(out);
            return CompletableFuture.completedFuture(Reply.of(MemorySegment.ofArray(out.toByteArray()), 0, 1));
        }

        @Override
        public Reply call(CallMessage message) {
            return send(message).join();
        }

        @Override
        public InetSocketAddress remoteAddress() {
            return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
        }

        @Override
        public void close() {}
    }

    private static CallMessage message() {
        XdrWriter head = new XdrWriter();
        head.writeInt(XID);
        head.writeFixedOpaque(MemorySegment.ofArray(new byte[36]));
        return CallMessage.builder(MemorySegment.ofArray(head.toByteArray())).build();
    }

    /** Data that came in the message is copied to the caller's memory while the answer is read; given back before, it is somebody else's. */
    @Test
    void aCallThatIsGivenUpWhileItsAnswerIsReadIsOverOnlyWhenThatIsDone() {
        AtomicReference<CompletableFuture<NfsReply<Nothing>>> self = new AtomicReference<>(new CompletableFuture<>());
        AtomicReference<Boolean> wasOver = new AtomicReference<>();
        NfsCall<Nothing> call = new NfsCall<>(
                new PromptRpc(),
                NfsCallTest::message,
                (in, reply) -> {
                    self.get().cancel(false);
                    wasOver.set(self.get().isDone());
                    return new Nothing(Status.OK);
                },
                0);
        self.set(call);
        call.start();
        assertThat(wasOver.get()).isFalse();
        assertThat(call.isDone()).isTrue();
    }

    @Test
    void aCallThatIsGivenUpBetweenTwoTriesIsOverAtOnce() {
        NfsCall<Nothing> call = new NfsCall<>(
                new PromptRpc(), NfsCallTest::message, (in, reply) -> new Nothing(Status.JUKEBOX), 600_000);
        call.start();
        assertThat(call.isDone()).isFalse();
        call.cancel(false);
        assertThat(call.isCompletedExceptionally()).isTrue();
    }
}
