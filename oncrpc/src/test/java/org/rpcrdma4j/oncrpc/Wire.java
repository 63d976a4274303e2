// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.oncrpc;

/** What a program's calls travel over. */
enum Wire {
    /** Stock oncrpc4j, client and server. */
    TCP,
    /** RDMA, and no binding knows of the program: large calls and replies go whole. */
    RDMA,
    /** RDMA, with the program's binding on both sides. */
    RDMA_BOUND
}
