// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.transport.ulb;

/** One operation of NFS version 4: the shapes of its arguments and of its results, status word included. */
record Nfs4Operation(int number, String name, Shape arguments, Shape results) {}
