// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.event;

import java.util.concurrent.TimeUnit;

/**
 * A client's counters as the {@code xprt:} line that Linux prints for each RDMA mount in {@code /proc/self/mountstats}, so that tools
 * which know that line can read them.
 *
 * <pre>
 *  1 port           6 sends       11 read_chunks     16 pullup           21 nomsg_calls        26 empty_sendctx_q
 *  2 bind_count     7 recvs       12 write_chunks    17 fixup            22 recovered_mrs      27 reply_waits_for_send
 *  3 connect_count  8 bad_xids    13 reply_chunks    18 hardway          23 orphaned_mrs
 *  4 connect_time   9 req_u       14 total_rdma_req  19 failed_marshal   24 allocated_mrs
 *  5 idle_time     10 bklog_u     15 total_rdma_rep  20 bad_reply        25 local_invalidates
 * </pre>
 *
 * <p>The port and the number of port look-ups are always 0, times are in seconds. Where Linux stopped counting, in columns 22, 23 and
 * 27, real numbers are given.
 */
public final class MountstatsLine {

    /** Which columns. */
    public enum Columns {
        /** Columns 1 to 25, as Linux before 4.15 printed them. */
        TO_25,
        /** All 27 columns. */
        TO_27
    }

    private static final ClientCounter[] FROM_6 = {
        ClientCounter.SENDS,
        ClientCounter.RECEIVES,
        ClientCounter.BAD_XIDS,
        ClientCounter.IN_FLIGHT_SUM,
        ClientCounter.BACKLOG_SUM,
        ClientCounter.READ_CHUNKS,
        ClientCounter.WRITE_CHUNKS,
        ClientCounter.REPLY_CHUNKS,
        ClientCounter.TOTAL_RDMA_REQUEST,
        ClientCounter.TOTAL_RDMA_REPLY,
        ClientCounter.PULLUP_COPIES,
        ClientCounter.FIXUP_COPIES,
        ClientCounter.HARDWAY_BYTES,
        ClientCounter.FAILED_MARSHALS,
        ClientCounter.BAD_REPLIES,
        ClientCounter.NOMSG_CALLS,
        ClientCounter.REGIONS_RECOVERED,
        ClientCounter.REGIONS_ORPHANED,
        ClientCounter.REGIONS_ALLOCATED,
        ClientCounter.LOCAL_INVALIDATIONS
    };

    private MountstatsLine() {}

    /**
     * The line, without a line end and without the tab that begins it in the file.
     *
     * @param idleNanos since the connection was used last; 0 if there is none
     */
    public static String of(Counters<ClientCounter> counters, long idleNanos, Columns columns) {
        StringBuilder line = new StringBuilder(256).append("xprt:\trdma 0 0");
        column(line, counters.get(ClientCounter.CONNECTS));
        column(line, TimeUnit.NANOSECONDS.toSeconds(counters.get(ClientCounter.CONNECT_NANOS)));
        column(line, TimeUnit.NANOSECONDS.toSeconds(idleNanos));
        for (ClientCounter counter : FROM_6) {
            column(line, counters.get(counter));
        }
        if (columns == Columns.TO_27) {
            column(line, counters.get(ClientCounter.EMPTY_SEND_CONTEXTS));
            column(line, counters.get(ClientCounter.REPLY_WAITS_FOR_SEND));
        }
        return line.toString();
    }

    private static void column(StringBuilder line, long number) {
        line.append(' ').append(number);
    }
}
