// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.rpcrdma4j.nfs.protocol.WriteVerifier;
import org.rpcrdma4j.transport.event.Counters;

/**
 * Brings data to stable storage, and keeps the write verifier (RFC 1813, Section 3.3.7), which tells clients when they must send again what
 * they have not seen committed.
 *
 * <p>It is drawn at the start, and anew whenever data could not be brought to stable storage: what the kernel had accepted may be lost then,
 * and the kernel reports that once for each channel. A WRITE tells the one from before it handed its data to the kernel; a COMMIT the one
 * from after the kernel reported success. Any thread.
 */
final class StableStorage {

    private final Counters<NfsServerCounter> counters;
    private final SecureRandom random = new SecureRandom();
    private final AtomicLong verifier = new AtomicLong(random.nextLong());

    StableStorage(Counters<NfsServerCounter> counters) {
        this.counters = counters;
    }

    /** The verifier now. */
    WriteVerifier verifier() {
        return new WriteVerifier(verifier.get());
    }

    /**
     * Brings all of a file's data there.
     *
     * @param attributesToo also those attributes that are not needed to read the data
     * @return the verifier under which it was done
     */
    WriteVerifier bring(FileChannel channel, boolean attributesToo) throws IOException {
        counters.increment(NfsServerCounter.SYNCS);
        synchronized (channel) {
            try {
                channel.force(attributesToo);
                // ORDER: inside the lock: nobody was told of a failure of this channel that the verifier does not show
                // yet.
                return verifier();
            } catch (IOException e) {
                counters.increment(NfsServerCounter.SYNC_FAILURES);
                verifier.set(random.nextLong());
                throw e;
            }
        }
    }
}
