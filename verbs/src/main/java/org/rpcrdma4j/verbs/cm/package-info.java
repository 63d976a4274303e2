// SPDX-License-Identifier: Apache-2.0
/** The connection manager: listen, connect, accept and reject, with private data. */
package org.rpcrdma4j.verbs.cm;
