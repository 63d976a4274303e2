// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.bridge;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.rpcrdma4j.tcp.server.InboundRecord;
import org.rpcrdma4j.tcp.server.RecordConnection;
import org.rpcrdma4j.tcp.server.RecordHandler;
import org.rpcrdma4j.tcp.server.RecordService;
import org.rpcrdma4j.transport.rpc.ReplyHeader;
import org.rpcrdma4j.transport.server.ReplyPieces;
import org.rpcrdma4j.transport.xdr.XdrWriter;

/** Clients over TCP. */
final class TcpSide implements RecordService {

    private final Supplier<Upstream> upstreams;

    TcpSide(Supplier<Upstream> upstreams) {
        this.upstreams = upstreams;
    }

    @Override
    public RecordHandler accept(RecordConnection connection) {
        Upstream upstream = upstreams.get();
        return new RecordHandler() {
            @Override
            public void onRecord(InboundRecord record) {
                upstream.forward(new Call(record));
            }

            @Override
            public void onClosed() {
                upstream.close();
            }
        };
    }

    /** A call that came in a record. */
    private record Call(InboundRecord record) implements ForwardedCall {

        @Override
        public List<MemorySegment> message() {
            return List.of(record.message());
        }

        @Override
        public MemorySegment allocate(long bytes) {
            return record.allocate(bytes);
        }

        @Override
        public boolean sendsFromAllocated() {
            return true;
        }

        @Override
        public void reply(ReplyPieces reply) {
            List<MemorySegment> stream = new ArrayList<>();
            ReplyPlan.stream(reply, stream);
            record.reply(stream, null);
        }

        @Override
        public void replyHeader(ReplyHeader header) {
            XdrWriter out = new XdrWriter();
            header.encode(out);
            record.reply(List.of(out.part(0)), null);
        }

        @Override
        public void dropDuplicate() {
            record.drop();
        }

        @Override
        public void dropConnection(String reason) {
            RecordConnection connection = record.connection();
            record.drop();
            connection.abort(reason);
        }
    }
}
