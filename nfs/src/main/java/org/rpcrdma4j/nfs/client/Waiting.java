// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import org.rpcrdma4j.nfs.protocol.NfsException;
import org.rpcrdma4j.nfs.protocol.NfsResults;
import org.rpcrdma4j.transport.client.ConnectFailedException;
import org.rpcrdma4j.transport.client.TransportException;
import org.rpcrdma4j.transport.rpc.RpcException;
import org.rpcrdma4j.transport.xdr.XdrException;

/** Waits for what is under way and puts failures into words. */
final class Waiting {

    private Waiting() {}

    /**
     * Waits for the end. An interrupted thread gives it up, and still waits until its memory is free.
     *
     * @throws InterruptedIOException if the thread was interrupted; its status is set again
     * @throws IOException if it failed: {@link #failure}
     */
    static <T> T await(CompletableFuture<T> future, String action, String subject) throws IOException {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return future.get();
                } catch (InterruptedException e) {
                    interrupted = true;
                    future.cancel(false);
                }
            }
        } catch (ExecutionException e) {
            throw failure(e.getCause() == null ? e : e.getCause(), action, subject);
        } catch (CancellationException e) {
            throw interruption(action, subject);
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits for results; any status but NFS3_OK is an {@link NfsException}. */
    static <R extends NfsResults> R results(CompletableFuture<NfsReply<R>> future, String action, String subject)
            throws IOException {
        R results = await(future, action, subject).results();
        if (!results.isOk()) {
            throw new NfsException(results.status(), action, subject);
        }
        return results;
    }

    static InterruptedIOException interruption(String action, String subject) {
        return new InterruptedIOException("cannot " + action + " " + subject + ": interrupted");
    }

    /** What went wrong, as an exception whose message is one line for people. */
    static IOException failure(Throwable cause, String action, String subject) {
        return switch (cause) {
            case TransportException e
            when e.kind() == TransportException.Kind.CANCELLED -> interruption(action, subject);
            case TransportException e -> new CallFailedException(action, subject, reason(e), e);
            case RpcException e -> new CallFailedException(action, subject, String.valueOf(e.getMessage()), e);
            case XdrException e -> new CallFailedException(action, subject, "bad reply: " + e.getMessage(), e);
            case CancellationException _ -> interruption(action, subject);
            case IOException e -> e;
            case RuntimeException e -> throw e;
            case Error e -> throw e;
            default -> throw new IllegalStateException("call ended in an unforeseen way", cause);
        };
    }

    private static String reason(TransportException e) {
        return switch (e.kind()) {
            case TIMED_OUT -> "the server does not answer";
            case CONNECTION_LOST ->
                ConnectFailedException.in(e)
                        .map(Throwable::getMessage)
                        .orElseGet(() -> "no connection to the server: " + innermost(e));
            case CLOSED -> "the connection is closed";
            case TOO_MANY_CALLS -> "too many calls at once";
            default -> String.valueOf(e.getMessage());
        };
    }

    /** What happened first, which stands last: in the first cause's message, behind the names of those who passed it on. */
    private static String innermost(Throwable failure) {
        Throwable cause = failure;
        for (int depth = 0; cause.getCause() != null && depth < 10; depth++) {
            cause = cause.getCause();
        }
        String message = cause.getMessage() == null ? cause.getClass().getSimpleName() : cause.getMessage();
        String last = message.substring(message.lastIndexOf(": ") < 0 ? 0 : message.lastIndexOf(": ") + 2);
        return last.isEmpty() ? message : Character.toLowerCase(last.charAt(0)) + last.substring(1);
    }
}
