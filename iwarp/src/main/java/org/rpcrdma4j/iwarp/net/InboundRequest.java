// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.net;

import java.net.InetSocketAddress;
import java.util.concurrent.atomic.AtomicBoolean;
import org.rpcrdma4j.iwarp.mpa.MpaFrame;

/**
 * A peer's complete and valid Request, waiting for the program's answer, which is given once and from any thread. One that
 * is not answered in time is rejected; an acceptance that comes later is answered by {@link SetUpListener#onRefused}.
 */
public final class InboundRequest {
    private final ResponderSetUp setUp;
    private final MpaFrame frame;
    private final InetSocketAddress remoteAddress;
    private final InetSocketAddress localAddress;
    private final AtomicBoolean answered = new AtomicBoolean();

    InboundRequest(
            ResponderSetUp setUp, MpaFrame frame, InetSocketAddress remoteAddress, InetSocketAddress localAddress) {
        this.setUp = setUp;
        this.frame = frame;
        this.remoteAddress = remoteAddress;
        this.localAddress = localAddress;
    }

    /** The Request as it came. */
    public MpaFrame frame() {
        return frame;
    }

    /** The peer's end. */
    public InetSocketAddress remoteAddress() {
        return remoteAddress;
    }

    /** Our end. */
    public InetSocketAddress localAddress() {
        return localAddress;
    }

    /** The loop that will serve the connection. */
    public EventLoop loop() {
        return setUp.loop();
    }

    /**
     * Accepts.
     *
     * @param privateData for the Reply; copied
     * @param irdWish Reads that this side would serve
     * @param ordWish Reads that this side would have outstanding
     * @param listener told of the outcome, on the loop's thread
     * @throws IllegalArgumentException if the private data is too long or a wish is negative
     * @throws IllegalStateException if the request was answered already
     */
    public void accept(byte[] privateData, int irdWish, int ordWish, SetUpListener listener) {
        requireFit(privateData);
        if (irdWish < 0 || ordWish < 0) {
            throw new IllegalArgumentException("IRD " + irdWish + ", ORD " + ordWish + ": must not be negative");
        }
        claim();
        byte[] copy = privateData.clone();
        setUp.answer(() -> setUp.accept(copy, irdWish, ordWish, listener), listener);
    }

    /**
     * Rejects.
     *
     * @param privateData for the Reply; copied
     * @throws IllegalArgumentException if the private data is too long
     * @throws IllegalStateException if the request was answered already
     */
    public void reject(byte[] privateData) {
        reject(privateData, -1);
    }

    /**
     * Rejects, naming the Reads that the program needs to have outstanding (RFC 6581, Section 9.1).
     *
     * @param neededOrd -1 to leave it out
     */
    public void reject(byte[] privateData, int neededOrd) {
        requireFit(privateData);
        claim();
        byte[] copy = privateData.clone();
        setUp.answer(() -> setUp.reject(copy, neededOrd), null);
    }

    /** Makes the answer the caller's to give; false if somebody else was faster. */
    boolean tryClaim() {
        return answered.compareAndSet(false, true);
    }

    private void claim() {
        if (!tryClaim()) {
            throw new IllegalStateException("the request from " + remoteAddress + " was answered already");
        }
    }

    private void requireFit(byte[] privateData) {
        int limit = MpaFrame.maxPrivateDataBytes(frame.isEnhanced());
        if (privateData.length > limit) {
            throw new IllegalArgumentException(
                    "private data of " + privateData.length + " bytes: at most " + limit + " fit");
        }
    }
}
