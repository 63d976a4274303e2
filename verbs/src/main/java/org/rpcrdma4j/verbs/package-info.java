// SPDX-License-Identifier: Apache-2.0
/** The RDMA interface: devices, protection domains, memory regions, queue pairs, work requests and their completions. */
package org.rpcrdma4j.verbs;
