// SPDX-License-Identifier: Apache-2.0
/** External Data Representation (RFC 4506) read from and written to memory segments, with the eligible items of a message kept apart. */
package org.rpcrdma4j.transport.xdr;
