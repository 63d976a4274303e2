// SPDX-License-Identifier: Apache-2.0
/** Remote Procedure Call version 2 (RFC 5531): headers, credentials, and the dispatch of calls to programs. Knows no transport. */
package org.rpcrdma4j.transport.rpc;
