// SPDX-License-Identifier: Apache-2.0
/**
 * Files over NFS/RDMA in one process: a fresh directory is exported, mounted, written and read back, beside the same transfer over stock
 * oncrpc4j's TCP, and once with the connection cut. The benchmark of NFS measures the same.
 */
@NullMarked
package org.rpcrdma4j.cli.demo;

import org.jspecify.annotations.NullMarked;
