// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.rpcrdma4j.nfs.protocol.FileHandle;
import org.rpcrdma4j.transport.rpc.Credential;
import org.rpcrdma4j.verbs.RdmaDevice;

/**
 * How a volume is mounted and used. Immutable; {@link #over} and {@link #overTcp} begin one.
 *
 * @param device carries the calls, and stays the caller's; null for TCP. A URL that says {@code proto=tcp} has its way
 * @param credential who the caller says to be
 * @param mountPort where MOUNT is served over TCP; 0 if that is to be found out. The URL's goes first
 * @param handle the handle of the export's root, so that no MOUNT is needed; null if there is none. The URL's goes first
 * @param maxInFlight most calls without reply
 * @param timeout how long a server may leave a call without an answer, restarts included, until that is an error
 * @param busyTimeout how long a server may say NFS3ERR_JUKEBOX to a call until that is an error
 * @param readBytes largest READ; the server's own limit counts too
 * @param writeBytes largest WRITE; the server's own limit counts too
 * @param readAhead most READs that a reader has in flight
 * @param writeBehind most WRITEs that a writer has in flight
 * @param uncommittedBytes most data that a writer keeps for the case that the server forgets it; at half of it COMMIT is sent
 */
public record MountOptions(
        @Nullable RdmaDevice device,
        Credential credential,
        int mountPort,
        @Nullable FileHandle handle,
        int maxInFlight,
        Duration timeout,
        Duration busyTimeout,
        int readBytes,
        int writeBytes,
        int readAhead,
        int writeBehind,
        long uncommittedBytes) {

    private static final int MAX_TRANSFER_BYTES = 16 << 20;

    /** Checks the bounds. */
    public MountOptions {
        require(maxInFlight >= 1 && maxInFlight <= 16_384, "maxInFlight", maxInFlight);
        require(timeout.isPositive(), "timeout", timeout);
        require(!busyTimeout.isNegative(), "busyTimeout", busyTimeout);
        require(readBytes >= 512 && readBytes <= MAX_TRANSFER_BYTES, "readBytes", readBytes);
        require(writeBytes >= 512 && writeBytes <= MAX_TRANSFER_BYTES, "writeBytes", writeBytes);
        require(readAhead >= 1 && readAhead <= 1024, "readAhead", readAhead);
        require(writeBehind >= 1 && writeBehind <= 1024, "writeBehind", writeBehind);
        require(uncommittedBytes >= 2L * writeBytes, "uncommittedBytes", uncommittedBytes);
    }

    private static void require(boolean holds, String what, Object value) {
        if (!holds) {
            throw new IllegalArgumentException(what + " " + value + " is out of its bounds");
        }
    }

    /**
     * Over the device, as this process's user: 128 calls in flight, 60 s without an answer, 5 min busy, 1 MiB for each READ and WRITE, 16 of
     * each in flight, 64 MiB uncommitted.
     */
    public static MountOptions over(RdmaDevice device) {
        return defaults(device);
    }

    /** Over TCP, otherwise as {@link #over}. */
    public static MountOptions overTcp() {
        return defaults(null);
    }

    private static MountOptions defaults(@Nullable RdmaDevice device) {
        return new MountOptions(
                device,
                LocalUser.credential(),
                0,
                null,
                128,
                Duration.ofSeconds(60),
                Duration.ofMinutes(5),
                1 << 20,
                1 << 20,
                16,
                16,
                64L << 20);
    }

    /** The same with another credential. */
    public MountOptions withCredential(Credential value) {
        return new MountOptions(
                device,
                value,
                mountPort,
                handle,
                maxInFlight,
                timeout,
                busyTimeout,
                readBytes,
                writeBytes,
                readAhead,
                writeBehind,
                uncommittedBytes);
    }

    /** The same with a given port for MOUNT. */
    public MountOptions withMountPort(int value) {
        return new MountOptions(
                device,
                credential,
                value,
                handle,
                maxInFlight,
                timeout,
                busyTimeout,
                readBytes,
                writeBytes,
                readAhead,
                writeBehind,
                uncommittedBytes);
    }

    /** The same with a given handle of the root. */
    public MountOptions withHandle(FileHandle value) {
        return new MountOptions(
                device,
                credential,
                mountPort,
                value,
                maxInFlight,
                timeout,
                busyTimeout,
                readBytes,
                writeBytes,
                readAhead,
                writeBehind,
                uncommittedBytes);
    }

    /** The same with another limit for calls in flight. */
    public MountOptions withMaxInFlight(int value) {
        return new MountOptions(
                device,
                credential,
                mountPort,
                handle,
                value,
                timeout,
                busyTimeout,
                readBytes,
                writeBytes,
                readAhead,
                writeBehind,
                uncommittedBytes);
    }

    /** The same with other limits of patience: without an answer, and with a server that says it is busy. */
    public MountOptions withTimeouts(Duration unanswered, Duration busy) {
        return new MountOptions(
                device,
                credential,
                mountPort,
                handle,
                maxInFlight,
                unanswered,
                busy,
                readBytes,
                writeBytes,
                readAhead,
                writeBehind,
                uncommittedBytes);
    }

    /** The same with other sizes of READ and WRITE. */
    public MountOptions withTransferBytes(int read, int write) {
        return new MountOptions(
                device,
                credential,
                mountPort,
                handle,
                maxInFlight,
                timeout,
                busyTimeout,
                read,
                write,
                readAhead,
                writeBehind,
                uncommittedBytes);
    }

    /** The same with other limits of a reader and a writer. */
    public MountOptions withStreams(int newReadAhead, int newWriteBehind, long newUncommittedBytes) {
        return new MountOptions(
                device,
                credential,
                mountPort,
                handle,
                maxInFlight,
                timeout,
                busyTimeout,
                readBytes,
                writeBytes,
                newReadAhead,
                newWriteBehind,
                newUncommittedBytes);
    }
}
