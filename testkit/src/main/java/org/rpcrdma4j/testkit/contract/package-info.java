// SPDX-License-Identifier: Apache-2.0
/** The suite that every RDMA device must pass: extend {@link org.rpcrdma4j.testkit.contract.DeviceContract}. */
package org.rpcrdma4j.testkit.contract;
