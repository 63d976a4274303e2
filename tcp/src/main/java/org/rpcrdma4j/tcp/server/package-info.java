// SPDX-License-Identifier: Apache-2.0
/** A server of ONC RPC over TCP: of the transport's programs, or of whole records. */
package org.rpcrdma4j.tcp.server;
