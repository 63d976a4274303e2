// SPDX-License-Identifier: Apache-2.0
/** A TCP relay that does harm on command: for tests of what happens when a connection is cut, frozen, or damages bytes. */
package org.rpcrdma4j.testkit.proxy;
