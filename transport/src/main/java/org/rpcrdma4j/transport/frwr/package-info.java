// SPDX-License-Identifier: Apache-2.0
/** Registration of memory by fast-registration work requests; see {@link org.rpcrdma4j.transport.frwr.Registrar}. */
package org.rpcrdma4j.transport.frwr;
