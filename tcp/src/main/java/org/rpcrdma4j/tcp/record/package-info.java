// SPDX-License-Identifier: Apache-2.0
/** Record marking (RFC 5531, Section 11): RPC messages as records of a byte stream, read and written without copying what is large. */
package org.rpcrdma4j.tcp.record;
