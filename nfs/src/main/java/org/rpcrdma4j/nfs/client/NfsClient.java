// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.nfs.client;

/** The procedures of NFS version 3, without waiting. */
public final class NfsClient {

    NfsClient() {}
}
