// SPDX-License-Identifier: Apache-2.0
/** The contract suite every provider must pass, and what tests of several modules share. */
package org.rpcrdma4j.testkit;
