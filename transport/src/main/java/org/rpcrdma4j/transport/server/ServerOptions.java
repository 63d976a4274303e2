// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.server;

import java.time.Duration;

/**
 * How a server behaves; made by {@link #builder}. Every limit is one that a peer can run into, so none is without bound.
 *
 * @param credits calls that each connection may have unanswered, 1 to 16384
 * @param sendBytes longest message that the server sends, if the client can receive as much: a multiple of 1024 up to 262144
 * @param receiveBytes longest message that it receives, as {@code sendBytes}
 * @param maxPayloadBytes longest argument or result that travels by chunk, up to 16 MiB
 * @param maxReadSegments most segments of a call's Read list
 * @param maxWriteChunks most chunks of a call's Write list
 * @param maxSegmentsPerChunk most segments of a Write or Reply chunk
 * @param allowEmptyWriteChunk whether a Write chunk may have no segment (RFC 8166, Section 4.3.2.3); if not, ERR_CHUNK as newer Linux
 * @param connectionMemoryBytes most memory for arguments and results in flight, for each connection: at least what one call can want,
 *     about twice the payload and 128 KiB
 * @param serverMemoryBytes the same for all connections together. All connections of one client address have at most three times what
 *     they leave to others, so three quarters of it when nobody else has any; a call for which there is too little waits, those of the
 *     address that has least go first
 * @param maxConnections most connections at a time; further ones are rejected
 * @param backlog most connections that wait to be accepted
 * @param outboundReads most RDMA Reads outstanding on a connection, if device and client allow as many
 * @param handlerThreads threads of the server's own executor
 * @param remoteInvalidation whether replies may invalidate a region of a client that agrees
 * @param reverseCredits most unanswered calls to a client, 0 for no calls in that direction
 * @param maxBadMessages so many messages in a row that are too short to be answered end the connection
 * @param setupTimeout limit for a connection's set-up
 * @param pullTimeout limit for the RDMA Reads of one call
 * @param sendTimeout limit for the sending of one reply
 * @param idleTimeout connections without traffic for so long are ended; zero for never
 * @param drainTimeout how long the end of a connection waits for completions that do not come
 * @param trimDelay memory that was not used for so long is given back
 */
