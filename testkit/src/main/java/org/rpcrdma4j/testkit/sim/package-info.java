// SPDX-License-Identifier: Apache-2.0
/** A simulated RDMA network: deterministic, on virtual time, with faults on demand. */
package org.rpcrdma4j.testkit.sim;
