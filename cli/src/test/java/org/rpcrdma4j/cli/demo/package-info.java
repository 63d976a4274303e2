// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.cli.demo;
