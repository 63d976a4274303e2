// SPDX-License-Identifier: Apache-2.0
/** Upper-layer bindings (RFC 8166, Section 6; RFC 8267): which data items may travel in chunks, and how large a reply can be. */
package org.rpcrdma4j.transport.ulb;
