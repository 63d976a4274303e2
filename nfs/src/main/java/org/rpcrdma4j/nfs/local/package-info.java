// SPDX-License-Identifier: Apache-2.0
/** The local file system in the protocol's terms. */
package org.rpcrdma4j.nfs.local;
