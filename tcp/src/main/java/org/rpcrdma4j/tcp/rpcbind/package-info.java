// SPDX-License-Identifier: Apache-2.0
/** The look-up and registration of ports with rpcbind (RFC 1833). */
package org.rpcrdma4j.tcp.rpcbind;
