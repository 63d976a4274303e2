// SPDX-License-Identifier: Apache-2.0
/** Where time comes from: the transport reads no clock and starts no timer but through {@link org.rpcrdma4j.transport.time.TimeSource}. */
package org.rpcrdma4j.transport.time;
