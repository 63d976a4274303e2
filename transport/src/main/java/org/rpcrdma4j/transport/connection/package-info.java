// SPDX-License-Identifier: Apache-2.0
/**
 * One connection as client and server share it: its lock, its verbs objects and buffers, the order of its posts, and its end.
 */
package org.rpcrdma4j.transport.connection;
