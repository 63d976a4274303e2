// SPDX-License-Identifier: Apache-2.0
/**
 * Sockets, threads and clock of the software device: event loops, listening, connecting, the MPA start-up exchange over a
 * socket, and the orderly end. What the bytes mean is decided elsewhere; this package moves them.
 */
package org.rpcrdma4j.iwarp.net;
