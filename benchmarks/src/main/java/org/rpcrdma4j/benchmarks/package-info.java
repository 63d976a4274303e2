// SPDX-License-Identifier: Apache-2.0
/**
 * Measurements with JMH, of parts and of whole operations, the latter beside plain sockets. Never shipped. It runs on the class path,
 * since the device's packages are not exported.
 *
 * <pre>
 *   mvn -q -pl benchmarks -am package -DskipTests
 *   java -cp 'benchmarks/target/rpcrdma4j-benchmarks-0.1.0-SNAPSHOT.jar:benchmarks/target/lib/*' \
 *       org.rpcrdma4j.benchmarks.Main StagTable -prof gc
 * </pre>
 *
 * <p>Arguments are JMH's: a regular expression for the benchmarks to run (all without one), {@code -prof gc} for bytes allocated per operation,
 * {@code -rf json} for a file of results. Gates are ratios in one run, which {@code rpcrdma bench} takes; here single figures are taken, to
 * find where time goes.
 */
@NullMarked
package org.rpcrdma4j.benchmarks;

import org.jspecify.annotations.NullMarked;
