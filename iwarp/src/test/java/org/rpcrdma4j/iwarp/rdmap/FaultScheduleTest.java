// SPDX-License-Identifier: Apache-2.0
package org.rpcrdma4j.iwarp.rdmap;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.rpcrdma4j.iwarp.error.IwarpException;
import org.rpcrdma4j.testkit.Seeds;
import org.rpcrdma4j.verbs.WorkCompletion.Operation;
import org.rpcrdma4j.verbs.WorkCompletion.Status;

/** Mixes of operations that end by a fault, at any point of the traffic. */
class FaultScheduleTest {
    private static final int SEEDS = 10_000;
    private static final int MEMORY_BYTES = 12 << 10;
    private static final List<Fault> FAULTS = List.of(Fault.values());
    private static final int MAX_STEPS = 300;

    private final MemorySegment memory0 = EndModel.allocate(MEMORY_BYTES);
    private final MemorySegment memory1 = EndModel.allocate(MEMORY_BYTES);

    @Test
    @Timeout(value = 10, unit = TimeUnit.MINUTES)
    void afterAnyFaultEveryRequestCompletesOnceInOrderAndNothingChangesAnyMore() {
        Seeds.run(SEEDS, this::course);
    }

    @Test
    void theSameSeedTakesTheSameCourse() {
        Seeds.run(32, seed -> assertThat(course(seed)).isEqualTo(course(seed)));
    }

    private long course(long seed) {
        Fault fault = FAULTS.get((int) Long.remainderUnsigned(seed, FAULTS.size()));
        MixDriver driver = new MixDriver(seed, memory0, memory1, fault == Fault.BIT_FLIPPED);
        int before = 10 + driver.random.nextInt(120);
        int side = driver.random.nextInt(2);
        boolean injected = false;
        for (int i = 0; i < MAX_STEPS && isRunning(driver); i++) {
            if (i >= before && !injected) {
                injected = fault.inject(driver, driver.models[side], driver.models[1 - side]);
                side = injected ? side : 1 - side;
                driver.check();
            }
            driver.step();
        }
        try {
            conclude(driver, fault);
        } catch (AssertionError e) {
            throw new AssertionError(
                    fault + " at " + side + (injected ? "" : " (not)") + ": " + e.getMessage() + "\n" + driver.pair, e);
        }
        return driver.hash();
    }

    private static boolean isRunning(MixDriver driver) {
        return driver.pair.first.isRunning() && driver.pair.second.isRunning();
    }

    private static void conclude(MixDriver driver, Fault fault) {
        if (isRunning(driver)) {
            driver.bustle();
        }
        for (int i = 0; i < 2; i++) {
            StreamEnding end = driver.pair.end(i).end();
            if (end != null) {
                checkCause(fault, end);
                stop(driver.models[i]);
            }
        }
        for (EndModel model : driver.models) {
            hearTheEnd(driver, model);
        }
        driver.check();
        for (EndModel model : driver.models) {
            checkFlushed(model);
        }
        for (EndModel model : driver.models) {
            checkSilence(model);
        }
    }

    private static void stop(EndModel model) {
        model.end.stop();
        StreamEnding end = model.end.end();
        TerminateMessage answer = end == null ? null : end.answer();
        byte[] quoted = answer == null ? null : answer.readRequestHeader();
        if (quoted != null && end != null && end.cause() == StreamEnding.Cause.FAULT) {
            // RFC 5040, Section 4.8: what is left of the Read, behind the bytes that were sent.
            WireMessage response = model.rules.nextResponse();
            int sent = model.rules.isAnswering() ? model.rules.sentOfOpen() : 0;
            ByteBuffer header = ByteBuffer.wrap(quoted);
            assertThat(header.getInt(0)).as("sink STag").isEqualTo(response.stag());
            assertThat(header.getLong(4)).as("sink TO").isEqualTo(response.to() + sent);
            assertThat(header.getInt(12))
                    .as("size")
                    .isEqualTo(response.payload().remaining() - sent);
        }
    }

    private static void checkCause(Fault fault, StreamEnding end) {
        TerminateMessage answer = end.answer();
        if (fault.expected() != null && answer != null) {
            assertThat(answer.error()).isEqualTo(fault.expected());
        }
        if (end.cause() == StreamEnding.Cause.FAULT) {
            assertThat(answer).isNotNull();
        }
    }

    /** The end that is left takes what was on its way to it, in whatever pieces; then its connection is gone too. */
    private static void hearTheEnd(MixDriver driver, EndModel model) {
        StreamEnd end = model.end;
        StreamEnding other = driver.pair.end(1 - end.index).end();
        while (end.isRunning() && end.in.available() > 0) {
            driver.deliver(model, driver.amount());
            driver.write(model, driver.amount());
        }
        if (end.isRunning()) {
            assertThat(other == null || other.answer() == null || end.in.isFlipped())
                    .as("a Terminate was sent and not heard")
                    .isTrue();
            end.lose();
        }
        StreamEnding cause = end.end();
        TerminateMessage received = cause == null ? null : cause.received();
        if (received != null && other != null && other.answer() != null) {
            assertThat(received.error()).isEqualTo(other.answer().error());
        }
        stop(model);
    }

    private static void checkFlushed(EndModel model) {
        while (model.poll() > 0) {
            assertThat(model.end.isRunning()).isFalse();
        }
        assertThat(model.receives).as("Receives without completion").isEmpty();
        assertThat(model.sends)
                .as("requests without completion")
                .allMatch(posted -> !posted.signaled && posted.done && !model.hasSendFailed());
        assertThat(model.end.sends.outstanding()).isZero();
        assertThat(model.end.receives.outstanding()).isZero();
        StreamEnding end = model.end.end();
        TerminateMessage received = end == null ? null : end.received();
        if (received != null && received.readRequestHeader() != null) {
            assertThat(model.polled)
                    .filteredOn(done -> !done.isSuccess() && done.operation() != Operation.RECEIVE)
                    .first()
                    .matches(done ->
                            done.operation() == Operation.RDMA_READ && done.status() == Status.REMOTE_ACCESS_ERROR);
        }
        model.checkMemory();
    }

    /** RFC 5041, Section 7.1: later segments are dropped silently. */
    private static void checkSilence(EndModel model) {
        StreamEnding end = model.end.end();
        if (end != null && end.cause() != StreamEnding.Cause.LOST && end.cause() != StreamEnding.Cause.FAULT) {
            try {
                model.end.deliverAfterEnd();
            } catch (IwarpException | RemoteTerminate e) {
                throw new AssertionError("a second error", e);
            }
        }
        assertThat(model.end.write(Integer.MAX_VALUE)).isFalse();
        assertThat(model.poll()).isZero();
        model.checkMemory();
    }
}
