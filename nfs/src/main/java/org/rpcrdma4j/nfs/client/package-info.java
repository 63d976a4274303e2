// SPDX-License-Identifier: Apache-2.0
/**
 * A client of NFS version 3, over RDMA or TCP.
 *
 * <p>{@link org.rpcrdma4j.nfs.client.NfsVolume} is a mounted export with blocking operations on paths, {@link
 * org.rpcrdma4j.nfs.client.NfsReader} and {@link org.rpcrdma4j.nfs.client.NfsWriter} move a file's data with many calls in flight, {@link
 * org.rpcrdma4j.nfs.client.NfsClient} has the procedures themselves.
 *
 * <p>Failures are of four kinds, each with one line for people: {@link org.rpcrdma4j.nfs.protocol.NfsException}, the server says no; {@link
 * org.rpcrdma4j.nfs.client.CallFailedException}, no answer that makes sense; {@link
 * org.rpcrdma4j.nfs.client.FileTruncatedException}; {@link java.io.InterruptedIOException}.
 */
package org.rpcrdma4j.nfs.client;
