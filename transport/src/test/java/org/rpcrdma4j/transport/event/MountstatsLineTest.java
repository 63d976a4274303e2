// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class MountstatsLineTest {

    /** The names that nfs-utils gives to the numbers behind {@code rdma}, in its order. */
    private static final List<String> NAMES = List.of(
            ("port bind_count connect_count connect_time idle_time sends recvs bad_xids req_u bklog_u read_chunks write_chunks"
                            + " reply_chunks total_rdma_req total_rdma_rep pullup fixup hardway failed_marshal bad_reply nomsg_calls"
                            + " recovered_mrs orphaned_mrs allocated_mrs local_invalidates empty_sendctx_q reply_waits_for_send")
                    .split(" "));

    private static final Map<String, ClientCounter> BY_NAME = Map.ofEntries(
            entry("connect_count", ClientCounter.CONNECTS),
            entry("sends", ClientCounter.SENDS),
            entry("recvs", ClientCounter.RECEIVES),
            entry("bad_xids", ClientCounter.BAD_XIDS),
            entry("req_u", ClientCounter.IN_FLIGHT_SUM),
            entry("bklog_u", ClientCounter.BACKLOG_SUM),
            entry("read_chunks", ClientCounter.READ_CHUNKS),
            entry("write_chunks", ClientCounter.WRITE_CHUNKS),
            entry("reply_chunks", ClientCounter.REPLY_CHUNKS),
            entry("total_rdma_req", ClientCounter.TOTAL_RDMA_REQUEST),
            entry("total_rdma_rep", ClientCounter.TOTAL_RDMA_REPLY),
            entry("pullup", ClientCounter.PULLUP_COPIES),
            entry("fixup", ClientCounter.FIXUP_COPIES),
            entry("hardway", ClientCounter.HARDWAY_BYTES),
            entry("failed_marshal", ClientCounter.FAILED_MARSHALS),
            entry("bad_reply", ClientCounter.BAD_REPLIES),
            entry("nomsg_calls", ClientCounter.NOMSG_CALLS),
            entry("recovered_mrs", ClientCounter.REGIONS_RECOVERED),
            entry("orphaned_mrs", ClientCounter.REGIONS_ORPHANED),
            entry("allocated_mrs", ClientCounter.REGIONS_ALLOCATED),
            entry("local_invalidates", ClientCounter.LOCAL_INVALIDATIONS),
            entry("empty_sendctx_q", ClientCounter.EMPTY_SEND_CONTEXTS),
            entry("reply_waits_for_send", ClientCounter.REPLY_WAITS_FOR_SEND));

    private final Counters<ClientCounter> counters = new Counters<>(ClientCounter.class);

    private static List<String> words(String line) {
        return List.of(line.split("\\s+"));
    }

    @Test
    void everyNumberStandsInTheColumnThatToolsExpect() {
        long number = 100;
        for (ClientCounter counter : ClientCounter.values()) {
            counters.add(counter, number++);
        }
        counters.add(ClientCounter.CONNECT_NANOS, 7_999_999_000L);
        List<String> words = words(MountstatsLine.of(counters, 12_900_000_000L, MountstatsLine.Columns.TO_27));

        assertThat(words.subList(0, 2)).containsExactly("xprt:", "rdma");
        assertThat(words).hasSize(2 + NAMES.size());
        for (int i = 0; i < NAMES.size(); i++) {
            String expected = switch (NAMES.get(i)) {
                case "port", "bind_count" -> "0";
                case "connect_time" -> "7";
                case "idle_time" -> "12";
                default -> Long.toString(counters.get(BY_NAME.get(NAMES.get(i))));
            };
            assertThat(words.get(2 + i)).as(NAMES.get(i)).isEqualTo(expected);
        }
    }

    @Test
    void theShorterLineEndsWithTheLocalInvalidations() {
        counters.add(ClientCounter.LOCAL_INVALIDATIONS, 25);
        counters.add(ClientCounter.EMPTY_SEND_CONTEXTS, 26);

        assertThat(MountstatsLine.of(counters, 0, MountstatsLine.Columns.TO_25))
                .isEqualTo("xprt:\trdma 0 0" + " 0".repeat(22) + " 25");
        assertThat(MountstatsLine.of(counters, 0, MountstatsLine.Columns.TO_27))
                .isEqualTo("xprt:\trdma 0 0" + " 0".repeat(22) + " 25 26 0");
    }
}
