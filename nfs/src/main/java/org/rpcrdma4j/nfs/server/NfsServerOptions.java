// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.server;

import org.rpcrdma4j.nfs.protocol.PathBytes;

/**
 * How an NFS server behaves, beside what the export's own options say. {@link #DEFAULT} is a good choice; {@code with...} gives it with one thing
 * changed.
 *
 * @param exportName the path under which clients mount the export; begins with a slash
 * @param credits calls that each connection may have unanswered
 * @param handlerThreads threads that run the calls which come over RDMA
 * @param maxConnections most connections at a time, for each transport
 * @param rememberedCalls calls whose replies are kept for when they come again
 * @param rememberedBytes most bytes of those replies
 * @param maxMounts entries of the list of mounts
 * @param rpcbind whether the addresses are registered with the host's rpcbind, if one runs
 */
public record NfsServerOptions(
        PathBytes exportName,
        int credits,
        int handlerThreads,
        int maxConnections,
        int rememberedCalls,
        long rememberedBytes,
        int maxMounts,
        boolean rpcbind) {

    /** "/", 64 credits, 8 threads or 4 for each processor, 1024 connections, 8192 calls remembered, no rpcbind. */
    public static final NfsServerOptions DEFAULT = new NfsServerOptions(
            PathBytes.of("/"),
            64,
            Math.max(8, 4 * Runtime.getRuntime().availableProcessors()),
            1024,
            8192,
            8L << 20,
            256,
            false);

    /** Checks the bounds that are not checked elsewhere. */
    public NfsServerOptions {
        if (exportName.length() == 0 || exportName.byteAt(0) != '/') {
            throw new IllegalArgumentException("the export's name must begin with a slash: " + exportName);
        }
        if (maxMounts < 1) {
            throw new IllegalArgumentException("maxMounts " + maxMounts + " must be at least 1");
        }
    }

    /** These, under another name. */
    public NfsServerOptions withExportName(PathBytes value) {
        return new NfsServerOptions(
                value, credits, handlerThreads, maxConnections, rememberedCalls, rememberedBytes, maxMounts, rpcbind);
    }

    /** These, with so many credits. */
    public NfsServerOptions withCredits(int value) {
        return new NfsServerOptions(
                exportName,
                value,
                handlerThreads,
                maxConnections,
                rememberedCalls,
                rememberedBytes,
                maxMounts,
                rpcbind);
    }

    /** These, with so many threads. */
    public NfsServerOptions withHandlerThreads(int value) {
        return new NfsServerOptions(
                exportName, credits, value, maxConnections, rememberedCalls, rememberedBytes, maxMounts, rpcbind);
    }

    /** These, with so many connections. */
    public NfsServerOptions withMaxConnections(int value) {
        return new NfsServerOptions(
                exportName, credits, handlerThreads, value, rememberedCalls, rememberedBytes, maxMounts, rpcbind);
    }

    /** These, with so many calls remembered. */
    public NfsServerOptions withRememberedCalls(int value) {
        return new NfsServerOptions(
                exportName, credits, handlerThreads, maxConnections, value, rememberedBytes, maxMounts, rpcbind);
    }

    /** These, with so many bytes of replies remembered. */
    public NfsServerOptions withRememberedBytes(long value) {
        return new NfsServerOptions(
                exportName, credits, handlerThreads, maxConnections, rememberedCalls, value, maxMounts, rpcbind);
    }

    /** These, with so many entries of mounts. */
    public NfsServerOptions withMaxMounts(int value) {
        return new NfsServerOptions(
                exportName, credits, handlerThreads, maxConnections, rememberedCalls, rememberedBytes, value, rpcbind);
    }

    /** These, with or without rpcbind. */
    public NfsServerOptions withRpcbind(boolean value) {
        return new NfsServerOptions(
                exportName,
                credits,
                handlerThreads,
                maxConnections,
                rememberedCalls,
                rememberedBytes,
                maxMounts,
                value);
    }
}
