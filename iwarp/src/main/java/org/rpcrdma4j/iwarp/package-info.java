// SPDX-License-Identifier: Apache-2.0
/** The software iWARP provider, found through the service loader and exported to nobody. */
package org.rpcrdma4j.iwarp;
