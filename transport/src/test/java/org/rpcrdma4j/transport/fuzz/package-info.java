// SPDX-License-Identifier: Apache-2.0
/**
 * Fuzzing of everything that reads what a peer sent. A fuzz target is a class beside the tests of its package, named {@code ...Fuzz},
 * with
 *
 * <pre>
 * public static void fuzzerTestOneInput(byte[] input)
 * </pre>
 *
 * <p>that throws if the code does what it must not, and else returns: an exception that the code documents is caught, every other one
 * is a find. The target should check more than that: what was read within the input's bounds, what is written again equal, another
 * decoder agreeing. It uses no class of the fuzzer.
 *
 * <p>Its corpus is {@code src/test/resources/fuzz/<fully qualified class name>/}, one input a file, with a first one made by hand.
 * {@link org.rpcrdma4j.transport.fuzz.FuzzCorpusTest} finds targets and corpora by these names and runs them in every build;
 * {@code bin/fuzz} looks for new inputs with coverage as its guide, and merges them into the corpus.
 */
package org.rpcrdma4j.transport.fuzz;