public record ServerOptions(
        int credits,
        int sendBytes,
        int receiveBytes,
        long maxPayloadBytes,
        int maxReadSegments,
        int maxWriteChunks,
        int maxSegmentsPerChunk,
        boolean allowEmptyWriteChunk,
        long connectionMemoryBytes,
        long serverMemoryBytes,
        int maxConnections,
        int backlog,
        int outboundReads,
        int handlerThreads,
        boolean remoteInvalidation,
        int reverseCredits,
        int maxBadMessages,
        Duration setupTimeout,
        Duration pullTimeout,
        Duration sendTimeout,
        Duration idleTimeout,
        Duration drainTimeout,
        Duration trimDelay) {

    /** Most credits. */
    public static final int MAX_CREDITS = 16_384;

    private static final int KIB = 1024;
    private static final long MIB = 1 << 20;
    private static final long MAX_PAYLOAD = 16 * MIB;
    private static final int MAX_MESSAGE = 256 * KIB;

    /** The defaults. */
    public static final ServerOptions DEFAULT = builder().build();

    public ServerOptions {
        inRange("credits", credits, 1, MAX_CREDITS);
        messageSize("sendBytes", sendBytes);
        messageSize("receiveBytes", receiveBytes);
        inRange("maxPayloadBytes", maxPayloadBytes, KIB, MAX_PAYLOAD);
        inRange("maxReadSegments", maxReadSegments, 1, 65_536);
        inRange("maxWriteChunks", maxWriteChunks, 1, 1024);
        inRange("maxSegmentsPerChunk", maxSegmentsPerChunk, 1, 65_536);
        inRange("connectionMemoryBytes", connectionMemoryBytes, leastMemoryBytes(maxPayloadBytes), Long.MAX_VALUE);
        inRange("serverMemoryBytes", serverMemoryBytes, connectionMemoryBytes, Long.MAX_VALUE);
        inRange("maxConnections", maxConnections, 1, 1 << 20);
        inRange("backlog", backlog, 1, 1 << 16);
        inRange("outboundReads", outboundReads, 1, 255);
        inRange("handlerThreads", handlerThreads, 1, 4096);
        inRange("reverseCredits", reverseCredits, 0, 256);
        inRange("maxBadMessages", maxBadMessages, 1, 1 << 20);
        positive("setupTimeout", setupTimeout);
        positive("pullTimeout", pullTimeout);
        positive("sendTimeout", sendTimeout);
        positive("drainTimeout", drainTimeout);
        positive("trimDelay", trimDelay);
        if (idleTimeout.isNegative()) {
            throw new IllegalArgumentException("idleTimeout " + idleTimeout + " must not be negative");
        }
    }

    /** What the largest call can want, with arguments and results. */
    static long leastMemoryBytes(long maxPayloadBytes) {
        return Admission.mostBytes(maxPayloadBytes);
    }

    private static void inRange(String name, long value, long low, long high) {
        if (value < low || value > high) {
            throw new IllegalArgumentException(name + " " + value + " must lie in " + low + ".." + high);
        }
    }

    private static void messageSize(String name, int value) {
        inRange(name, value, KIB, MAX_MESSAGE);
        if (value % KIB != 0) {
            // RFC 8797, Section 4: sizes are told in units of 1024 bytes.
            throw new IllegalArgumentException(name + " " + value + " must be a multiple of " + KIB);
        }
    }

    private static void positive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + " " + value + " must be positive");
        }
    }

    /** A builder with the defaults. */
    public static Builder builder() {
        return new Builder();
    }

    /** Collects options. A method is named as the option that it sets. */
    public static final class Builder {
        /** Clients of a whole room may come in one moment; who waits for its acceptance costs next to nothing. */
        private static final int DEFAULT_BACKLOG = 256;

        private int credits = 64;
        private int sendBytes = 4 * KIB;
        private int receiveBytes = 4 * KIB;
        private long maxPayloadBytes = MIB;
        private int maxReadSegments = 260;
        private int maxWriteChunks = 16;
        private int maxSegmentsPerChunk = 260;
        private boolean allowEmptyWriteChunk = true;
        private long connectionMemoryBytes;
        private long serverMemoryBytes;
        private int maxConnections = 1024;
        private int backlog = DEFAULT_BACKLOG;
        private int outboundReads = 16;
        private int handlerThreads = Math.max(4, 2 * Runtime.getRuntime().availableProcessors());
        private boolean remoteInvalidation = true;
        private int reverseCredits = 2;
        private int maxBadMessages = 8;
        private Duration setupTimeout = Duration.ofSeconds(10);
        private Duration pullTimeout = Duration.ofSeconds(60);
        private Duration sendTimeout = Duration.ofSeconds(60);
        private Duration idleTimeout = Duration.ZERO;
        private Duration drainTimeout = Duration.ofSeconds(5);
        private Duration trimDelay = Duration.ofSeconds(30);

        private Builder() {}

        public Builder credits(int value) {
            credits = value;
            return this;
        }

        public Builder sendBytes(int value) {
            sendBytes = value;
            return this;
        }

        public Builder receiveBytes(int value) {
            receiveBytes = value;
            return this;
        }

        public Builder maxPayloadBytes(long value) {
            maxPayloadBytes = value;
            return this;
        }

        public Builder maxReadSegments(int value) {
            maxReadSegments = value;
            return this;
        }

        public Builder maxWriteChunks(int value) {
            maxWriteChunks = value;
            return this;
        }

        public Builder maxSegmentsPerChunk(int value) {
            maxSegmentsPerChunk = value;
            return this;
        }

        public Builder allowEmptyWriteChunk(boolean value) {
            allowEmptyWriteChunk = value;
            return this;
        }

        /** 0 for a default that follows the payload and the credits. */
        public Builder connectionMemoryBytes(long value) {
            connectionMemoryBytes = value;
            return this;
        }

        /** 0 for a default that follows the memory of a connection. */
        public Builder serverMemoryBytes(long value) {
            serverMemoryBytes = value;
            return this;
        }

        public Builder maxConnections(int value) {
            maxConnections = value;
            return this;
        }

        public Builder backlog(int value) {
            backlog = value;
            return this;
        }

        public Builder outboundReads(int value) {
            outboundReads = value;
            return this;
        }

        public Builder handlerThreads(int value) {
            handlerThreads = value;
            return this;
        }

        public Builder remoteInvalidation(boolean value) {
            remoteInvalidation = value;
            return this;
        }

        public Builder reverseCredits(int value) {
            reverseCredits = value;
            return this;
        }

        public Builder maxBadMessages(int value) {
            maxBadMessages = value;
            return this;
        }

        public Builder setupTimeout(Duration value) {
            setupTimeout = value;
            return this;
        }

        public Builder pullTimeout(Duration value) {
            pullTimeout = value;
            return this;
        }

        public Builder sendTimeout(Duration value) {
            sendTimeout = value;
            return this;
        }

        public Builder idleTimeout(Duration value) {
            idleTimeout = value;
            return this;
        }

        public Builder drainTimeout(Duration value) {
            drainTimeout = value;
            return this;
        }

        public Builder trimDelay(Duration value) {
            trimDelay = value;
            return this;
        }

        /**
         * The options.
         *
         * @throws IllegalArgumentException if one is out of its range
         */
        public ServerOptions build() {
            long connection = connectionMemoryBytes > 0
                    ? connectionMemoryBytes
                    : Math.max(4, Math.min(credits, 32)) * leastMemoryBytes(maxPayloadBytes);
            long server = serverMemoryBytes > 0 ? serverMemoryBytes : 8 * connection;
            return new ServerOptions(
                    credits,
                    sendBytes,
                    receiveBytes,
                    maxPayloadBytes,
                    maxReadSegments,
                    maxWriteChunks,
                    maxSegmentsPerChunk,
                    allowEmptyWriteChunk,
                    connection,
                    server,
                    maxConnections,
                    backlog,
                    outboundReads,
                    handlerThreads,
                    remoteInvalidation,
                    reverseCredits,
                    maxBadMessages,
                    setupTimeout,
                    pullTimeout,
                    sendTimeout,
                    idleTimeout,
                    drainTimeout,
                    trimDelay);
        }
    }
}
